// Append-only: a released migration never changes. What was logged before it is in the blob store without a row.

export const trajectoryLogs: readonly string[] = [
  `create table trajectory_logs (
    id text primary key,
    model_id text not null references models (id) on delete cascade,
    split text not null,
    step bigint not null,
    blob text not null,
    group_count bigint not null,
    trajectory_count bigint not null,
    size_bytes bigint not null,
    created_at_ms bigint not null
  )`,
  `create index trajectory_logs_of_model on trajectory_logs (model_id, created_at_ms, id)`,
  `create index training_jobs_with_body on training_jobs (ended_at_ms, id) where body_blob <> ''`,
  `create index trajectory_logs_by_time on trajectory_logs (created_at_ms, id)`,
];
