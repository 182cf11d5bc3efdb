// Supervised fine-tuning: conversations whose assistant turns are imitated. Their wire form is read in api/schema/sft.ts.
import type { ChatMessage, ToolDefinition } from './chat.ts';

/** One line of training data; the last message is an assistant's. */
export interface SftRow {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[] | null;
}

/** A line that was read, or why it could not be. */
export type ReadSftRow = { readonly row: SftRow } | { readonly problem: string };

export const SCHEDULER_TYPES = ['constant', 'linear', 'cosine'] as const;
export type SchedulerType = (typeof SCHEDULER_TYPES)[number];

/** What is measured on rows that are held out, and may decide which weights are the best. Of SFT only the loss is. */
export const HELD_OUT_METRICS = ['val/loss', 'val/rewards/margins', 'val/rewards/accuracies'] as const;
export type HeldOutMetric = (typeof HELD_OUT_METRICS)[number];

/** How the rows of an artifact are trained, whatever they are. */
export interface BatchConfigInput {
  readonly batchSize?: number;
  /** One for all batches, or one for each of all epochs. */
  readonly learningRate?: number | readonly number[];
  /** How one rate goes over the steps. */
  readonly schedulerType?: SchedulerType;
  readonly warmupSteps?: number;
  readonly warmupRatio?: number;
  /** How often all rows are trained. */
  readonly epochs?: number;
  /** False: every sequence is computed alone. */
  readonly packs?: boolean;
  /** Of the rows, the last ones: held out, and measured when training has ended. */
  readonly validationSplit?: number;
  /** Gradient steps between evaluations on held-out rows; absent: only the checkpoint is measured. */
  readonly evalSteps?: number;
  /** Training ends after so many evaluations without improvement. */
  readonly earlyStoppingPatience?: number;
  /** What an improvement must be more than. */
  readonly earlyStoppingThreshold?: number;
  readonly bestMetric?: HeldOutMetric;
  /** The checkpoint has the weights of the best evaluation. */
  readonly loadsBest?: boolean;
}

/** The known fields of `config` that were sent and not null. */
export interface SftConfigInput extends BatchConfigInput {
  readonly assistantTurns?: 'all' | 'last';
  /** Metrics of the last gradient step go to the checkpoint as `sft/NAME`. */
  readonly logsMetrics?: boolean;
}

/** A version that the job reads, whatever `latest` names by then. */
export interface DatasetVersion {
  readonly entity: string;
  readonly project: string;
  readonly name: string;
  readonly version: number;
  /** The file with one row per line. */
  readonly path: string;
}

/** What an SFT job's body blob holds, as JSON. */
export interface SftJobBody {
  readonly dataset: DatasetVersion;
  readonly config: SftConfigInput;
  /** What of the request is not used; the first event says it. Absent: nothing, or it is from an older version. */
  readonly warnings?: readonly string[];
}
