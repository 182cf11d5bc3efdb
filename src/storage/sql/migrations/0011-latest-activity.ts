// Append-only: a released migration never changes. Models are listed by when something last happened to them: they were made, or a
// job of theirs came or ended. Evaluations are listed by model.

export const latestActivity: readonly string[] = [
  `alter table models add column active_at_ms bigint not null default 0`,
  `update models set active_at_ms = coalesce(
    (select max(coalesce(job.ended_at_ms, job.created_at_ms)) from training_jobs job where job.model_id = models.id),
    created_at_ms)`,
  `create index models_by_activity on models (entity, active_at_ms, ordinal)`,
  `create index evaluations_of_model on evaluations (model_id, created_at_ms, job_id)`,
];
