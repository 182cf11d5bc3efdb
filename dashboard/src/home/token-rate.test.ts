import { expect, test } from 'vitest';
import { tokenRate } from './token-rate.ts';

test('tokens per second are the growth between the first and the last sample', () => {
  const samples = [0, 3_000, 6_000].map((atMs, at) => ({ atMs, tokens: 100 + 60 * at }));
  expect(tokenRate(samples)).toBe(20);
  expect(tokenRate(samples.slice(0, 1))).toBeNull();
  expect(tokenRate([])).toBeNull();
});
