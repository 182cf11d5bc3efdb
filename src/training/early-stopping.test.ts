// The rules of Transformers' EarlyStoppingCallback, and which evaluation is best.
import { expect, test } from 'vitest';
import { describeStop, isEvaluated, isStopped, judge, NOTHING_EVALUATED, type Standing } from './early-stopping.ts';

const BY_LOSS = { everySteps: 2, metric: 'val/loss', patience: 2, threshold: 0.1, loadsBest: true } as const;

const after = (values: readonly number[], settings: Parameters<typeof judge>[0] = BY_LOSS): Standing =>
  values.reduce(
    (standing, value, i) => judge(settings, standing, (i + 1) * 2, { [settings.metric]: value }),
    NOTHING_EVALUATED,
  );

test('every so many steps and the last one are evaluated', () => {
  expect([1, 2, 3, 4, 5].filter((step) => isEvaluated(BY_LOSS, step, 5))).toEqual([2, 4, 5]);
});

test('an improvement within the threshold is the best, and counts as none', () => {
  const creeping = after([1, 0.95, 0.9]);
  expect(creeping).toEqual({ best: { step: 6, metrics: { 'val/loss': 0.9 } }, withoutImprovement: 2 });
  expect(isStopped(BY_LOSS, creeping)).toBe(true);
  expect(isStopped({ patience: null }, creeping)).toBe(false);
});

test('a large enough improvement restarts the count; the threshold is compared with the best so far', () => {
  expect(after([1, 1.2, 0.8])).toMatchObject({ best: { step: 6 }, withoutImprovement: 0 });
  expect(after([1, 0.95, 0.86])).toMatchObject({ best: { step: 6 }, withoutImprovement: 2 });
  expect(isStopped(BY_LOSS, after([1, 1.2]))).toBe(false);
});

test('rewards and accuracies are better when higher', () => {
  const byAccuracy = { metric: 'val/rewards/accuracies', threshold: 0 } as const;
  expect(after([0.5, 0.75, 0.75, 0.6], byAccuracy)).toMatchObject({ best: { step: 4 }, withoutImprovement: 2 });
});

test('a value that is not a number is no improvement, even as the first value', () => {
  expect(after([NaN, 1])).toMatchObject({ best: { step: 4 }, withoutImprovement: 0 });
  expect(after([1, NaN])).toMatchObject({ best: { step: 2 }, withoutImprovement: 1 });
});

test('the reason for stopping names metric, threshold, evaluations and the best', () => {
  const reason = 'val/loss did not improve by more than 0.1 in 2 evaluations; the best was 0.5 at gradient step 2';
  expect(describeStop(BY_LOSS, after([0.5, 1, 1]))).toBe(reason);
});
