import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { gradients } from './autodiff.ts';
import { checkpoint } from './checkpoint.ts';
import { Graph, type Shape, type Value } from './graph.ts';
import * as ops from './ops.ts';
import { openSession, type Feed } from './session.ts';

type Build = (g: Graph, xs: readonly Value[]) => Value;

interface Case {
  shapes: readonly (readonly number[])[];
  build: Build;
  /** Keeps values away from kinks and poles. */
  positive?: boolean;
  integers?: Record<string, Feed>;
}

const indices = (...values: number[]): BigInt64Array => BigInt64Array.from(values, BigInt);

const CASES: Record<string, Case> = {
  'add, broadcast over rows': { shapes: [[3, 4], [4]], build: (g, [x, y]) => ops.add(g, x!, y!) },
  'sub, broadcast over a middle axis': {
    shapes: [
      [2, 3, 4],
      [2, 1, 4],
    ],
    build: (g, [x, y]) => ops.sub(g, x!, y!),
  },
  'mul by itself': { shapes: [[3, 4]], build: (g, [x]) => ops.mul(g, x!, x!) },
  div: {
    shapes: [
      [3, 4],
      [3, 1],
    ],
    positive: true,
    build: (g, [x, y]) => ops.div(g, x!, y!),
  },
  'min and max': {
    shapes: [
      [5, 6],
      [5, 6],
    ],
    build: (g, [x, y]) => ops.sub(g, ops.minimum(g, x!, y!), ops.maximum(g, ops.neg(g, x!), y!)),
  },
  'exp, log, sqrt': {
    shapes: [[3, 4]],
    positive: true,
    build: (g, [x]) => ops.exp(g, ops.neg(g, ops.mul(g, ops.log(g, x!), ops.sqrt(g, x!)))),
  },
  silu: { shapes: [[3, 4]], build: (g, [x]) => ops.silu(g, x!) },
  where: {
    shapes: [[3, 4], [4], [3, 1]],
    build: (g, [x, y, z]) => ops.where(g, ops.less(g, x!, y!), ops.mul(g, x!, z!), y!),
  },
  'matmul of matrices': {
    shapes: [
      [3, 4],
      [4, 5],
    ],
    build: (g, [a, b]) => ops.matmul(g, a!, b!),
  },
  'matmul, both transposed, scaled': {
    shapes: [
      [4, 3],
      [5, 4],
    ],
    build: (g, [a, b]) => ops.matmul(g, a!, b!, { transposeA: true, transposeB: true, alpha: 0.3 }),
  },
  'matmul, second transposed': {
    shapes: [
      [2, 3, 4],
      [2, 5, 4],
    ],
    build: (g, [a, b]) => ops.matmul(g, a!, b!, { transposeB: true }),
  },
  'matmul, first transposed, batch': {
    shapes: [
      [2, 4, 3],
      [2, 4, 5],
    ],
    build: (g, [a, b]) => ops.matmul(g, a!, b!, { transposeA: true }),
  },
  'matmul, batch broadcast': {
    shapes: [
      [2, 3, 4],
      [4, 5],
    ],
    build: (g, [a, b]) => ops.matmul(g, a!, b!),
  },
  'sums and means, axes kept and dropped': {
    shapes: [[2, 3, 4]],
    build: (g, [x]) =>
      ops.mul(g, ops.reduceMean(g, x!, [0, 1], false), ops.reduceSum(g, ops.mul(g, x!, x!), [1], false)),
  },
  softmax: { shapes: [[3, 5]], build: (g, [x]) => ops.softmax(g, x!) },
  'transpose and reshape': {
    shapes: [[2, 3, 4]],
    build: (g, [x]) => ops.reshape(g, ops.transpose(g, x!, [1, 2, 0]), [6, 4]),
  },
  'concat and split': {
    shapes: [
      [2, 3],
      [2, 4],
    ],
    build: (g, [x, y]) => {
      const [a, b] = ops.split(g, ops.concat(g, [x!, y!], -1), 1, [2, 5]);
      return ops.mul(g, ops.reduceSum(g, a!, [1]), b!);
    },
  },
  'gather with a repeated row': {
    shapes: [[5, 3]],
    integers: { rows: { data: indices(4, 1, 4, 0), dims: [4] } },
    build: (g, [x]) => ops.gather(g, x!, g.input('rows', 'int64', ['n'])),
  },
  'two checkpoints, which read what is outside of them': {
    shapes: [
      [3, 4],
      [4, 4],
    ],
    build: (g, [x, w]) => {
      const part = (g: Graph, x: Value) => ops.add(g, x, ops.silu(g, ops.matmul(g, x, w!)));
      return checkpoint(g, checkpoint(g, x!, part), part);
    },
  },
  'a checkpoint inside a checkpoint': {
    shapes: [[3, 4], [4]],
    build: (g, [x, w]) =>
      checkpoint(g, x!, (outer, x) =>
        ops.mul(
          outer,
          checkpoint(outer, ops.exp(outer, x), (g, x) => ops.mul(g, x, w!)),
          ops.add(outer, x, w!),
        ),
      ),
  },
  rmsNorm: { shapes: [[2, 3, 8], [8]], build: (g, [x, w]) => ops.rmsNorm(g, x!, w!, 1e-6) },
  rotary: {
    shapes: [[1, 2, 3, 8]],
    integers: { positions: { data: indices(2, 0, 5), dims: [1, 3] } },
    build: (g, [x]) => {
      const angles = Float32Array.from({ length: 24 }, (_, i) => 0.37 * i);
      const cos = g.initializer('cos', angles.map(Math.cos), [6, 4]);
      const sin = g.initializer('sin', angles.map(Math.sin), [6, 4]);
      return ops.rotary(g, x!, g.input('positions', 'int64', [1, 3]), cos, sin);
    },
  },
};

test.each(Object.entries(CASES))(
  'gradient of %s equals finite differences',
  async (_, { shapes, build, positive, integers }) => {
    const random = createRandom(7);
    const size = (shape: Shape) => (shape as number[]).reduce((a, b) => a * b, 1);
    const values = shapes.map((shape) =>
      Float32Array.from({ length: size(shape) }, () => (positive ? 0.5 + random.next() : random.next() * 2 - 1)),
    );

    const g = new Graph();
    const xs = shapes.map((shape, i) => g.input(`x${i}`, 'float32', shape));
    const y = build(g, xs);
    // A random direction turns the result into a scalar that depends on every element.
    const direction = g.initializer(
      'direction',
      Float32Array.from({ length: 64 }, () => random.next() - 0.5),
      [64],
    );
    const flat = ops.reshape(g, y, ['all']);
    const weights = ops.gather(
      g,
      direction,
      g.node(
        'Range',
        [int(g, 0n), g.node('Size', [y], [{ dtype: 'int64', shape: [] }])[0]!, int(g, 1n)],
        [{ dtype: 'int64', shape: ['all'] }],
      )[0]!,
    );
    const loss = ops.reduceSum(g, ops.mul(g, flat, weights), [0], false);
    const grads = gradients(g, loss, xs);
    g.output('loss', loss);
    grads.forEach((grad, i) => g.output(`dx${i}`, grad));
    const session = await openSession(g, { threads: 1 });

    const run = () =>
      session.run({
        ...integers,
        ...Object.fromEntries(values.map((data, i) => [`x${i}`, { data, dims: shapes[i]! }])),
      });
    const analytic = await run();
    for (const [i, data] of values.entries()) {
      const dx = analytic[`dx${i}`]!;
      expect(dx.length).toBe(data.length);
      for (let j = 0; j < data.length; j++) {
        const h = 2e-3;
        const at = data[j]!;
        data[j] = at + h;
        const above = (await run())['loss']![0]!;
        data[j] = at - h;
        const below = (await run())['loss']![0]!;
        data[j] = at;
        expect(Math.abs(dx[j]! - (above - below) / (2 * h))).toBeLessThan(2e-3);
      }
    }
    await session.close();
  },
);

test('no gradient flows through stopGradient', async () => {
  const g = new Graph();
  const x = g.input('x', 'float32', [2]);
  const [dx] = gradients(g, ops.reduceSum(g, ops.mul(g, ops.stopGradient(g, ops.mul(g, x, x)), x), [0], false), [x]);
  g.output('dx', dx!);
  const session = await openSession(g, { threads: 1 });
  expect([...(await session.run({ x: { data: Float32Array.of(3, -2), dims: [2] } }))['dx']!]).toEqual([9, 4]);
  await session.close();
});

const int = (g: Graph, value: bigint): Value => g.initializer(`int_${value}`, BigInt64Array.of(value), []);
