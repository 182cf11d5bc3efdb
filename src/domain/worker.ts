// A worker as a server sees it: an engine on another machine that has connected.

export interface WorkerReport {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly model: string;
  readonly roles: readonly ('sample' | 'train')[];
  /** `away`: without a connection, and still expected back. `draining`: it takes no new calls. */
  readonly state: 'connected' | 'away' | 'draining';
  readonly connectedAtMs: number;
  /** Since anything came of it. */
  readonly silentMs: number;
  /** Connections that it lost and replaced. */
  readonly reconnects: number;
  /** Sampled tokens that came of it. */
  readonly tokens: number;
  /** Requests to sample that it was given, and how long these waited for a place, together. */
  readonly calls: number;
  readonly waitedMs: number;
  /** Of messages, both ways; files travel beside them. */
  readonly messageBytes: number;
  /** Training sessions that are open there. */
  readonly sessions: number;
  /** Choices that it computes at once; null where it does not sample. */
  readonly sequencesMax: number | null;
  /** Choices, as the worker says. */
  readonly running: number;
  readonly waiting: number;
  /** Ids of checkpoints in its memory. */
  readonly adapters: readonly string[];
}

/** What workers of one name do for a model together. */
export interface WorkerTally extends Pick<WorkerReport, 'model' | 'name'> {
  /** Those that are there now. */
  readonly count: number;
  readonly running: number;
  readonly waiting: number;
  readonly sessions: number;
  readonly adapters: number;
  /** Of the one that is silent longest. */
  readonly silentMs: number;
  /** With those of workers that are gone. */
  readonly tokens: number;
  readonly reconnects: number;
  readonly calls: number;
  readonly waitedMs: number;
  readonly messageBytes: number;
}
