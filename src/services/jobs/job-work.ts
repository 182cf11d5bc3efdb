// What an attempt at a job needs to know of its kind: RL (rl-work.ts), SFT (sft-work.ts) and DPO (dpo-work.ts) plan a job's data and
// train it; everything else about jobs is the same for all (job-attempt.ts).
import type { Checkpoint } from '#domain/checkpoint';
import type { Model } from '#domain/model';
import type { Skipped, TrainingJob } from '#domain/training-job';
import type { TrainerCapabilities } from '#engine/capabilities';
import type { TrainingEngine, TrainingLimits, TrainingSession } from '#engine/training-engine';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import type { StepMetrics } from '#training/step-metrics';
import type { HeldOutRows } from './held-out.ts';
import type { ReadData } from './job-data-reader.ts';
import type { ResolvedConfig } from './resolved-config.ts';
import type { TokenRecorder } from './token-recorder.ts';

export interface JobWork {
  /** Gradient steps; 0: there is nothing to train. */
  readonly steps: number;
  /** Of what they train: another plan has another one. */
  readonly rowsDigest: string;
  readonly skipped: Skipped;
  /** What of the request was not done, or not as sent. */
  readonly warnings: readonly string[];
  /** With every default filled in, for the first event. */
  readonly config: ResolvedConfig;
  /** Of the data, for the first and the last event. */
  readonly counts: Readonly<Record<string, number>>;
  readonly headTokensMax: number | null;
  /** Zero moments where it does not go on with its own. */
  readonly resetsOptimizer: boolean;
  /** What training computes of each token; null: jobs of this kind keep nothing of it. */
  readonly recorder: TokenRecorder | null;
  /** Evaluated while it trains; null: none are, or there are none. */
  readonly heldOut: HeldOutRows | null;
  /** Gradient steps become lines of the run that is named like the model. */
  readonly logsToRun: boolean;
  /** What must be known before the first step, kept until the job ends. Null: `goesOn` said no. */
  prepare(goesOn: () => Promise<boolean>, signal: AbortSignal): Promise<StepLoop | null>;
  /** What showed after the first event; the last says it. */
  lateWarnings(): readonly string[];
  /** Of the checkpoint, when the last step is done; `lastStep`: the one whose weights it has. Session null: there was none. */
  measure(session: TrainingSession | null, lastStep: StepMetrics): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

/** Yields after each gradient step from `firstStep` on. */
export type StepLoop = (session: TrainingSession, firstStep: number) => AsyncIterable<StepMetrics>;

export interface WorkContext {
  readonly job: TrainingJob;
  readonly model: Model;
  /** The checkpoint that the job starts from. */
  readonly start: Checkpoint;
  readonly engine: TrainingEngine;
  /** Of rows beside the adapter that the job trains. */
  readonly limits: TrainingLimits;
  readonly capabilities: TrainerCapabilities;
  /** Of the base model; null: not known. */
  readonly hiddenSize: number | null;
  readonly read: ReadData;
  readonly storage: Storage;
  readonly blobs: BlobStore;
  /** For data on its way into rows. */
  readonly workDirectory: string;
}
