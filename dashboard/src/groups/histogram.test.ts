import { expect, test } from 'vitest';
import { histogram } from './histogram.ts';

test('few different rewards get a bar each', () => {
  expect(histogram([1, 0, 1, 0.5, 0])).toEqual([
    { from: 0, to: 0, isPoint: true, count: 2 },
    { from: 0.5, to: 0.5, isPoint: true, count: 1 },
    { from: 1, to: 1, isPoint: true, count: 2 },
  ]);
  expect(histogram([2, 2])).toEqual([{ from: 2, to: 2, isPoint: true, count: 2 }]);
  expect(histogram([])).toEqual([]);
});

test('many rewards fall into bars of equal width, each into one', () => {
  const values = Array.from({ length: 100 }, (_, i) => i / 99);
  const bars = histogram(values, 10);
  expect(bars).toHaveLength(10);
  expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(100);
  expect(bars.every(({ count }) => count >= 9 && count <= 11)).toBe(true);
  expect(bars[0]!.from).toBe(0);
  expect(bars.at(-1)!.to).toBeCloseTo(1);
});

test('values that are not numbers are left out, and huge ones are counted', () => {
  const bars = histogram([NaN, Infinity, ...Array.from({ length: 9 }, (_, i) => (i - 4) * 4e307)], 4);
  expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(9);
});
