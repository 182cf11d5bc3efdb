// What a trainer can do, whatever runs it: the four verbs that a training loop is written in. Knows tokens, rows and
// losses as data; knows no rewards, no jobs, no text. Signed by test/contract/training-engine.ts.
import type { LoraConfig } from '#domain/lora-config';
import type { LossProgram } from './loss-program.ts';

/**
 * One packed row. Segments are runs of tokens that attend causally to themselves and to their ancestors, so several
 * sequences, or several completions of one shared prompt, lie in a row without seeing each other.
 */
export interface TrainingRow {
  /** `[row]` token ids. */
  readonly tokens: Int32Array;
  /** `[row]` position of each token in its own sequence (RoPE). */
  readonly positions: Int32Array;
  /** `[row]` segment of each token. */
  readonly segments: Int32Array;
  /** `[segments]` parent segment, −1 for none. */
  readonly parents: Int32Array;
  /** `[trained]` index in the row whose output predicts the target. */
  readonly predictFrom: Int32Array;
  /** `[trained]` token id to predict. */
  readonly targets: Int32Array;
  /** `[trained]` sequence of each trained token, for sequence-level terms. */
  readonly sequenceIds: Int32Array;
  /** Named `[trained]` float inputs of the loss program (oldLogprobs, advantages, weights, …). */
  readonly inputs: Readonly<Record<string, Float32Array>>;
}

export interface OptimizerParams {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
  /** Gradients are scaled down to this global norm; 0 is off. */
  readonly maxGradNorm: number;
}

export interface ForwardBackwardResult {
  readonly loss: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** Log-probabilities of row.targets as the loss read them, `[trained]`, nats. Absent: the engine does not tell. */
  readonly logprobs?: Float32Array;
}

/** A directory that `save` wrote: PEFT files, and optimizer state when `resumable`. */
export interface SaveOptions {
  readonly resumable: boolean;
}

export interface TrainingSession {
  /** Rows that are computed side by side, in the time of one. A call with more rows computes them one group after another. */
  readonly rowsAtOnce: number;
  /** Log-probabilities of each row's targets with the current weights, `[row][trained]`, nats. */
  logprobs(rows: readonly TrainingRow[]): Promise<readonly Float32Array[]>;
  /**
   * Adds the gradients of the rows to those not yet applied; results are in the order of the rows. If one of up to
   * `rowsAtOnce` rows is refused, none is added.
   */
  forwardBackward(rows: readonly TrainingRow[], loss: LossProgram): Promise<readonly ForwardBackwardResult[]>;
  /** Applies and clears the gradients. `engine_failed` where gradients, or the weights that they lead to, are not finite. */
  optimStep(params: OptimizerParams): Promise<{ gradNorm: number }>;
  /** Writes adapter_config.json and adapter_model.safetensors (and optimizer.safetensors) into an existing, empty directory, fsynced. */
  save(directory: string, options: SaveOptions): Promise<void>;
  close(): Promise<void>;
}

export interface OpenSessionOptions {
  /** PEFT directory to start from; null for a fresh adapter. Optimizer state is restored when the directory has it. */
  readonly from: string | null;
  readonly lora: LoraConfig;
  /** Start with zero optimizer moments even if `from` has them. */
  readonly resetOptimizer: boolean;
  /** Trained tokens whose logits may be in memory at once; null: the engine's choice. */
  readonly headTokensMax: number | null;
}

/** How much training fits. */
export interface TrainingLimits {
  /** Tokens of the longest sequence that the model reads. */
  readonly contextLength: number;
  /** Tokens that fit in one row, which may hold several sequences: by memory, or by a limit of the trainer's own. */
  readonly rowLengthMax: number;
  readonly memory: RowMemory & { readonly budgetBytes: number };
}

/** A row of n tokens peaks at about fixedBytes + n · bytesPerToken + n² · bytesPerPair, and an adapter adds to it by its rank. */
export interface RowMemory {
  readonly fixedBytes: number;
  readonly bytesPerToken: number;
  readonly bytesPerPair: number;
  /** Of an adapter on all linear layers, with its optimizer and its gradients. Absent: nothing is known of it. */
  readonly bytesPerRank?: number | undefined;
  /** Of one on the output head, beside. */
  readonly headBytesPerRank?: number | undefined;
}

export interface AdapterSize {
  readonly rank: number;
  readonly onHead: boolean;
}

export const rowMemoryOf = (tokens: number, { fixedBytes, bytesPerToken, bytesPerPair }: RowMemory): number =>
  fixedBytes + tokens * bytesPerToken + tokens * tokens * bytesPerPair;

export const adapterMemoryOf = (
  { rank, onHead }: AdapterSize,
  { bytesPerRank = 0, headBytesPerRank = 0 }: Pick<RowMemory, 'bytesPerRank' | 'headBytesPerRank'>,
): number => rank * (bytesPerRank + (onHead ? headBytesPerRank : 0));

/** The largest n with fixed + n · perToken + n² · perPair ≤ budget. */
export function longestRow({ budgetBytes, fixedBytes, bytesPerToken: b, bytesPerPair: a }: TrainingLimits['memory']) {
  const room = budgetBytes - fixedBytes;
  if (room <= 0) return 0;
  if (a === 0) return b === 0 ? Infinity : Math.floor(room / b);
  return Math.floor((-b + Math.sqrt(b * b + 4 * a * room)) / (2 * a));
}

/** What is left for rows beside an adapter. */
export function limitsBeside(adapter: AdapterSize, limits: TrainingLimits): TrainingLimits {
  const fixedBytes = limits.memory.fixedBytes + adapterMemoryOf(adapter, limits.memory);
  if (fixedBytes === limits.memory.fixedBytes) return limits;
  const memory = { ...limits.memory, fixedBytes };
  return { ...limits, memory, rowLengthMax: Math.min(limits.rowLengthMax, longestRow(memory)) };
}

export interface TrainingEngineStatus {
  readonly ready: boolean;
  /** There is no room for another session. */
  readonly busy: boolean;
  /** Sessions at a time. */
  readonly sessionsMax: number;
  readonly restarts: number;
  readonly lastFailure: string | null;
}

/**
 * As many sessions at a time as `status` says, usually one. Codes thrown: `engine_unavailable` (its process died or is starting: open a new session and
 * replay), `bad_model_files`, `invalid_request` (row longer than rowLengthMax), `cancelled`.
 */
export interface TrainingEngine {
  readonly limits: TrainingLimits;
  open(options: OpenSessionOptions, signal: AbortSignal): Promise<TrainingSession>;
  status(): TrainingEngineStatus;
  close(): Promise<void>;
}
