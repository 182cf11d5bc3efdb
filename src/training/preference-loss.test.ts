import { expect, test } from 'vitest';
import { PREFERENCE_LOSSES } from '#domain/dpo';
import { comparePairs, preferenceLoss, type PreferenceLossConfig } from './preference-loss.ts';

const configs = PREFERENCE_LOSSES.flatMap((type): PreferenceLossConfig[] => [
  { type, beta: 0.1, labelSmoothing: 0 },
  { type, beta: 2, labelSmoothing: type === 'sigmoid' || type === 'robust' ? 0.2 : 0 },
]);

test.each(configs)('$type, beta $beta: the slope is the derivative', (config) => {
  const width = 1e-5;
  for (const h of [-7, -0.3, 0, 0.2, 4]) {
    const across = preferenceLoss(h + width, config).loss - preferenceLoss(h - width, config).loss;
    expect(preferenceLoss(h, config).slope).toBeCloseTo(across / (2 * width), 6);
  }
});

test('margins beyond the range of exp still have a finite loss', () => {
  const config: PreferenceLossConfig = { type: 'sigmoid', beta: 1, labelSmoothing: 0 };
  expect(preferenceLoss(-5_000, config)).toEqual({ loss: 5_000, slope: -1 });
  expect(preferenceLoss(5_000, config)).toEqual({ loss: 0, slope: 0 });
});

test('slopes of a batch are those of its scores, and metrics of pairs are named as in TRL', () => {
  const lengths = Uint32Array.of(2, 4, 1, 3);
  const reference = Float64Array.of(-3, -5, -1, -4);
  for (const config of configs) {
    const at = (scores: readonly number[]) =>
      comparePairs({ scores: Float64Array.from(scores), lengths }, reference, config);
    const scores = [-2, -6, -1.5, -3];
    const { slopes, metrics } = at(scores);
    for (const [i, slope] of slopes.entries()) {
      const moved = (by: number) => at(scores.map((score, place) => (place === i ? score + by : score))).loss;
      expect(slope).toBeCloseTo((moved(1e-5) - moved(-1e-5)) / 2e-5, 6);
    }
    expect(metrics['rewards/chosen']).toBeCloseTo((config.beta * (1 - 0.5)) / 2, 12);
    expect(metrics['rewards/rejected']).toBeCloseTo((config.beta * (-1 + 1)) / 2, 12);
    expect(metrics).toMatchObject({ 'rewards/accuracies': 0.5, 'logps/chosen': -1.75, 'logps/rejected': -4.5 });
  }
});

test('where the policy is its reference, no pair is won and sigmoid costs log 2', () => {
  const scores = Float64Array.of(-1, -2);
  const config: PreferenceLossConfig = { type: 'sigmoid', beta: 0.1, labelSmoothing: 0 };
  const { loss, metrics } = comparePairs({ scores, lengths: Uint32Array.of(1, 1) }, scores, config);
  expect(loss).toBe(Math.LN2);
  expect(metrics).toMatchObject({ 'rewards/accuracies': 0, 'rewards/margins': 0 });
});
