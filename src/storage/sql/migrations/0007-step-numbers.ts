// Append-only: a released migration never changes. The highest step of a model that is there already is the highest that it
// has, or that one of its jobs has made: a step that was deleted is known from its job.

export const stepNumbers: readonly string[] = [
  `alter table models add column last_step bigint not null default 0`,
  `update models set last_step = (
    select coalesce(max(step), 0) from (
      select step from checkpoints where model_id = models.id
      union all
      select step from training_jobs where model_id = models.id and status = 'succeeded'
    ) as made)`,
  // Jobs that are under way take a new number where theirs was given away already, perhaps to a checkpoint that is deleted.
  `update training_jobs set step = null
    where status in ('queued', 'running') and step <= (select last_step from models where models.id = model_id)`,
  `alter table checkpoints add column fresh bigint not null default 0`,
  `update checkpoints set fresh = 1 where blob_prefix = 'checkpoints/' || model_id || '/0'`,
];
