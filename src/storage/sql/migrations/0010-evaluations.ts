// Append-only: a released migration never changes. Jobs from before it have no evaluation.

export const evaluations: readonly string[] = [
  `create table evaluations (
    job_id text primary key references training_jobs (id) on delete cascade,
    model_id text not null,
    entity text not null,
    key_id text not null,
    status text not null,
    attempt bigint not null,
    worker text,
    lease_until_ms bigint,
    claimed_at_ms bigint,
    cancel_requested bigint not null,
    prompt_count bigint not null,
    sample_count bigint not null,
    answered_count bigint not null,
    failed_count bigint not null,
    is_kept bigint not null,
    error_message text,
    created_at_ms bigint not null,
    started_at_ms bigint,
    ended_at_ms bigint
  )`,
  `create index evaluations_unfinished on evaluations (created_at_ms, job_id) where ended_at_ms is null`,
  `create index evaluations_of_entity on evaluations (entity, claimed_at_ms)`,
  `create index evaluations_with_answers on evaluations (ended_at_ms, job_id) where is_kept = 1`,
  `alter table trajectory_logs add column evaluation_job_id text`,
  `create index trajectory_logs_of_evaluation on trajectory_logs (evaluation_job_id, created_at_ms, id)
    where evaluation_job_id is not null`,
];
