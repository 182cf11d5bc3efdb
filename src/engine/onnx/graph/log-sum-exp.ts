// log Σ exp over a vocabulary. ONNX Runtime's ReduceLogSumExp adds the terms one by one in float32, which loses 2e-4
// over 150k of them: here a row is summed in blocks, and then the blocks. LogSoftmax sums each block, because its kernel
// is fast and reads a block from start to end: a row's result does not depend on other rows.
import type { Graph, Value } from './graph.ts';
import * as ops from './ops.ts';

/** Divides the vocabulary sizes of Qwen and Llama. */
const BLOCK = 128;

/** `[rows, n] → [rows, 1]`. NaN or infinite if a term is. No gradient. */
export function logSumExp(g: Graph, x: Value): Value {
  const [rows, size] = x.shape as [string, number];
  const blocks = Math.ceil(size / BLOCK);
  const padded = ops.padColumns(g, x, blocks * BLOCK - size, -Infinity);
  const blocked = ops.reshape(g, padded, [rows, blocks, BLOCK]);
  const largest = (of: Value) => ops.reduceMax(g, of, [-1]);
  // logits − logSoftmax is the same for the whole block; it loses the least precision at the largest logit.
  const sums = ops.sub(g, largest(blocked), largest(ops.logSoftmax(g, blocked))); // [rows, blocks, 1]
  return ops.reduceLogSumExp(g, ops.reshape(g, sums, [rows, blocks]), [-1]);
}
