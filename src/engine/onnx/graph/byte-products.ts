// Whether ONNX Runtime sums products of unsigned by signed bytes exactly on this processor. On x86 without VNNI it keeps the sum of two
// products in 16 bits, which is too few. An option of its sessions makes it take unsigned weights instead: exact, but slower, and
// ONNX Runtime 1.30 then also takes them where it need not (a Zen 4 has VNNI for AVX-512 and none for AVX). So this multiplies the
// largest bytes once per process, and session.ts, for graphs with such products, sets the option only where the sums are wrong
// (docs/decisions/0039).
import { Graph } from './graph.ts';
import { InferenceSession, Tensor } from './onnx-runtime.ts';
import * as ops from './ops.ts';
import { serializeGraph } from './to-onnx.ts';

const [IN_FEATURES, OUT_FEATURES, LARGEST_CODE, ZERO_POINT] = [256, 64, 127, 128];
/** One row and several are multiplied by different kernels. */
const ROW_COUNTS = [1, 7];
/** The operator of `ops.matmulCodes`. */
const BYTE_PRODUCT = 'MatMulIntegerToFloat';
const EXACT_SUM = LARGEST_CODE * LARGEST_CODE * IN_FEATURES;

/** Whether the graph, or one inside its nodes, multiplies bytes by bytes. */
export const multipliesBytes = (graph: Graph): boolean =>
  graph.nodes.some(
    ({ op, attributes }) =>
      op === BYTE_PRODUCT ||
      Object.values(attributes).some((inner) => inner instanceof Graph && multipliesBytes(inner)),
  );

let answer: Promise<boolean> | null = null;

export const sumsBytesExactly = (): Promise<boolean> => (answer ??= multiplyLargest());

async function multiplyLargest(): Promise<boolean> {
  const g = new Graph();
  const x = g.input('x', 'float32', ['rows', IN_FEATURES]);
  const largest = new Int8Array(IN_FEATURES * OUT_FEATURES).fill(LARGEST_CODE);
  const codes = g.initializer('codes', largest, [IN_FEATURES, OUT_FEATURES]);
  const scales = g.initializer('scales', new Float32Array(OUT_FEATURES).fill(1), [OUT_FEATURES]);
  const rounded = ops.quantize(g, x, 1, ZERO_POINT);
  g.output('y', ops.matmulCodes(g, rounded, ZERO_POINT, g.scalar(1), codes, scales));
  const session = await InferenceSession.create(serializeGraph(g).model, {
    executionProviders: ['cpu'],
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  try {
    for (const rows of ROW_COUNTS) {
      const ones = new Float32Array(rows * IN_FEATURES).fill(LARGEST_CODE);
      const { y } = await session.run({ x: new Tensor('float32', ones, [rows, IN_FEATURES]) });
      if ((y!.data as Float32Array).some((sum) => sum !== EXACT_SUM)) return false;
    }
    return true;
  } finally {
    await session.release();
  }
}
