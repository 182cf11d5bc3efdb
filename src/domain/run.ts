// What a script logs under one name: its configuration, a summary, and a history of metrics by line. JSON texts are stored as they
// arrived, since they may hold numbers that JSON does not have (NaN).

export interface RunName {
  readonly entity: string;
  readonly project: string;
  /** The client's own id; unique within the project. */
  readonly name: string;
}

export type RunState = 'running' | 'finished' | 'failed';

/** Fields that the client may change at any time. */
export interface RunAbout {
  readonly displayName: string;
  readonly groupName: string | null;
  readonly jobType: string | null;
  readonly notes: string | null;
  readonly tags: readonly string[];
  /** JSON. */
  readonly config: string;
  /** JSON. */
  readonly summary: string;
  readonly state: RunState;
  readonly exitCode: number | null;
}

/** Defaults for a run whose client sent none of these. */
export const freshRun = (name: string): RunAbout => ({
  displayName: name,
  groupName: null,
  jobType: null,
  notes: null,
  tags: [],
  config: '{}',
  summary: '{}',
  state: 'running',
  exitCode: null,
});

export interface Run extends RunName, RunAbout {
  readonly id: string; // uuid
  /** Number of history lines: the last line's number plus one. */
  readonly historyLines: number;
  readonly historyBytes: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface RunProject {
  readonly project: string;
  readonly runs: number;
  /** How many of them have not ended. */
  readonly running: number;
  /** Of the run that was changed last. */
  readonly updatedAtMs: number;
}

export interface HistoryLine {
  /** Starts at 0; a number is missing if its line never arrived. */
  readonly line: number;
  /** JSON. */
  readonly content: string;
}

/** Rounded up from what rows take in SQLite in addition to their texts. */
const RUN_BYTES = 600;
const LINE_BYTES = 40;

export const lineBytes = (content: string): number => LINE_BYTES + Buffer.byteLength(content);

/** Approximate size of a run's rows in the database. */
export const runBytes = ({ displayName, notes, tags, config, summary, historyBytes }: Run): number =>
  [displayName, notes ?? '', ...tags, config, summary].reduce((sum, text) => sum + Buffer.byteLength(text), RUN_BYTES) +
  historyBytes;

/** How a run relates to an artifact. */
export type ArtifactUse = 'logged' | 'used';

/** Characters of one page of a history: a line may have 100,000. */
const PAGE_CHARACTERS_MAX = 4_000_000;

/** How many lines of these lengths fit into one page: at least one, if there is one. */
export function linesOfPage(lengths: readonly number[]): number {
  let characters = 0;
  const beyond = lengths.findIndex((length) => (characters += length) > PAGE_CHARACTERS_MAX);
  return beyond < 0 ? lengths.length : Math.max(1, beyond);
}
