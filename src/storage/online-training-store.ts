// Online training, at most one of each model. Part of storage.ts; deleted with its model.
import type { NewOnlineTraining, OnlineStatus, OnlineTraining } from '#domain/online-training';

/** How an attempt to make the next job ended. */
export interface OnlineOutcome {
  readonly status: OnlineStatus;
  readonly pausedBy: string | null;
  readonly lastProblem: string | null;
  readonly jobCount: number;
  readonly lastJobId: string | null;
  /** When to look again, unless a reward arrives before. */
  readonly dueAtMs: number;
}

export interface OnlineTrainingStore {
  /** Begins it, or replaces the settings: it is active, without a last job. An existing one keeps its id and its count. Throws if the model was deleted. */
  put(training: NewOnlineTraining, nowMs: number): Promise<OnlineTraining>;
  find(modelId: string): Promise<OnlineTraining | null>;
  /** Returns whether it existed. */
  delete(modelId: string): Promise<boolean>;
  /** The active one that is due first and that nobody else holds. A lease that lapses makes it claimable; that attempt stays unsettled. */
  claim(worker: string, nowMs: number, leaseMs: number): Promise<OnlineTraining | null>;
  /** False: it belongs to another attempt, was set anew or deleted. */
  renewLease(modelId: string, attempt: number, leaseUntilMs: number): Promise<boolean>;
  /** Gives it back. False: as for renewLease, and nothing has changed. */
  settle(modelId: string, attempt: number, outcome: OnlineOutcome): Promise<boolean>;
  /** Makes each claimable at once (a single server calls this when it starts). */
  releaseLeases(): Promise<void>;
}
