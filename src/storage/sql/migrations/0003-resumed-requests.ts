// Append-only: a released migration never changes.

export const resumedRequests: readonly string[] = [
  `delete from idempotency_keys where response is null`,
  `alter table idempotency_keys add column resource_id text not null default ''`,
  `alter table idempotency_keys add column held_since_ms bigint not null default 0`,
];
