// Append-only: a released migration never changes. Lists of an entity are read in order of creation from either end, however many
// rows others have.

export const newestFirst: readonly string[] = [
  `create index models_of_entity on models (entity, ordinal)`,
  `create index training_jobs_in_order on training_jobs (entity, ordinal)`,
  `create index training_jobs_by_status on training_jobs (entity, status, ordinal)`,
  `create index training_jobs_of_model_in_order on training_jobs (model_id, ordinal)`,
];
