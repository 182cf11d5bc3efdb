import { expect, test } from 'vitest';
import { learningRates } from './learning-rates.ts';

test('rates rise to the peak over the warm-up, then fall along a line to nothing', () => {
  expect(learningRates(10, { peak: 1, warmupRatio: 0.2 })).toEqual([
    0.5,
    1,
    1,
    7 / 8,
    6 / 8,
    5 / 8,
    4 / 8,
    3 / 8,
    2 / 8,
    1 / 8,
  ]);
  const [first, ...rest] = learningRates(100);
  expect(first).toBeCloseTo(2e-5, 12);
  expect(Math.max(...rest)).toBe(2e-4);
});

test('a cosine is at half of the peak half-way; a constant stays', () => {
  const cosine = learningRates(8, { peak: 2, kind: 'cosine', warmupRatio: 0 });
  expect(cosine[0]).toBe(2);
  expect(cosine[4]).toBeCloseTo(1, 12);
  expect(cosine.every((rate, i) => i === 0 || rate < cosine[i - 1]!)).toBe(true);
  expect(learningRates(3, { peak: 2, kind: 'constant', warmupRatio: 0 })).toEqual([2, 2, 2]);
});

test('one batch, and none, have a rate each', () => {
  expect(learningRates(1)).toEqual([2e-4]);
  expect(learningRates(0)).toEqual([]);
  for (const rate of learningRates(7, { warmupRatio: 1 })) expect(rate).toBeGreaterThan(0);
});
