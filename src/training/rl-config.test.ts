import { expect, test } from 'vitest';
import type { RlConfigInput } from '#domain/trajectory';
import { resolveRlConfig } from './rl-config.ts';

const correctionOf = (input: RlConfigInput, exactLogprobs: boolean) => {
  const { truncation, precalculates } = resolveRlConfig(input, { exactLogprobs }).loss;
  return [truncation, precalculates];
};

test('engines that differ are corrected for by truncated importance sampling; what a client chose stays', () => {
  expect(correctionOf({}, true)).toEqual([null, false]);
  expect(correctionOf({}, false)).toEqual([2, true]);
  expect(correctionOf({ truncatedImportanceSampling: 0 }, false)).toEqual([null, false]); // 0 switches it off
  expect(correctionOf({ precalculateLogprobs: false }, false)).toEqual([null, false]);
  expect(correctionOf({ precalculateLogprobs: true }, false)).toEqual([2, true]);
  expect(correctionOf({ truncatedImportanceSampling: 1.5 }, false)).toEqual([1.5, true]);
  expect(correctionOf({ truncatedImportanceSampling: 1.5, precalculateLogprobs: false }, false)).toEqual([1.5, false]);
  expect(correctionOf({ truncatedImportanceSampling: 3 }, true)).toEqual([3, false]);
});
