// Append-only: a released migration never changes. Lists of episodes are filtered by reward within their index, and read by group and
// by job in order of creation.

export const episodesByReward: readonly string[] = [
  `drop index episodes_of_entity`,
  `create index episodes_of_entity on episodes (entity, ordinal, reward)`,
  `drop index episodes_by_status`,
  `create index episodes_by_status on episodes (entity, status, ordinal, reward)`,
  `drop index episodes_of_model`,
  `create index episodes_of_model on episodes (model_id, ordinal, reward)`,
  `drop index episodes_of_model_by_status`,
  `create index episodes_of_model_by_status on episodes (model_id, status, ordinal, reward)`,
  `create index episodes_by_group on episodes (entity, group_name, ordinal)`,
  `drop index episodes_of_job`,
  `create index episodes_of_job on episodes (trained_by, ordinal)`,
];
