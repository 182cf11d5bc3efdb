// A token sequence to train on, and how long sequences may be.

/** All `[tokens]`, packed: a job has millions. */
export interface TokenSequence {
  readonly tokens: Int32Array;
  /** 1: trained, 0: context. */
  readonly trained: Uint8Array;
  /** Sampling log-probability in nats; NaN if unknown. */
  readonly logprobs: Float32Array;
  /** Which turns its trained tokens are from, in order; all of them together. Absent for examples, which nobody sampled. */
  readonly runs?: readonly TrainedRun[];
}

/** The trained tokens of one turn in a sequence. */
export interface TrainedRun {
  /** In tokens, at least 1. */
  readonly length: number;
  /** The step of the job's model that sampled them; null: not known. */
  readonly policyStep: number | null;
  /** Of this turn alone, in addition to the trajectory's; null: it has none. */
  readonly reward: number | null;
}

/** Trained tokens of a sequence. The first token has no context to be predicted from. */
export const trainedCount = ({ trained }: Pick<TokenSequence, 'trained'>): number =>
  trained.subarray(1).reduce((sum, one) => sum + one, 0);

export interface SequenceLimits {
  /** Maximum tokens of a sequence. */
  readonly lengthMax: number;
  /** Called with the length of each sequence; may throw. */
  readonly count: (tokens: number) => void;
}

export const UNLIMITED: SequenceLimits = { lengthMax: Infinity, count: () => undefined };
