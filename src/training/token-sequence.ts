// A token sequence to train on, and how long sequences may be.

/** All `[tokens]`, packed: a job has millions. */
export interface TokenSequence {
  readonly tokens: Int32Array;
  /** 1: trained, 0: context. */
  readonly trained: Uint8Array;
  /** Sampling log-probability in nats; NaN if unknown. */
  readonly logprobs: Float32Array;
}

export interface SequenceLimits {
  /** Maximum tokens of a sequence. */
  readonly lengthMax: number;
  /** Called with the length of each sequence; may throw. */
  readonly count: (tokens: number) => void;
}

export const UNLIMITED: SequenceLimits = { lengthMax: Infinity, count: () => undefined };
