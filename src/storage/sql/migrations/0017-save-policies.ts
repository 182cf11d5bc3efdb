// Append-only: a released migration never changes. How many checkpoints a model keeps, when each was used last, and which one a job
// that waits will be measured against.

export const savePolicies: readonly string[] = [
  `alter table models add column save_policy text`,
  `alter table checkpoints add column used_at_ms bigint not null default 0`,
  `alter table training_jobs add column kl_reference text`,
];
