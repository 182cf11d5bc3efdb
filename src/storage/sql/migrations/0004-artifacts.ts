// Append-only: a released migration never changes.

export const artifacts: readonly string[] = [
  `create table artifact_contents (
    entity text not null,
    sha256 text not null,
    size_bytes bigint not null,
    blob text not null unique,
    used_at_ms bigint not null,
    primary key (entity, sha256)
  )`,
  `create table artifacts (
    id text primary key,
    ordinal bigint not null unique,
    entity text not null,
    project text not null,
    name text not null,
    version bigint not null,
    type text not null,
    metadata text not null,
    digest text not null,
    created_at_ms bigint not null,
    unique (entity, project, name, version)
  )`,
  `create table artifact_files (
    artifact_id text not null references artifacts (id) on delete cascade,
    path text not null,
    entity text not null,
    sha256 text not null,
    size_bytes bigint not null,
    primary key (artifact_id, path),
    foreign key (entity, sha256) references artifact_contents (entity, sha256)
  )`,
  `create table artifact_aliases (
    entity text not null,
    project text not null,
    name text not null,
    alias text not null,
    artifact_id text not null references artifacts (id) on delete cascade,
    primary key (entity, project, name, alias)
  )`,
  `create index artifact_files_by_content on artifact_files (entity, sha256)`,
  `create index artifact_aliases_of_artifact on artifact_aliases (artifact_id)`,
];
