// A weight that arrives a few rows at a time is stored as if it had arrived whole.
import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { BLOCKS8, EXPERTS8, FLOAT32, OUTPUTS8, type Encoding } from './encodings.ts';

const [OUT, IN, EXPERTS] = [20, 40, 2];
const random = createRandom(1);
const weight = Float32Array.from({ length: EXPERTS * OUT * IN }, () => random.next() - 0.5);

/** By tensor of the encoding, its elements. */
function encoded(encoding: Encoding, shape: readonly number[], rowsAtOnce: number): number[][] {
  const encode = encoding.encoder(shape);
  const tensors = encoding.specs('w', shape).map(({ shape }) => new Array<number>(shape.reduce((a, b) => a * b)));
  for (let first = 0; first < EXPERTS * OUT; first += rowsAtOnce) {
    const count = Math.min(rowsAtOnce, EXPERTS * OUT - first);
    const values = weight.slice(first * IN, (first + count) * IN);
    for (const { tensor, at, data } of encode({ first, count, values }))
      data.forEach((value: number | bigint, i: number) => (tensors[tensor]![at + i] = Number(value)));
  }
  return tensors;
}

const MATRIX = [EXPERTS * OUT, IN];
const STACKED = [EXPERTS, 1, 1, OUT, IN];

test.each([
  { encoding: FLOAT32, shape: MATRIX, most: EXPERTS * OUT },
  { encoding: BLOCKS8, shape: MATRIX, most: EXPERTS * OUT },
  { encoding: OUTPUTS8, shape: MATRIX, most: EXPERTS * OUT },
  { encoding: EXPERTS8, shape: STACKED, most: OUT },
])('$encoding.id', ({ encoding, shape, most }) => {
  const whole = encoded(encoding, shape, most);
  for (const values of whole) expect(values.findIndex((value) => value === undefined)).toBe(-1);
  for (const rowsAtOnce of [1, 4]) expect(encoded(encoding, shape, rowsAtOnce)).toEqual(whole);
});
