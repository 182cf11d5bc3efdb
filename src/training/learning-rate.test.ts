import { expect, test } from 'vitest';
import { rewardSpreadTrend, rowLearningRate } from './learning-rate.ts';
import { resolveRlConfig } from './rl-config.ts';

test('an RL job without a learning rate uses 0.3 over the hidden size', () => {
  const rates = [192, 576, 4096, null].map((hiddenSize) => resolveRlConfig({}, { hiddenSize }).optimizer.learningRate);
  expect(rates).toEqual([1.6e-3, 5.2e-4, 7.3e-5, 5e-6]);
  expect(resolveRlConfig({ learningRate: 1e-3 }, { hiddenSize: 192 }).optimizer.learningRate).toBe(1e-3);
});

test('the rate of a row grows with the power of its sequences', () => {
  const config = resolveRlConfig({ learningRate: 2e-5, sequenceCountPower: 0.5 });
  expect(rowLearningRate(config, 9, 1)).toBeCloseTo(6e-5, 15);
  expect(rowLearningRate(resolveRlConfig({ learningRate: 2e-5 }), 9, 0.5)).toBeCloseTo(1e-5, 15);
});

test('the trend of the spread is the fitted line at the last step over its intercept', () => {
  const line = [0, 1, 2, 4].map((step) => ({ step, spread: 0.8 - 0.1 * step }));
  expect(rewardSpreadTrend(line)).toBeCloseTo(0.4 / 0.8, 12);
  expect(rewardSpreadTrend(line.slice(0, 1))).toBe(1);
  expect(rewardSpreadTrend([])).toBe(1);
});

test('a line that starts below zero changes nothing; one that ends below zero stops at zero', () => {
  expect(rewardSpreadTrend([2, 3].map((step) => ({ step, spread: step - 1.5 })))).toBe(1);
  expect(
    rewardSpreadTrend([
      { step: 1, spread: 1 },
      { step: 2, spread: 0.5 },
      { step: 4, spread: 0 },
    ]),
  ).toBeCloseTo(0, 1);
});
