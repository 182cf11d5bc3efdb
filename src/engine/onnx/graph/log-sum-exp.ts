// log Σ exp over a vocabulary. ONNX Runtime's ReduceLogSumExp adds the terms one by one in float32, which loses 2e-4
// over 150k of them: here a row is summed in blocks, and then the blocks. LogSoftmax sums each block, because its kernel
// is fast and reads a block from start to end: a row's result does not depend on other rows.
import type { Graph, Value } from './graph.ts';
import * as ops from './ops.ts';

/** Divides the vocabulary sizes of Qwen and Llama. */
export const LOGIT_BLOCK = 128;

export interface BlockSums {
  /** `[rows, blocks]`: the largest term of each block. */
  readonly maxima: Value;
  /** `[rows, blocks]`: log Σ exp of each block. */
  readonly sums: Value;
  /** `[rows, 1]`: log Σ exp of the row. NaN or infinite if a term is. */
  readonly whole: Value;
}

/** x `[rows, n]`, in ceil(n / LOGIT_BLOCK) blocks. No gradient. */
export function blockSums(g: Graph, x: Value): BlockSums {
  const [rows, size] = x.shape as [string, number];
  const blocks = Math.ceil(size / LOGIT_BLOCK);
  const padded = ops.padColumns(g, x, blocks * LOGIT_BLOCK - size, -Infinity);
  const blocked = ops.reshape(g, padded, [rows, blocks, LOGIT_BLOCK]);
  const largest = (of: Value) => ops.reduceMax(g, of, [-1]);
  const flat = (of: Value) => ops.reshape(g, of, [rows, blocks]);
  const maxima = largest(blocked); // [rows, blocks, 1]
  // logits − logSoftmax is the same for the whole block; it loses the least precision at the largest logit.
  const sums = flat(ops.sub(g, maxima, largest(ops.logSoftmax(g, blocked))));
  return { maxima: flat(maxima), sums, whole: ops.reduceLogSumExp(g, sums, [-1]) };
}

/** `[rows, n] → [rows, 1]`. NaN or infinite if a term is. No gradient. */
export const logSumExp = (g: Graph, x: Value): Value => blockSums(g, x).whole;
