// Runs that scripts logged with the `wandb` library: lists, one run, its history and its curves. Writing is that library's part.
import type { Http } from './http.ts';
import { segments } from './paths.ts';

export interface Run {
  readonly id: string;
  readonly entity: string;
  readonly project: string;
  /** As the script chose it; unique within the project. */
  readonly run: string;
  /** Display name. */
  readonly name: string;
  readonly group: string | null;
  readonly job_type: string | null;
  readonly notes: string | null;
  readonly tags: readonly string[];
  readonly state: 'running' | 'finished' | 'failed';
  readonly exit_code: number | null;
  readonly config: Readonly<Record<string, unknown>>;
  readonly summary: Readonly<Record<string, unknown>>;
  readonly history_lines: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface RunFilter {
  readonly project?: string;
  readonly state?: Run['state'];
  /** A text in the id, the display name, the group or the tags. */
  readonly search?: string;
  readonly order?: 'asc' | 'desc';
}

export interface RunProject {
  /** The project. */
  readonly id: string;
  readonly project: string;
  readonly runs: number;
  readonly running: number;
  readonly updated_at: string;
}

export interface RunHistoryLine {
  readonly id: string;
  readonly line: number;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface RunCurves {
  readonly history_lines: number;
  readonly curves: Readonly<Record<string, { readonly steps: readonly number[]; readonly values: readonly number[] }>>;
  /** Names without a curve, because the run logs too many. */
  readonly left_out: number;
}

/** `named`: `entity/project/run`; `~` is the key's own entity. */
export function createRunCalls({ call, rows }: Http) {
  const pathOf = (named: string): string => `/v1/runs/${segments(named)}`;
  return {
    listRuns: (filter: RunFilter = {}) => rows<Run>('/v1/runs', { ...filter }),
    listRunProjects: () => rows<RunProject>('/v1/run-projects'),
    getRun: (named: string): Promise<Run> => call('GET', pathOf(named)),
    listRunHistory: (named: string) => rows<RunHistoryLine>(`${pathOf(named)}/history`),
    /** With at most so many points each (default 500). */
    getRunCurves: (named: string, points?: number): Promise<RunCurves> =>
      call('GET', `${pathOf(named)}/curves${points === undefined ? '' : `?points=${points}`}`),
    deleteRun: (named: string): Promise<{ deleted: true }> => call('DELETE', pathOf(named)),
  };
}
