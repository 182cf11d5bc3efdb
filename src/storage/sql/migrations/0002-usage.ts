// Append-only: a released migration never changes.

export const usage: readonly string[] = [
  `create table usage (
    id text primary key,
    ordinal bigint not null unique,
    entity text not null,
    key_id text not null,
    project text not null,
    model text not null,
    day_utc text not null,
    requests bigint not null,
    prompt_tokens bigint not null,
    cached_tokens bigint not null,
    completion_tokens bigint not null
  )`,
  `create index usage_of_entity on usage (entity, day_utc, ordinal)`,
];
