// log Σ exp over a vocabulary. ONNX Runtime's ReduceLogSumExp adds one term after another in float32, which falls 2e-4 short
// over 150k of them: here a row is summed in blocks, and then the blocks. LogSoftmax sums the blocks, because its kernel
// is fast and reads one block from its beginning to its end: a row's result does not depend on the rows beside it.
import type { Graph, Value } from './graph.ts';
import * as ops from './ops.ts';

/** Divides the vocabularies of Qwen and Llama. */
const BLOCK = 128;

/** `[rows, n] → [rows, 1]`. NaN or infinite where a term is. No gradient. */
export function logSumExp(g: Graph, x: Value): Value {
  const [rows, size] = x.shape as [string, number];
  const blocks = Math.ceil(size / BLOCK);
  const padded = ops.padColumns(g, x, blocks * BLOCK - size, -Infinity);
  const blocked = ops.reshape(g, padded, [rows, blocks, BLOCK]);
  const largest = (of: Value) => ops.reduceMax(g, of, [-1]);
  // Of logits − logSoftmax, which is the same for all of a block, the least is lost at the largest logit.
  const sums = ops.sub(g, largest(blocked), largest(ops.logSoftmax(g, blocked))); // [rows, blocks, 1]
  return ops.reduceLogSumExp(g, ops.reshape(g, sums, [rows, blocks]), [-1]);
}
