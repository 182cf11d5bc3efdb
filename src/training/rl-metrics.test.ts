import { expect, test } from 'vitest';
import { rewardStandardError, type GroupRewards } from './rl-metrics.ts';

const groups = (...rewards: readonly (readonly number[])[]): GroupRewards[] =>
  rewards.map((group) => ({
    trajectories: group.map((reward) => ({ reward, metrics: {} })),
    exceptionCount: 0,
    metrics: {},
  }));

test('the standard error of the mean reward is that of the means of groups', () => {
  // means 0.5, 1 and 0: a sample deviation of 0.5
  expect(rewardStandardError(groups([0, 1], [1, 1], [0, 0]))).toBeCloseTo(0.5 / Math.sqrt(3), 12);
  expect(rewardStandardError(groups([0, 1], [1, 0]))).toBe(0);
});

test('for a single group it is that of its trajectories; groups without any do not count', () => {
  expect(rewardStandardError(groups([0, 1, 1, 0], []))).toBeCloseTo(Math.sqrt(1 / 3 / 4), 12);
});

test('a single reward has none', () => {
  for (const one of [groups(), groups([]), groups([1])]) expect(rewardStandardError(one)).toBeNull();
});
