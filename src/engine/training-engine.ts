// What every trainer can do: the four operations of a training loop. Knows tokens, rows and losses as data; does not know
// rewards, jobs or text. Contract suite: test/support/contract/training-engine.ts.
import type { LoraConfig } from '#domain/lora-config';
import type { LossProgram } from './loss-program.ts';

/**
 * One packed row. Segments are runs of tokens that attend causally to themselves and to their ancestors, so a row can hold several
 * sequences, or several completions of one shared prompt, that do not see each other.
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
  /** Log-probabilities of row.targets as used by the loss, `[trained]`, nats. Absent: the engine does not report them. */
  readonly logprobs?: Float32Array;
}

/** Options of `save`, which writes PEFT files, and also the optimizer state if `resumable`. */
export interface SaveOptions {
  readonly resumable: boolean;
  /** Also gradients.safetensors: the gradients not yet applied, which a session opened from the directory goes on with. For trainers with `keepsGradients`. */
  readonly gradients?: boolean;
}

export interface TrainingSession {
  /** How many rows are computed at once, in the time of one. A call with more rows computes them in groups of this size. */
  readonly rowsAtOnce: number;
  /** Log-probabilities of each row's targets with the current weights, `[row][trained]`, nats. */
  logprobs(rows: readonly TrainingRow[]): Promise<readonly Float32Array[]>;
  /**
   * Adds the gradients of the rows to those not yet applied; results are in the order of the rows. If one row of a call with up to
   * `rowsAtOnce` rows is refused, no gradients are added.
   */
  forwardBackward(rows: readonly TrainingRow[], loss: LossProgram): Promise<readonly ForwardBackwardResult[]>;
  /** Applies and clears the gradients. Throws `engine_failed` if gradients, or the resulting weights, are not finite. */
  optimStep(params: OptimizerParams): Promise<{ gradNorm: number }>;
  /** Writes adapter_config.json and adapter_model.safetensors (and optimizer.safetensors, gradients.safetensors) into an existing, empty directory, fsynced. */
  save(directory: string, options: SaveOptions): Promise<void>;
  close(): Promise<void>;
}

/** The same session, with other answers to some calls. Its methods need no `this`: sessions may be classes. */
export const withCalls = (session: TrainingSession, calls: Partial<TrainingSession>): TrainingSession => ({
  rowsAtOnce: session.rowsAtOnce,
  logprobs: (rows) => session.logprobs(rows),
  forwardBackward: (rows, loss) => session.forwardBackward(rows, loss),
  optimStep: (params) => session.optimStep(params),
  save: (directory, options) => session.save(directory, options),
  close: () => session.close(),
  ...calls,
});

export interface OpenSessionOptions {
  /** PEFT directory to start from; null for a fresh adapter. Optimizer state and gradients are restored if the directory has them. */
  readonly from: string | null;
  readonly lora: LoraConfig;
  /** Starts with zero optimizer moments, and without gradients, even if `from` has them. */
  readonly resetOptimizer: boolean;
  /** Trained tokens whose logits may be in memory at once; null: the engine chooses. */
  readonly headTokensMax: number | null;
}

/** The size of rows that can be trained. */
export interface TrainingLimits {
  /** The model's context length: the longest sequence, in tokens. */
  readonly contextLength: number;
  /** Tokens that fit in one row, which may hold several sequences: limited by memory, or by the trainer. */
  readonly rowLengthMax: number;
  readonly memory: RowMemory & { readonly budgetBytes: number };
}

/** A row of n tokens takes at most about fixedBytes + n · bytesPerToken + n² · bytesPerPair; an adapter adds memory per rank. */
export interface RowMemory {
  readonly fixedBytes: number;
  readonly bytesPerToken: number;
  readonly bytesPerPair: number;
  /** For an adapter on all linear layers, with its optimizer and gradients. Absent: unknown. */
  readonly bytesPerRank?: number | undefined;
  /** In addition, for an adapter on the output head. */
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

/** The limits that remain for rows next to an adapter. */
export function limitsBeside(adapter: AdapterSize, limits: TrainingLimits): TrainingLimits {
  const fixedBytes = limits.memory.fixedBytes + adapterMemoryOf(adapter, limits.memory);
  if (fixedBytes === limits.memory.fixedBytes) return limits;
  const memory = { ...limits.memory, fixedBytes };
  return { ...limits, memory, rowLengthMax: Math.min(limits.rowLengthMax, longestRow(memory)) };
}

/**
 * What fits on both of two trainers, because a job may run on either. A row costs what it costs on the dearer one, and has the room of the
 * one with less beside the fixed part.
 */
export function limitsOfBoth(a: TrainingLimits, b: TrainingLimits): TrainingLimits {
  const dearer = (key: keyof RowMemory) => Math.max(a.memory[key] ?? 0, b.memory[key] ?? 0);
  const room = Math.min(...[a, b].map(({ memory }) => memory.budgetBytes - memory.fixedBytes));
  const fixedBytes = dearer('fixedBytes');
  return {
    contextLength: Math.min(a.contextLength, b.contextLength),
    rowLengthMax: Math.min(a.rowLengthMax, b.rowLengthMax),
    memory: {
      budgetBytes: fixedBytes + room,
      fixedBytes,
      bytesPerToken: dearer('bytesPerToken'),
      bytesPerPair: dearer('bytesPerPair'),
      bytesPerRank: dearer('bytesPerRank'),
      headBytesPerRank: dearer('headBytesPerRank'),
    },
  };
}

export interface TrainingEngineStatus {
  readonly ready: boolean;
  /** No further session can be opened now. */
  readonly busy: boolean;
  /** How many sessions can be open at once. */
  readonly sessionsMax: number;
  readonly restarts: number;
  readonly lastFailure: string | null;
}

/** Whose session it is. */
export interface SessionHolder {
  /** For others that wait behind it. */
  readonly name: HolderName;
  /** Called when it waits behind somebody, or somebody else, and with null when it has its place or gives up. */
  onWaiting(behind: SessionHolder | null): void;
}

export interface HolderName {
  readonly kind: 'job' | 'training_client';
  readonly id: string;
  readonly entity: string;
}

/**
 * The number of sessions at a time is `sessionsMax` of `status`, usually one. Codes thrown: `engine_unavailable` (its process died or
 * is starting: open a new session and replay), `bad_model_files`, `invalid_request` (row longer than rowLengthMax), `cancelled`.
 */
export interface TrainingEngine {
  readonly limits: TrainingLimits;
  /** `holder`: for an engine that is shared by turns (services/trainer-turns.ts); others have no use for it. */
  open(options: OpenSessionOptions, signal: AbortSignal, holder?: SessionHolder): Promise<TrainingSession>;
  status(): TrainingEngineStatus;
  close(): Promise<void>;
}
