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
