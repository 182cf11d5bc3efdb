// Append-only: a released migration never changes.

export const publishedWeights: readonly string[] = [
  `alter table tinker_checkpoints add column published_at_ms bigint`,
  `create index tinker_checkpoints_published on tinker_checkpoints (run_id) where published_at_ms is not null`,
];
