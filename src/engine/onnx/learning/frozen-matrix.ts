// A frozen matrix of the trainer: either in float32, or in 8-bit blocks with the sampler's codes and scales
// (models/quantize.ts). For the second kind each product makes the float32 matrix and drops it: in a loop of one round, in both
// directions. With plain nodes ONNX Runtime might make it once for both, or all layers' before the first gradient, and hold all of them.
import { readBy, type Graph, type GradientRule, type Value } from '../graph/graph.ts';
import { loop } from '../graph/loop.ts';
import * as ops from '../graph/ops.ts';

export interface FrozenMatrix {
  /** `[out, in]` */
  readonly shape: readonly [number, number];
  /** Null if the matrix is made when it is read; it then has no gradient. */
  readonly value: Value | null;
  /** The matrix in float32, for nodes of this graph. */
  within(g: Graph): Value;
  /** x · Wᵀ: `[tokens, in] → [tokens, out]` */
  multiply(g: Graph, x: Value): Value;
}

export const plainMatrix = (value: Value): FrozenMatrix => ({
  shape: value.shape as [number, number],
  value,
  within: () => value,
  multiply: (g, x) => ops.matmul(g, x, value, { transposeB: true }),
});

/** codes uint8 `[out · blocks, 32]`, scales and zeroPoints `[out · blocks]`; no gradient. */
export interface Blocks8 {
  readonly codes: Value;
  readonly scales: Value;
  readonly zeroPoints: Value;
}

export function blocksMatrix(blocks: Blocks8, shape: readonly [number, number]): FrozenMatrix {
  const [outFeatures, inFeatures] = shape;

  const within = (g: Graph): Value => {
    const { codes, scales, zeroPoints } = blocks;
    const rows = ops.dequantizeRows(g, codes, scales, zeroPoints); // [out · blocks, 32]
    const padded = ((rows.shape[0] as number) * (rows.shape[1] as number)) / outFeatures;
    const matrix = ops.reshape(g, rows, [outFeatures, padded]);
    return padded === inFeatures ? matrix : ops.firstColumns(g, matrix, inFeatures);
  };

  /** In a loop of one round without initial values. */
  const alone = (g: Graph, width: number, product: (body: Graph) => Value, gradient?: GradientRule): Value => {
    const rounds = g.initializer(g.name('once'), BigInt64Array.of(1n), []);
    const nothing = g.initializer(g.name('nothing'), new Float32Array(0), [0, width]);
    const options = { rounds, carried: [nothing], ...(gradient ? { gradient } : {}) };
    return loop(g, options, (body) => [product(body)])[0]!;
  };

  return {
    shape,
    value: null,
    within,
    multiply(g, x) {
      const gradient: GradientRule = (outer, node, [dy]) => {
        const dx = alone(outer, inFeatures, (body) => ops.matmul(body, dy!, within(body)));
        return readBy(node).map((read) => (read === x ? dx : null));
      };
      return alone(g, outFeatures, (body) => ops.matmul(body, x, within(body), { transposeB: true }), gradient);
    },
  };
}
