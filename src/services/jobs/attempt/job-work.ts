// The interface between an attempt at a job and the kind of job: RL (rl-work.ts), SFT (sft-work.ts) and DPO (dpo-work.ts) plan a job's
// data and train it; everything else about jobs is the same for all kinds (job-attempt.ts).
import type { Checkpoint } from '#domain/checkpoint';
import type { Model } from '#domain/model';
import type { Skipped, TrainingJob } from '#domain/training-job';
import type { Precision, TrainerCapabilities } from '#engine/capabilities';
import type { TrainingEngine, TrainingLimits, TrainingSession } from '#engine/training-engine';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import type { StepMetrics } from '#training/step-metrics';
import type { HeldOutRows } from './held-out.ts';
import type { ReadData } from '../data/job-data-reader.ts';
import type { ResolvedConfig } from '../data/resolved-config.ts';
import type { TokenRecorder } from './token-recorder.ts';

export interface JobWork {
  /** Number of gradient steps; 0: there is nothing to train. */
  readonly steps: number;
  /** Digest of the rows that the steps train: another plan has another digest. */
  readonly rowsDigest: string;
  readonly skipped: Skipped;
  /** Parts of the request that were not used, or not used exactly as sent. */
  readonly warnings: readonly string[];
  /** With all defaults filled in, for the first event. */
  readonly config: ResolvedConfig;
  /** Counts of the data, for the first and the last event. */
  readonly counts: Readonly<Record<string, number>>;
  readonly headTokensMax: number | null;
  /** Start with zero optimizer moments unless the job continues its own. */
  readonly resetsOptimizer: boolean;
  /** Records what training computes for each token; null: this kind of job has no record. */
  readonly recorder: TokenRecorder | null;
  /** Held-out rows to evaluate during training; null: none. */
  readonly heldOut: HeldOutRows | null;
  /** Logs gradient steps as lines of the run that is named like the model. */
  readonly logsToRun: boolean;
  /** Computes what must be known before the first step and stay fixed until the job ends. Null: `goesOn` returned false. */
  prepare(goesOn: () => Promise<boolean>, signal: AbortSignal): Promise<StepLoop | null>;
  /** Warnings that arose after the first event; the last event has them. */
  lateWarnings(): readonly string[];
  /** Metrics of the checkpoint when the last step is done; `lastStep`: the step whose weights it has. Session null: nothing was trained. */
  measure(session: TrainingSession | null, lastStep: StepMetrics): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

/** Yields after each gradient step, starting with `firstStep`. */
export type StepLoop = (session: TrainingSession, firstStep: number) => AsyncIterable<StepMetrics>;

/** `exactLogprobs`: whether both sampler and trainer have them. */
export interface JobCapabilities extends TrainerCapabilities {
  /** Of the sampler. Absent: unknown. */
  readonly precision?: Precision;
}

export interface WorkContext {
  readonly job: TrainingJob;
  readonly model: Model;
  /** The checkpoint that the job starts from. */
  readonly start: Checkpoint;
  readonly engine: TrainingEngine;
  /** Limits of rows, after subtracting the memory of the job's adapter. */
  readonly limits: TrainingLimits;
  readonly capabilities: JobCapabilities;
  /** Hidden size of the base model; null: unknown. */
  readonly hiddenSize: number | null;
  readonly read: ReadData;
  readonly storage: Storage;
  readonly blobs: BlobStore;
  /** Temporary directory for data that becomes rows. */
  readonly workDirectory: string;
}
