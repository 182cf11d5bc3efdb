// Rows of the Tinker protocol. Part of storage.ts; runs, operations, checkpoints and samplers of a run are deleted with its model.
import type { TinkerCheckpoint, TinkerOperation, TinkerRun, TinkerSampler, TinkerSession } from '#domain/tinker';
import type { WaitingFor } from '#domain/training-job';

/**
 * Lists of this protocol are paged by offset, newest first. A page ends before the row whose metadata would make it heavier than
 * PAGE_WEIGHT_MAX, but has one row at least: the next page begins after the rows that were returned.
 */
export interface Slice {
  readonly offset: number;
  readonly limit: number;
}

export interface Sliced<T> {
  readonly rows: readonly T[];
  readonly total: number;
}

/** Runs of the entity, or also other entities' runs with published weights. */
export type AccessScope = 'owned' | 'accessible';

/** Fields that are missing do not filter. */
export interface CheckpointFilter {
  readonly entity?: string;
  readonly runId?: string;
  readonly isPublished?: true;
}

/** The right to execute a run's operations: its attempt, as returned by `claimRun`. */
export type RunAttempt = Pick<TinkerRun, 'id' | 'attempt'>;

export interface OperationEnd {
  readonly result: string | null;
  readonly error: string | null;
  readonly category: TinkerOperation['category'];
}

export interface TinkerStore {
  createSession(session: TinkerSession): Promise<void>;
  findSession(id: string): Promise<TinkerSession | null>;
  /** Only a later time replaces the stored one; an ended session stays ended. */
  touchSession(id: string, nowMs: number): Promise<void>;
  /** Idempotent. */
  endSession(id: string, nowMs: number): Promise<void>;
  /** Ids. */
  listSessions(entity: string, slice: Slice): Promise<Sliced<string>>;

  /** Returns the existing session if the id exists. */
  createRun(run: TinkerRun): Promise<TinkerRun>;
  findRun(id: string): Promise<TinkerRun | null>;
  listRuns(entity: string, scope: AccessScope, slice: Slice): Promise<Sliced<TinkerRun>>;
  /** By number. */
  listRunIdsOf(sessionId: string): Promise<readonly string[]>;
  /**
   * Claims the run claimed longest ago among those without an owner (or under a lapsed lease) whose next operation is stored, or
   * which has an operation waiting since before `gapMs` for missing earlier ones. `baseModels`: only runs over one of these.
   */
  claimRun(
    worker: string,
    lease: { readonly nowMs: number; readonly leaseMs: number; readonly gapMs: number },
    baseModels: readonly string[],
  ): Promise<TinkerRun | null>;
  /** False: another attempt has it. */
  renewRun(attempt: RunAttempt, leaseUntilMs: number): Promise<boolean>;
  /** Without effect if another attempt has it. */
  noteWaiting(attempt: RunAttempt, waitingFor: WaitingFor | null): Promise<void>;
  /** Makes every run claimable at once (a single server calls this when it starts). */
  releaseRuns(): Promise<void>;
  /** False: another attempt has it. */
  saveState(attempt: RunAttempt, state: Pick<TinkerRun, 'stateSeq' | 'stateBlob'>): Promise<boolean>;

  /** Marks the run as used. Returns the existing operation if the number exists; one that failed without its turn is replaced by a queued one. */
  addOperation(operation: TinkerOperation): Promise<{ outcome: 'added' | 'exists'; operation: TinkerOperation }>;
  findOperation(runId: string, seq: number): Promise<TinkerOperation | null>;
  /** By number, strictly after `seq`. */
  listOperations(runId: string, seq: number, limit: number): Promise<readonly TinkerOperation[]>;
  countQueued(runId: string): Promise<number>;
  /** The run's doneSeq becomes this operation's number. False: another attempt has the run, and nothing changed. */
  finishOperation(attempt: RunAttempt, seq: number, end: OperationEnd): Promise<boolean>;
  /** Notes that the data of an operation is about to be read. Returns how many readings have begun since one ended, including this one; 0: another attempt has the run. */
  beginReading(attempt: RunAttempt, seq: number): Promise<number>;
  /** It ended, however: the server that read is still there. */
  endReading(attempt: RunAttempt, seq: number): Promise<void>;
  /** Removes results of older operations, which clients no longer request. */
  forgetOperations(runId: string, beforeSeq: number): Promise<void>;

  /** Returns the existing sampler if its place in the session is taken. */
  createSampler(sampler: TinkerSampler): Promise<TinkerSampler>;
  findSampler(id: string): Promise<TinkerSampler | null>;
  /** Oldest first. */
  listSamplersOf(sessionId: string): Promise<readonly TinkerSampler[]>;
  /** Oldest first. */
  listSamplerIdsOf(sessionId: string): Promise<readonly string[]>;
  deleteSampler(id: string): Promise<void>;

  /** Replaces the one of the same run, kind and name, and returns the replaced one. */
  putCheckpoint(checkpoint: TinkerCheckpoint): Promise<TinkerCheckpoint | null>;
  findCheckpoint(runId: string, kind: TinkerCheckpoint['kind'], name: string): Promise<TinkerCheckpoint | null>;
  listCheckpoints(filter: CheckpointFilter, slice: Slice): Promise<Sliced<TinkerCheckpoint>>;
  /** Of each of these runs the newest of each kind that the entity may read. */
  listNewestCheckpoints(entity: string, runIds: readonly string[]): Promise<readonly TinkerCheckpoint[]>;
  listExpired(nowMs: number, limit: number): Promise<readonly TinkerCheckpoint[]>;
  /** These three change this one, not another that was saved under its name since. */
  setExpiry(checkpoint: TinkerCheckpoint, expiresAtMs: number | null): Promise<void>;
  /** Null: it is private. */
  setPublished(checkpoint: TinkerCheckpoint, publishedAtMs: number | null): Promise<void>;
  deleteCheckpoint(checkpoint: TinkerCheckpoint): Promise<void>;
}
