// Append-only: a released migration never changes. Secrets are kept as they are: they sign.

export const webhooks: readonly string[] = [
  `create table webhooks (
    id text primary key,
    entity text not null,
    url text not null,
    events text not null,
    secret text not null,
    created_at_ms bigint not null,
    disabled_at_ms bigint
  )`,
  `create index webhooks_of_entity on webhooks (entity)`,
  `create table webhook_deliveries (
    id text primary key,
    webhook_id text not null references webhooks (id) on delete cascade,
    job_id text not null,
    event text not null,
    payload text not null,
    created_at_ms bigint not null,
    attempts bigint not null,
    next_attempt_at_ms bigint,
    last_status bigint,
    last_error text,
    delivered_at_ms bigint
  )`,
  `create index webhook_deliveries_of_webhook on webhook_deliveries (webhook_id, created_at_ms, id)`,
  `create index webhook_deliveries_due on webhook_deliveries (next_attempt_at_ms) where next_attempt_at_ms is not null`,
];
