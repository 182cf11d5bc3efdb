import { expect, test } from 'vitest';
import type { HistoryStep } from '../api/wire.ts';
import { pointsOf } from './history-points.ts';

const row = (fields: Partial<HistoryStep>): HistoryStep => ({
  ...{ id: 's', step: 1, job_id: null, type: 'rl' as const, status: null, seconds: null, num_gradient_steps: 0 },
  ...{ training_start: null, training_end: null, metrics: {}, skipped: {}, ...fields },
});

test('a step without anything to train shows the reward of its checkpoint', () => {
  const points = pointsOf([
    row({ metrics: { reward: 0.5, 'train/reward': 0.5 } }),
    row({ step: 2, metrics: { 'train/reward': 1 } }),
  ]);
  expect(points.map(({ values }) => values)).toEqual([{ reward: 0.5 }, { reward: 1 }]);
});

test('tokens and samples add up over the steps, until a step does not say them', () => {
  const steps = [
    row({ step: 0, type: null }),
    row({ num_gradient_steps: 3, metrics: { num_tokens: 10, num_trajectories: 8 } }),
    row({ num_gradient_steps: 2, type: 'dpo', metrics: { num_tokens: 5, num_pairs: 4 } }),
    row({ num_gradient_steps: 3, type: 'sft', metrics: { num_tokens: 7, num_rows: 10 / 3 } }),
    row({ num_gradient_steps: 2, type: 'sft', metrics: { num_tokens: 7 } }), // of a server that did not count them
  ];
  expect(pointsOf(steps).map(({ tokens, samples }) => [tokens, samples])).toEqual([
    [0, 0],
    [10, 8],
    [15, 16],
    [22, 26],
    [29, null],
  ]);
});

test('step 0 has the time at which the first job began, and a queued job has none', () => {
  const [start, end] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:01:00.000Z'];
  const steps = [
    row({ step: 0, type: null }),
    row({ job_id: 'a', training_start: start, training_end: end }),
    row({ job_id: 'b', step: null }),
  ];
  expect(pointsOf(steps).map(({ time }) => time)).toEqual([Date.parse(start) / 1000, Date.parse(end) / 1000, null]);
});
