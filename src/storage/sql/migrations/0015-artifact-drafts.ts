// Append-only: a released migration never changes.

export const artifactDrafts: readonly string[] = [
  `alter table artifact_contents add column md5 text`,
  `create index artifact_contents_by_md5 on artifact_contents (entity, md5)`,
  `create table artifact_drafts (
    id text primary key,
    about text not null,
    created_at_ms bigint not null
  )`,
  `alter table checkpoints add column metadata text`,
  `create table run_artifacts (
    run_id text not null references runs (id) on delete cascade,
    artifact_id text not null,
    how text not null,
    primary key (run_id, how, artifact_id)
  )`,
  `create index run_artifacts_by_artifact on run_artifacts (artifact_id, how)`,
];
