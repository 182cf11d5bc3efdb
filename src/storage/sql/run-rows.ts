// The tables of runs as TypeScript types, and the conversion of rows. Part of rows.ts.
import type { Selectable } from 'kysely';
import type { Run, RunAbout, RunState } from '#domain/run';

interface AboutColumns {
  display_name: string;
  group_name: string | null;
  job_type: string | null;
  notes: string | null;
  tags: string;
  config: string;
  summary: string;
  state: RunState;
  exit_code: number | null;
}

export interface RunTable extends AboutColumns {
  id: string;
  /** Order of creation. */
  ordinal: number;
  entity: string;
  project: string;
  name: string;
  history_lines: number;
  history_bytes: number;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface RunHistoryTable {
  run_id: string;
  line: number;
  content: string;
}

const COLUMNS: { readonly [F in keyof RunAbout]: keyof AboutColumns } = {
  displayName: 'display_name',
  groupName: 'group_name',
  jobType: 'job_type',
  notes: 'notes',
  tags: 'tags',
  config: 'config',
  summary: 'summary',
  state: 'state',
  exitCode: 'exit_code',
};

/** The columns of the given fields; all columns of each field. */
export function fromAbout<A extends Partial<RunAbout>>(
  about: A,
): A extends RunAbout ? AboutColumns : Partial<AboutColumns> {
  const row: Record<string, unknown> = {};
  for (const [field, column] of Object.entries(COLUMNS)) {
    const value = about[field as keyof RunAbout];
    if (value !== undefined) row[column] = field === 'tags' ? JSON.stringify(value) : value;
  }
  return row as A extends RunAbout ? AboutColumns : Partial<AboutColumns>;
}

export const toRun = (row: Selectable<RunTable>): Run => ({
  id: row.id,
  entity: row.entity,
  project: row.project,
  name: row.name,
  displayName: row.display_name,
  groupName: row.group_name,
  jobType: row.job_type,
  notes: row.notes,
  tags: JSON.parse(row.tags) as string[],
  config: row.config,
  summary: row.summary,
  state: row.state,
  exitCode: row.exit_code,
  historyLines: row.history_lines,
  historyBytes: row.history_bytes,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});
