// Append-only: a released migration never changes. Types are those that SQLite and Postgres share; times are ms, JSON is
// text, booleans are 0 and 1.

export const firstLight: readonly string[] = [
  `create table api_keys (
    id text primary key,
    entity text not null,
    name text not null,
    secret_hash text not null unique,
    created_at_ms bigint not null,
    revoked_at_ms bigint
  )`,
  `create table models (
    id text primary key,
    ordinal bigint not null unique,
    entity text not null,
    project text not null,
    name text not null,
    base_model text not null,
    run_id text,
    created_at_ms bigint not null,
    unique (entity, project, name)
  )`,
  `create table checkpoints (
    id text primary key,
    model_id text not null references models (id) on delete cascade,
    step integer not null,
    metrics text not null,
    blob_prefix text not null,
    created_at_ms bigint not null,
    unique (model_id, step)
  )`,
  `create table training_jobs (
    id text primary key,
    ordinal bigint not null unique,
    type text not null,
    model_id text not null references models (id) on delete cascade,
    entity text not null,
    status text not null,
    body_blob text not null,
    attempt integer not null,
    worker text,
    lease_until_ms bigint,
    claimed_at_ms bigint,
    cancel_requested integer not null,
    step integer,
    progress double precision not null,
    skipped text not null,
    error_message text,
    created_at_ms bigint not null,
    started_at_ms bigint,
    ended_at_ms bigint
  )`,
  `create index training_jobs_unfinished on training_jobs (status, ordinal)`,
  // For claim: has the model an older unfinished job; when did an entity claim last. Without them a claim reads every job.
  `create index training_jobs_of_model on training_jobs (model_id, status, ordinal)`,
  `create index training_jobs_of_entity on training_jobs (entity, claimed_at_ms)`,
  `create table training_events (
    id text primary key,
    job_id text not null references training_jobs (id) on delete cascade,
    ordinal integer not null,
    type text not null,
    data text not null,
    created_at_ms bigint not null,
    unique (job_id, ordinal)
  )`,
  `create table idempotency_keys (
    key text primary key,
    body_hash text not null,
    response text,
    created_at_ms bigint not null
  )`,
  `create index idempotency_keys_age on idempotency_keys (created_at_ms)`,
];
