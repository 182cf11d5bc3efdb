// What an attempt at a job needs to know of its kind: RL (rl-work.ts) and SFT (sft-work.ts) plan a job's data and train it;
// everything else about jobs is the same for both (job-attempt.ts).
import type { Checkpoint } from '#domain/checkpoint';
import type { Model } from '#domain/model';
import type { Skipped, TrainingJob } from '#domain/training-job';
import type { TrainingEngine, TrainingSession } from '#engine/training-engine';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import type { StepMetrics } from '#training/step-metrics';
import type { ConversationEncoder } from '#training/tokenize';

export interface JobWork {
  /** Gradient steps; 0: there is nothing to train. */
  readonly steps: number;
  readonly skipped: Skipped;
  /** Of the data, for the first and the last event. */
  readonly counts: Readonly<Record<string, number>>;
  readonly headTokensMax: number | null;
  /** Zero moments where it does not go on with its own. */
  readonly resetsOptimizer: boolean;
  /** What must be known before the first step, kept until the job ends. Null: `goesOn` said no. */
  prepare(goesOn: () => Promise<boolean>, signal: AbortSignal): Promise<StepLoop | null>;
  /** Of the checkpoint, when the last step is done; session null: there was none. */
  measure(session: TrainingSession | null, lastStep: StepMetrics): Promise<Readonly<Record<string, number>>>;
}

/** Yields after each gradient step from `firstStep` on. */
export type StepLoop = (session: TrainingSession, firstStep: number) => AsyncIterable<StepMetrics>;

export interface WorkContext {
  readonly job: TrainingJob;
  readonly model: Model;
  /** The checkpoint that the job starts from. */
  readonly start: Checkpoint | null;
  readonly engine: TrainingEngine;
  readonly encoder: ConversationEncoder;
  readonly storage: Storage;
  readonly blobs: BlobStore;
}
