// What tokens are sampled from, as the model gives it.

export interface Logits {
  /** `[rows, vocab]` */
  readonly logits: Float32Array;
  /** `[rows]` */
  readonly logsumexp: Float32Array;
}

/** A copy of one row. */
export function rowAt({ logits, logsumexp }: Logits, row: number): Logits {
  const vocab = logits.length / logsumexp.length;
  return { logits: logits.slice(row * vocab, (row + 1) * vocab), logsumexp: logsumexp.slice(row, row + 1) };
}

/**
 * The logits of a row that belong to tokens, `[tokenCount]`: an embedding may have more rows than its tokenizer has tokens, and those
 * that pad it are never chosen or listed. They stay in the logsumexp, so that log-probabilities are those of the trainer.
 */
export function tokenLogits({ logits, logsumexp }: Logits, row: number, tokenCount: number): Float32Array {
  const start = (row * logits.length) / logsumexp.length;
  return logits.subarray(start, start + tokenCount);
}
