// A weight that arrives a few rows at a time is stored as if it had arrived whole.
import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { BLOCKS8, FLOAT32, OUTPUTS8, type Encoding } from './encodings.ts';

const [OUT, IN] = [10, 40];
const random = createRandom(1);
const weight = Float32Array.from({ length: OUT * IN }, () => random.next() - 0.5);

/** By tensor of the encoding, its elements. */
function encoded(encoding: Encoding, rowsAtOnce: number): number[][] {
  const encode = encoding.encoder([OUT, IN]);
  const tensors = encoding.specs('w', [OUT, IN]).map(({ shape }) => new Array<number>(shape.reduce((a, b) => a * b)));
  for (let first = 0; first < OUT; first += rowsAtOnce) {
    const count = Math.min(rowsAtOnce, OUT - first);
    const values = weight.slice(first * IN, (first + count) * IN);
    for (const { tensor, at, data } of encode({ first, count, values }))
      data.forEach((value: number | bigint, i: number) => (tensors[tensor]![at + i] = Number(value)));
  }
  return tensors;
}

test.each([FLOAT32, BLOCKS8, OUTPUTS8])('$id', (encoding) => {
  const whole = encoded(encoding, OUT);
  for (const values of whole) expect(values.findIndex((value) => value === undefined)).toBe(-1);
  for (const rowsAtOnce of [1, 3]) expect(encoded(encoding, rowsAtOnce)).toEqual(whole);
});
