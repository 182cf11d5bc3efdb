// Append-only: a released migration never changes. Keys that are there could do everything but manage keys.

export const keysAndLimits: readonly string[] = [
  `alter table api_keys add column scopes text not null default '["chat","train","read"]'`,
  `alter table api_keys add column limits text not null default '{}'`,
  `alter table api_keys add column last_used_at_ms bigint`,
  `alter table training_jobs add column key_id text not null default ''`,
  `alter table training_jobs add column saved_attempt bigint not null default 0`,
  `create table entity_limits (
    entity text primary key,
    limits text not null
  )`,
  `create table stored_blobs (
    blob text primary key,
    entity text not null,
    key_id text not null,
    size_bytes bigint not null
  )`,
  `create index stored_blobs_of_key on stored_blobs (entity, key_id)`,
  `insert into stored_blobs (blob, entity, key_id, size_bytes)
    select blob, entity, '', size_bytes from artifact_contents`,
];
