// What a script logs under one name: its configuration, a summary, and a history of metrics by line. Texts of JSON are kept as they
// came, since they may hold numbers that JSON has not (NaN).

export interface RunName {
  readonly entity: string;
  readonly project: string;
  /** As its client calls it; unique within the project. */
  readonly name: string;
}

export type RunState = 'running' | 'finished' | 'failed';

/** What its client may change at any time. */
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

/** Of a run that its client says nothing about. */
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
  /** Lines of its history: one more than the last one's number. */
  readonly historyLines: number;
  readonly historyBytes: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface HistoryLine {
  /** From 0 on; a number may be missing where its line never came. */
  readonly line: number;
  /** JSON. */
  readonly content: string;
}

/** Rounded up from what rows take in SQLite beside their texts. */
const RUN_BYTES = 600;
const LINE_BYTES = 40;

export const lineBytes = (content: string): number => LINE_BYTES + Buffer.byteLength(content);

/** What the rows of a run take in the database, about. */
export const runBytes = ({ displayName, notes, tags, config, summary, historyBytes }: Run): number =>
  [displayName, notes ?? '', ...tags, config, summary].reduce((sum, text) => sum + Buffer.byteLength(text), RUN_BYTES) +
  historyBytes;

/** What a run had to do with an artifact. */
export type ArtifactUse = 'logged' | 'used';
