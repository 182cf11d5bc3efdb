// The server's view of a worker: an engine on another machine that has connected.

export interface WorkerReport {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly model: string;
  readonly roles: readonly ('sample' | 'train')[];
  /** `away`: disconnected, but expected back. `draining`: takes no new calls. */
  readonly state: 'connected' | 'away' | 'draining';
  readonly connectedAtMs: number;
  /** Time of the last message from it. */
  readonly silentMs: number;
  /** How many times it has reconnected. */
  readonly reconnects: number;
  /** Tokens it has sampled. */
  readonly tokens: number;
  /** Sampling requests assigned to it, and the total time that they waited for a place. */
  readonly calls: number;
  readonly waitedMs: number;
  /** Bytes of messages in both directions; files are not included. */
  readonly messageBytes: number;
  /** Open training sessions. */
  readonly sessions: number;
  /** How many choices it computes at once; null if it does not sample. */
  readonly sequencesMax: number | null;
  /** Choices in progress, as the worker reports. */
  readonly running: number;
  readonly waiting: number;
  /** Ids of the checkpoints in its memory. */
  readonly adapters: readonly string[];
}

/** Totals of all workers of one name for one model. */
export interface WorkerTally extends Pick<WorkerReport, 'model' | 'name'> {
  /** Workers that are connected now. */
  readonly count: number;
  readonly running: number;
  readonly waiting: number;
  readonly sessions: number;
  readonly adapters: number;
  /** Seconds since the last message of the one that has been silent longest. */
  readonly silentMs: number;
  /** Including workers that have left. */
  readonly tokens: number;
  readonly reconnects: number;
  readonly calls: number;
  readonly waitedMs: number;
  readonly messageBytes: number;
}
