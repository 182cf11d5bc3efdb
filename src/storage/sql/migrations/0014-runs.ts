// Append-only: a released migration never changes.

export const runs: readonly string[] = [
  `create table runs (
    id text primary key,
    ordinal bigint not null,
    entity text not null,
    project text not null,
    name text not null,
    display_name text not null,
    group_name text,
    job_type text,
    notes text,
    tags text not null,
    config text not null,
    summary text not null,
    state text not null,
    exit_code bigint,
    history_lines bigint not null,
    history_bytes bigint not null,
    created_at_ms bigint not null,
    updated_at_ms bigint not null,
    unique (entity, project, name)
  )`,
  `create index runs_of_entity on runs (entity, ordinal)`,
  `create table run_history (
    run_id text not null references runs (id) on delete cascade,
    line bigint not null,
    content text not null,
    primary key (run_id, line)
  )`,
];
