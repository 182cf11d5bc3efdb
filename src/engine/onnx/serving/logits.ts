// The model's output that tokens are chosen from: rows of logits, and what the graph says about blocks of them, so that a reader passes
// over blocks in which there is nothing that it looks for.
import { LOGIT_BLOCK } from '../graph/log-sum-exp.ts';

export interface Logits {
  /** `[rows, vocab]` */
  readonly logits: Float32Array;
  /** `[rows]` */
  readonly logsumexp: Float32Array;
  /** `[rows, blocks]`: the largest of LOGIT_BLOCK logits each. */
  readonly maxima: Float32Array;
  /** `[rows, blocks]`: log Σ exp of each block. */
  readonly sums: Float32Array;
}

/** The logits of one row that belong to tokens. */
export interface LogitRow {
  /** `[tokenCount]` */
  readonly logits: Float32Array;
  /** Over the whole row, padding included. */
  readonly logsumexp: number;
  /** As in Logits; the last ones may belong to padding. Null: not known for these logits. */
  readonly blocks: { readonly maxima: Float32Array; readonly sums: Float32Array } | null;
}

/** Ids start … end − 1. */
export interface IdRange {
  readonly start: number;
  readonly end: number;
  /** No logit of the range is larger. */
  readonly largest: number;
}

const rowOf = (values: Float32Array, row: number, { logsumexp }: Logits): Float32Array => {
  const size = values.length / logsumexp.length;
  return values.subarray(row * size, (row + 1) * size);
};

/** Copies one row. */
export function rowAt(all: Logits, row: number): Logits {
  const copy = (values: Float32Array) => rowOf(values, row, all).slice();
  return { logits: copy(all.logits), logsumexp: copy(all.logsumexp), maxima: copy(all.maxima), sums: copy(all.sums) };
}

/**
 * Views of one row. An embedding may have more rows than its tokenizer has tokens, and the padding is never chosen or listed.
 * It stays in the logsumexp, so that log-probabilities equal the trainer's.
 */
export function tokenRow(all: Logits, row: number, tokenCount: number): LogitRow {
  return {
    logits: rowOf(all.logits, row, all).subarray(0, tokenCount),
    logsumexp: all.logsumexp[row]!,
    blocks: { maxima: rowOf(all.maxima, row, all), sums: rowOf(all.sums, row, all) },
  };
}

/** Where logits of at least `floor` may be, in order of id. */
export function rangesFrom({ logits, blocks }: LogitRow, floor = -Infinity): readonly IdRange[] {
  if (blocks === null) return [{ start: 0, end: logits.length, largest: Infinity }];
  const ranges: IdRange[] = [];
  for (let start = 0, block = 0; start < logits.length; start += LOGIT_BLOCK, block++) {
    const largest = blocks.maxima[block]!;
    if (largest >= floor) ranges.push({ start, end: Math.min(start + LOGIT_BLOCK, logits.length), largest });
  }
  return ranges;
}
