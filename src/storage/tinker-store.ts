// Rows of the Tinker protocol. Part of storage.ts; runs, operations, checkpoints and samplers of a run go with its model.
import type { TinkerCheckpoint, TinkerOperation, TinkerRun, TinkerSampler, TinkerSession } from '#domain/tinker';

/** Lists of this protocol are read by place, newest first. */
export interface Slice {
  readonly offset: number;
  readonly limit: number;
}

export interface Sliced<T> {
  readonly rows: readonly T[];
  readonly total: number;
}

/** Of runs: the entity's own, or also those of others with published weights. */
export type AccessScope = 'owned' | 'accessible';

/** What is not named is not filtered by. */
export interface CheckpointFilter {
  readonly entity?: string;
  readonly runId?: string;
  readonly isPublished?: true;
}

/** Who may execute a run's operations: its attempt, as `claimRun` gave it. */
export type Held = Pick<TinkerRun, 'id' | 'attempt'>;

export interface OperationEnd {
  readonly result: string | null;
  readonly error: string | null;
  readonly category: TinkerOperation['category'];
}

export interface TinkerStore {
  createSession(session: TinkerSession): Promise<void>;
  findSession(id: string): Promise<TinkerSession | null>;
  /** Later times win; one that has ended stays so. */
  touchSession(id: string, nowMs: number): Promise<void>;
  /** Idempotent. */
  endSession(id: string, nowMs: number): Promise<void>;
  listSessions(entity: string, slice: Slice): Promise<Sliced<TinkerSession>>;

  /** Gives back the one that has the id already. */
  createRun(run: TinkerRun): Promise<TinkerRun>;
  findRun(id: string): Promise<TinkerRun | null>;
  listRuns(entity: string, scope: AccessScope, slice: Slice): Promise<Sliced<TinkerRun>>;
  /** By number. */
  listRunsOf(sessionId: string): Promise<readonly TinkerRun[]>;
  /**
   * Takes the run that was taken longest ago among those nobody holds (or under a lapsed lease) whose next operation is there, or
   * which has one that waits since before `gapMs` for others that did not come. `baseModels`: only runs over one of these.
   */
  claimRun(
    worker: string,
    lease: { readonly nowMs: number; readonly leaseMs: number; readonly gapMs: number },
    baseModels: readonly string[],
  ): Promise<TinkerRun | null>;
  /** False: it is another's. */
  renewRun(held: Held, leaseUntilMs: number): Promise<boolean>;
  /** Every run can be claimed at once (the single server does so when it starts). */
  releaseRuns(): Promise<void>;
  /** False: it is another's. */
  saveState(held: Held, state: { readonly stateSeq: number; readonly stateBlob: string }): Promise<boolean>;

  /** Marks the run as used. Gives back the one that has the number already. */
  addOperation(operation: TinkerOperation): Promise<{ outcome: 'added' | 'exists'; operation: TinkerOperation }>;
  findOperation(runId: string, seq: number): Promise<TinkerOperation | null>;
  /** By number, strictly after `seq`. */
  listOperations(runId: string, seq: number, limit: number): Promise<readonly TinkerOperation[]>;
  countQueued(runId: string): Promise<number>;
  /** The run's doneSeq becomes this one's number. False: the run is another's, and nothing changed. */
  finishOperation(held: Held, seq: number, end: OperationEnd): Promise<boolean>;
  /** Results of what is older are asked for no more. */
  forgetOperations(runId: string, beforeSeq: number): Promise<void>;

  /** Gives back the one that has its place in the session already. */
  createSampler(sampler: TinkerSampler): Promise<TinkerSampler>;
  findSampler(id: string): Promise<TinkerSampler | null>;
  /** Oldest first. */
  listSamplersOf(sessionId: string): Promise<readonly TinkerSampler[]>;
  deleteSampler(id: string): Promise<void>;

  /** Replaces the one of the same run, kind and name, which it gives. */
  putCheckpoint(checkpoint: TinkerCheckpoint): Promise<TinkerCheckpoint | null>;
  findCheckpoint(runId: string, kind: TinkerCheckpoint['kind'], name: string): Promise<TinkerCheckpoint | null>;
  listCheckpoints(filter: CheckpointFilter, slice: Slice): Promise<Sliced<TinkerCheckpoint>>;
  listExpired(nowMs: number, limit: number): Promise<readonly TinkerCheckpoint[]>;
  setExpiry(checkpoint: TinkerCheckpoint, expiresAtMs: number | null): Promise<void>;
  /** Null: it is private. */
  setPublished(checkpoint: TinkerCheckpoint, publishedAtMs: number | null): Promise<void>;
  deleteCheckpoint(runId: string, kind: TinkerCheckpoint['kind'], name: string): Promise<void>;
}
