// Append-only: a released migration never changes. Versions of artifacts are listed by what a page shows of them, each along an index, and
// episodes of a group or a job are counted within theirs.

export const sortedArtifacts: readonly string[] = [
  `alter table artifacts add column file_count bigint not null default 0`,
  `alter table artifacts add column size_bytes bigint not null default 0`,
  `update artifacts set
     file_count = (select count(*) from artifact_files as files where files.artifact_id = artifacts.id),
     size_bytes = (select coalesce(sum(files.size_bytes), 0) from artifact_files as files where files.artifact_id = artifacts.id)`,
  `create index artifacts_of_entity on artifacts (entity, ordinal)`,
  `create index artifacts_by_name on artifacts (entity, name, version, ordinal)`,
  `create index artifacts_by_type on artifacts (entity, type, ordinal)`,
  `create index artifacts_by_files on artifacts (entity, file_count, ordinal)`,
  `create index artifacts_by_size on artifacts (entity, size_bytes, ordinal)`,
  `drop index episodes_by_group`,
  `create index episodes_by_group on episodes (entity, group_name, ordinal, status, reward)`,
  `drop index episodes_of_group`,
  `create index episodes_of_group on episodes (model_id, group_name, ordinal, status, reward)`,
  `drop index episodes_of_job`,
  `create index episodes_of_job on episodes (trained_by, ordinal, status, reward)`,
];
