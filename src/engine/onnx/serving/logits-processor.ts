// Changes to the logits before a token is chosen: penalties, biases, grammar masks. A processor is a function that
// works in place; the sampler runs a sequence's list in order, before temperature. Reported log-probabilities are of
// the raw logits, so a row is copied before the first processor touches it.

export interface TokensSoFar {
  /** Prompt and completion. */
  readonly tokens: readonly number[];
  readonly promptTokenCount: number;
}

/** `logits` is `[vocab]`. */
export type LogitsProcessor = (logits: Float32Array, sequence: TokensSoFar) => void;
