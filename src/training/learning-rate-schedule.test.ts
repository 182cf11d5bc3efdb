import { expect, test } from 'vitest';
import { fittedLearningRates } from './fitted-learning-rate.ts';
import { scheduleRates, scheduleWarnings, type LearningRateSchedule } from './learning-rate-schedule.ts';
import { resolveSftConfig } from './sft-config.ts';

const schedule = (change: Partial<LearningRateSchedule>): LearningRateSchedule => ({
  type: 'linear',
  warmupSteps: 0,
  warmupRatio: 0,
  ...change,
});
const ratesOf = (steps: number, change: Partial<LearningRateSchedule>) => {
  const { rateOf } = scheduleRates(1, schedule(change), { batches: steps, steps });
  return Array.from({ length: steps }, (_, step) => rateOf({ batch: step, step }));
};

test('a ratio of less than one step makes no warm-up, so that no batch of a short job is wasted', () => {
  expect(ratesOf(1, { warmupRatio: 0.1 })).toEqual([1]);
  expect(ratesOf(2, { warmupRatio: 0.1 })).toEqual([1, 0.5]);
  expect(ratesOf(9, { warmupRatio: 0.1 })[0]).toBe(1);
  expect(ratesOf(10, { warmupRatio: 0.1 }).slice(0, 2)).toEqual([0, 1]);
});

test('a ratio leaves at least one step after the warm-up', () => {
  expect(ratesOf(2, { warmupRatio: 0.5 })).toEqual([0, 1]);
  expect(ratesOf(3, { warmupRatio: 1 })).toEqual([0, 0.5, 1]);
  expect(ratesOf(0, { warmupRatio: 1 })).toEqual([]);
});

test('a warm-up that takes all steps gets a warning', () => {
  const warned = (warmupSteps: number) =>
    scheduleWarnings(scheduleRates(1, schedule({ warmupSteps }), { batches: 3, steps: 3 }), 3);
  expect(warned(2)).toEqual([]);
  expect(warned(3)).toEqual([expect.stringContaining('takes 3 steps and the job has 3')]);
});

test('a listed rate belongs to its batch, also where batches before it had nothing to train', () => {
  const { rateOf } = scheduleRates([0.1, 0.2], schedule({}), { batches: 2, steps: 1 });
  expect(rateOf({ batch: 1, step: 0 })).toBe(0.2);
  expect(() => scheduleRates([0.1], schedule({}), { batches: 2, steps: 2 })).toThrow('has 1 value for 2 batches');
});

test('without a rate the size of the model decides: of the fitted rates the lower one, in two digits', () => {
  const rateAt = (hiddenSize: number | null) => resolveSftConfig({}, hiddenSize).learningRate;
  expect([192, 2000, 4096, 8192].map(rateAt)).toEqual([6e-4, 5e-4, 2.9e-4, 1.7e-4]);
  expect(rateAt(null)).toBe(5e-5);
  expect(resolveSftConfig({ learningRate: 1e-3 }, 4096).learningRate).toBe(1e-3);
  expect(fittedLearningRates(4096).high).toBeCloseTo(5e-4 * (2000 / 4096) ** 0.0775, 12);
});
