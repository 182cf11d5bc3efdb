import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { Graph, type Value } from '../graph/graph.ts';
import { matmulBlocks8 } from '../graph/ops.ts';
import { openSession } from '../graph/session.ts';
import { dequantizeBlocks8, quantizeBlocks8 } from './quantize.ts';

function noise(length: number, seed: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length }, () => random.next() + random.next() - 1);
}

/** `[rows, inner] · [columns, inner]ᵀ` in float64. */
function product(x: Float32Array, w: Float32Array, rows: number, inner: number, columns: number): number[] {
  return Array.from({ length: rows * columns }, (_, at) => {
    const [row, column] = [Math.floor(at / columns), at % columns];
    let sum = 0;
    for (let k = 0; k < inner; k++) sum += x[row * inner + k]! * w[column * inner + k]!;
    return sum;
  });
}

type Matmul = (g: Graph, x: Value, packed: Value, scales: Value, inFeatures: number, outFeatures: number) => Value;

/** Activations stay float32, so that only the layout of the weights is tested. */
const inFloat: Matmul = (g, x, packed, scales, inFeatures, outFeatures) => {
  const attributes = { K: inFeatures, N: outFeatures, bits: 8, block_size: 32, accuracy_level: 1 };
  const outputs = [{ dtype: 'float32', shape: [...x.shape.slice(0, -1), outFeatures] }] as const;
  return g.node('MatMulNBits', [x, packed, scales], outputs, attributes, { domain: 'com.microsoft' })[0]!;
};

async function runMatmul(
  matmul: Matmul,
  x: Float32Array,
  w: Float32Array,
  rows: number,
  inFeatures: number,
  outFeatures: number,
) {
  const { packed, scales } = quantizeBlocks8(w, inFeatures, outFeatures);
  const blocks = inFeatures / 32;
  const g = new Graph();
  const input = g.input('x', 'float32', [rows, inFeatures]);
  const b = g.initializer('packed', packed, [outFeatures, blocks, 32]);
  g.output('y', matmul(g, input, b, g.initializer('scales', scales, [outFeatures * blocks]), inFeatures, outFeatures));
  const session = await openSession(g, { threads: 1 });
  const { y } = await session.run({ x: { data: x, dims: [rows, inFeatures] } });
  await session.close();
  return Array.from(y!);
}

const largestDifference = (a: readonly number[], b: readonly number[]) =>
  Math.max(...a.map((value, i) => Math.abs(value - b[i]!)));

test.each([
  { rows: 1, inFeatures: 64, outFeatures: 48 },
  { rows: 5, inFeatures: 96, outFeatures: 130 },
])('MatMulNBits reads our layout: $rows × $inFeatures × $outFeatures', async ({ rows, inFeatures, outFeatures }) => {
  const x = noise(rows * inFeatures, 1);
  const w = noise(inFeatures * outFeatures, 2);
  const dequantized = dequantizeBlocks8(quantizeBlocks8(w, inFeatures, outFeatures), inFeatures, outFeatures);
  const expected = product(x, dequantized, rows, inFeatures, outFeatures);
  expect(largestDifference(await runMatmul(inFloat, x, w, rows, inFeatures, outFeatures), expected)).toBeLessThan(1e-4);
  // With accuracy_level 4 the kernel also rounds x to 8 bits per block.
  expect(largestDifference(await runMatmul(matmulBlocks8, x, w, rows, inFeatures, outFeatures), expected)).toBeLessThan(
    0.05,
  );
});

test('every weight is within half a step of its block, and the largest of a block is exact', () => {
  const finite = fc.float({ noNaN: true, min: -1e3, max: 1e3 });
  fc.assert(
    fc.property(
      fc.array(finite, { minLength: 70, maxLength: 70 }),
      fc.integer({ min: 1, max: 7 }),
      (values, outFeatures) => {
        const inFeatures = Math.floor(values.length / outFeatures);
        const w = Float32Array.from(values.slice(0, inFeatures * outFeatures));
        const quantized = quantizeBlocks8(w, inFeatures, outFeatures);
        const back = dequantizeBlocks8(quantized, inFeatures, outFeatures);
        const blocks = Math.ceil(inFeatures / 32);
        w.forEach((value, at) => {
          const [o, i] = [Math.floor(at / inFeatures), at % inFeatures];
          const scale = quantized.scales[o * blocks + Math.floor(i / 32)]!;
          expect(Math.abs(back[at]! - value)).toBeLessThanOrEqual(scale * 0.5001 + 1e-38);
        });
      },
    ),
  );
});

test('each weight has its place', () => {
  const [inFeatures, outFeatures] = [33, 200];
  const w = Float32Array.from({ length: inFeatures * outFeatures }, (_, at) => (at % 255) - 127);
  const { packed } = quantizeBlocks8(w, inFeatures, outFeatures);
  for (const [i, o] of [
    [0, 0],
    [31, 63],
    [5, 64],
    [32, 199],
  ] as const) {
    const block = Math.floor(i / 32);
    const inBlock = Array.from({ length: Math.min(32, inFeatures - block * 32) }, (_, k) =>
      Math.abs(w[o * inFeatures + block * 32 + k]!),
    );
    const code = Math.round((w[o * inFeatures + i]! / Math.max(...inBlock)) * 127);
    expect(packed[(o * 2 + block) * 32 + (i % 32)]).toBe(128 + code);
  }
});

test('zeros stay zeros, and a short last block is filled with the zero point', () => {
  const { packed, scales } = quantizeBlocks8(new Float32Array(40), 40, 1);
  expect(packed.every((code) => code === 128)).toBe(true);
  expect(packed.length).toBe(64);
  expect(Array.from(scales)).toEqual([0, 0]);
});
