// Append-only: a released migration never changes. `plan`: JSON of what was asked for. `unsettled`: attempts that began and did not end.

export const onlineTraining: readonly string[] = [
  `create table online_training (
    model_id text primary key references models (id) on delete cascade,
    id text not null,
    entity text not null,
    key_id text not null,
    group_size_min bigint not null,
    plan text not null,
    status text not null,
    paused_by text,
    last_problem text,
    job_count bigint not null,
    last_job_id text,
    created_at_ms bigint not null,
    updated_at_ms bigint not null,
    due_at_ms bigint not null,
    attempt bigint not null,
    unsettled bigint not null,
    worker text,
    lease_until_ms bigint
  )`,
  `create index online_training_by_due on online_training (status, due_at_ms)`,
];
