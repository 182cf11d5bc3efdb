// Append-only: a released migration never changes. Answers from before it were not kept.

export const responses: readonly string[] = [
  `create table responses (
    id text primary key,
    entity text not null,
    key_id text not null,
    project text not null,
    base_model text not null,
    status text not null,
    attempt bigint not null,
    worker text,
    lease_until_ms bigint,
    claimed_at_ms bigint,
    blob text not null,
    error_code text,
    error_message text,
    created_at_ms bigint not null,
    ended_at_ms bigint
  )`,
  `create index responses_unfinished on responses (created_at_ms, id) where ended_at_ms is null`,
  `create index responses_of_entity on responses (entity, claimed_at_ms)`,
  `create index responses_by_time on responses (created_at_ms, id) where ended_at_ms is not null`,
];
