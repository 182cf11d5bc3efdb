// The model's output that tokens are sampled from.

export interface Logits {
  /** `[rows, vocab]` */
  readonly logits: Float32Array;
  /** `[rows]` */
  readonly logsumexp: Float32Array;
}

/** Copies one row. */
export function rowAt({ logits, logsumexp }: Logits, row: number): Logits {
  const vocab = logits.length / logsumexp.length;
  return { logits: logits.slice(row * vocab, (row + 1) * vocab), logsumexp: logsumexp.slice(row, row + 1) };
}

/**
 * The logits of a row that belong to tokens, `[tokenCount]`: an embedding may have more rows than its tokenizer has tokens, and the
 * padding is never chosen or listed. It stays in the logsumexp, so that log-probabilities equal the trainer's.
 */
export function tokenLogits({ logits, logsumexp }: Logits, row: number, tokenCount: number): Float32Array {
  const start = (row * logits.length) / logsumexp.length;
  return logits.subarray(start, start + tokenCount);
}
