// Which checkpoints are kept under a limit.
import { expect, test } from 'vitest';
import { isGreaterBetter, surplusCheckpoints, type SavePolicy } from './save-policy.ts';

const rewards = [0.1, 0.9, 0.3, 0.9, 0.2, 0.4].map((reward, step) => ({ step, metrics: { 'val/reward': reward } }));
const BY_REWARD: SavePolicy = { totalLimit: 3, bestMetric: 'val/reward', greaterIsBetter: true };

const gone = (policy: Partial<SavePolicy>, needed: readonly number[] = [], rows = rewards) =>
  surplusCheckpoints({ ...BY_REWARD, ...policy }, rows, (step) => needed.includes(step)).map(({ step }) => step);

test('the newest stay, as many as the limit says', () => {
  expect(gone({ bestMetric: null })).toEqual([0, 1, 2]);
  expect(gone({ bestMetric: null, totalLimit: 1 })).toEqual([0, 1, 2, 3, 4]);
  expect(gone({ bestMetric: null, totalLimit: 6 })).toEqual([]);
});

test('the best checkpoint is kept in addition to the newest even at a limit of one; among equals it is the first', () => {
  expect(gone({})).toEqual([0, 2, 3]);
  expect(gone({ totalLimit: 1 })).toEqual([0, 2, 3, 4]);
  expect(gone({ greaterIsBetter: false })).toEqual([1, 2, 3]);
});

test('without a value of the metric a checkpoint is not the best', () => {
  const rows = [...rewards, { step: 6, metrics: {} }] as typeof rewards;
  expect(gone({ totalLimit: 2 }, [], rows)).toEqual([0, 2, 3, 4, 5]);
  expect(gone({ bestMetric: 'val/f1' })).toEqual([0, 1, 2]);
});

test('checkpoints that are still needed are kept in addition', () => {
  expect(gone({}, [0, 3])).toEqual([2]);
});

test('a loss is better when it is lower', () => {
  expect(['loss', 'val/loss', 'val/reward'].map(isGreaterBetter)).toEqual([false, false, true]);
});
