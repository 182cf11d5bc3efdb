import { afterEach, expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { Graph } from '../graph/graph.ts';
import { openSession, type Session } from '../graph/session.ts';
import { multiplyCodes, multiplyCodesSlowly, quantizeOutputs8, type OutputCodes } from './w8a8.ts';

let session: Session | null = null;
afterEach(async () => {
  await session?.close();
  session = null;
});

function noise(length: number, seed: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length }, () => random.next() + random.next() - 1);
}

/** The product in ONNX Runtime, for any number of rows. */
async function openProduct({ codes, scales }: OutputCodes, threads = 1) {
  const [inFeatures, outFeatures] = [codes.length / scales.length, scales.length];
  const g = new Graph();
  const x = g.input('x', 'float32', ['rows', inFeatures]);
  const c = g.initializer('codes', codes, [inFeatures, outFeatures]);
  g.output('y', multiplyCodes(g, x, c, g.initializer('scales', scales, [outFeatures])));
  await session?.close();
  const opened = (session = await openSession(g, { threads }));
  return async (x: Float32Array) =>
    (await opened.run({ x: { data: x, dims: [x.length / inFeatures, inFeatures] } }))['y']!;
}

test.each([
  { rows: 1, inFeatures: 64, outFeatures: 48 },
  { rows: 5, inFeatures: 33, outFeatures: 130 },
  { rows: 40, inFeatures: 576, outFeatures: 17 },
])('the product is its slow twin, to the bit: $rows × $inFeatures × $outFeatures', async (size) => {
  const { rows, inFeatures, outFeatures } = size;
  const x = noise(rows * inFeatures, 1);
  const weight = quantizeOutputs8(noise(inFeatures * outFeatures, 2), inFeatures, outFeatures);
  const multiply = await openProduct(weight, 2);
  expect(await multiply(x)).toEqual(multiplyCodesSlowly(x, weight, rows));
});

test('a row gets the same bits alone and in a batch, with one thread and with two', async () => {
  const [inFeatures, outFeatures, rows] = [96, 1100, 33];
  const weight = quantizeOutputs8(noise(inFeatures * outFeatures, 3), inFeatures, outFeatures);
  const x = noise(rows * inFeatures, 4);
  const together = await (await openProduct(weight, 2))(x);
  const multiply = await openProduct(weight, 1);
  for (let row = 0; row < rows; row++) {
    const alone = await multiply(x.subarray(row * inFeatures, (row + 1) * inFeatures));
    expect(together.subarray(row * outFeatures, (row + 1) * outFeatures), `row ${row}`).toEqual(alone);
  }
});

test('sums of the largest codes are exact: no processor may let them overflow', async () => {
  const [inFeatures, outFeatures] = [256, 64];
  // 255 (unsigned) times ±127, twice, overflows 16 bits, in which AVX2 and AVX-512 without VNNI keep sums of pairs.
  const weight = quantizeOutputs8(
    Float32Array.from({ length: inFeatures * outFeatures }, (_, at) => (at < inFeatures * 32 ? 2 : -2)),
    inFeatures,
    outFeatures,
  );
  const x = new Float32Array(3 * inFeatures).fill(1);
  const y = await (await openProduct(weight))(x);
  expect(y).toEqual(multiplyCodesSlowly(x, weight, 3));
  expect(y[0]).toBeCloseTo(512, 3);
  expect(y[32]).toBeCloseTo(-512, 3);
});

test('tokens and outputs of zeros return zeros, also next to others', async () => {
  const weight = quantizeOutputs8(Float32Array.from([1, 2, 0, 0, -3, 0.5]), 2, 3);
  const multiply = await openProduct(weight);
  const y = await multiply(Float32Array.from([0, 0, 1, -1]));
  expect(Array.from(y.subarray(0, 3), Math.abs)).toEqual([0, 0, 0]);
  expect(Math.abs(y[4]!)).toBe(0);
  expect(y[3]).toBeCloseTo(-1, 1);
});

test('every weight is within half a step of its output, and the largest of an output is exact', () => {
  const [inFeatures, outFeatures] = [50, 9];
  const weight = noise(inFeatures * outFeatures, 5);
  const { codes, scales } = quantizeOutputs8(weight, inFeatures, outFeatures);
  for (let o = 0; o < outFeatures; o++) {
    const step = scales[o]! * 127;
    const row = weight.subarray(o * inFeatures, (o + 1) * inFeatures);
    row.forEach((value, i) => expect(Math.abs(codes[i * outFeatures + o]! * step - value)).toBeLessThan(step * 0.501));
    const largest = row.reduce((best, value, i) => (Math.abs(value) > Math.abs(row[best]!) ? i : best), 0);
    expect(Math.abs(codes[largest * outFeatures + o]!)).toBe(127);
  }
});
