// Supervised fine-tuning: the model learns the assistant turns of conversations. rows/sft.ts reads their wire form.
import type { ChatMessage, ToolDefinition } from './chat.ts';

/** One line of training data. */
export type SftRow = ConversationRow | TextRow;

/** Its last message is from the assistant. */
export interface ConversationRow {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[] | null;
  /** Places of assistant messages that are context, although the job trains all. */
  readonly untrained?: readonly number[];
  /** Its first messages are a prompt: what opens the answer to it is context, even if the chat template says that the model writes it. */
  readonly followsPrompt?: true;
  /** Variables of the chat template. */
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** Plain text, without the chat template. The completion is trained. */
export interface TextRow {
  /** Empty for plain text, of which everything is trained. */
  readonly prompt: string;
  readonly completion: string;
}

/** A field of a line that no job uses; one of a message may still be read by the chat template. */
export interface UnusedField {
  readonly of: 'row' | 'message';
  readonly field: string;
}

/** A valid line, or the reason why it is invalid. */
export type ReadLine<Row> =
  { readonly row: Row; readonly unused?: readonly UnusedField[] } | { readonly problem: string };
export type ReadSftRow = ReadLine<SftRow>;

export const SCHEDULER_TYPES = ['constant', 'linear', 'cosine'] as const;
export type SchedulerType = (typeof SCHEDULER_TYPES)[number];

/** Metrics of held-out rows that can decide which weights are best. SFT has only the loss. */
export const HELD_OUT_METRICS = ['val/loss', 'val/rewards/margins', 'val/rewards/accuracies'] as const;
export type HeldOutMetric = (typeof HELD_OUT_METRICS)[number];

/** Settings that all jobs over the rows of an artifact share. */
export interface BatchConfigInput {
  readonly batchSize?: number;
  /** One rate for all batches, or one per batch of all epochs. */
  readonly learningRate?: number | readonly number[];
  /** The learning-rate schedule; needs a single rate. */
  readonly schedulerType?: SchedulerType;
  readonly warmupSteps?: number;
  readonly warmupRatio?: number;
  /** How many times all rows are trained. */
  readonly epochs?: number;
  /** False: every sequence is computed separately. */
  readonly packs?: boolean;
  /** Fraction of the rows, taken from the end, that is held out and measured when training has ended. */
  readonly validationSplit?: number;
  /** Gradient steps between evaluations on held-out rows; absent: only the final checkpoint is evaluated. */
  readonly evalSteps?: number;
  /** Training ends after this many evaluations without improvement. */
  readonly earlyStoppingPatience?: number;
  /** An improvement counts only if it is larger than this. */
  readonly earlyStoppingThreshold?: number;
  readonly bestMetric?: HeldOutMetric;
  /** The checkpoint gets the weights of the best evaluation. */
  readonly loadsBest?: boolean;
}

/** The known fields of `config` that the client sent with a value. */
export interface SftConfigInput extends BatchConfigInput {
  readonly assistantTurns?: 'all' | 'last';
  /** Metrics of the last gradient step are stored with the checkpoint as `sft/NAME`. */
  readonly logsMetrics?: boolean;
}

/** The version that the job reads, even if `latest` moves later. */
export interface DatasetVersion {
  readonly entity: string;
  readonly project: string;
  readonly name: string;
  readonly version: number;
  /** The file with one row per line. */
  readonly path: string;
}

/** Content of an SFT job's body blob, as JSON. */
export interface SftJobBody {
  readonly dataset: DatasetVersion;
  readonly config: SftConfigInput;
  /** Parts of the request that are not used; the first event names them. Absent: none, or the job is from an older version. */
  readonly warnings?: readonly string[];
}
