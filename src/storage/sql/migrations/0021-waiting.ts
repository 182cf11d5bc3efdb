// Append-only: a released migration never changes. The table of events is made again because SQLite changes no constraint.

export const waiting: readonly string[] = [
  `alter table training_jobs add column waiting_for text`,
  `create table training_events_in_parts (
    id text primary key,
    job_id text not null references training_jobs (id) on delete cascade,
    ordinal integer not null,
    part integer not null,
    type text not null,
    data text not null,
    created_at_ms bigint not null,
    unique (job_id, ordinal, part)
  )`,
  `insert into training_events_in_parts (id, job_id, ordinal, part, type, data, created_at_ms)
    select id, job_id, ordinal, 0, type, data, created_at_ms from training_events`,
  `drop table training_events`,
  `alter table training_events_in_parts rename to training_events`,
];
