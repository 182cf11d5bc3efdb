import { expect, test } from 'vitest';
import { curvesOf, smoothed, type ModelHistory } from './curves.ts';

test('smoothing leaves a constant unchanged from the first value on, and keeps gaps', () => {
  const values = smoothed([2, null, 2, 2], 0.9);
  expect(values[1]).toBeNull();
  for (const at of [0, 2, 3]) expect(values[at]).toBeCloseTo(2, 12);
});

test('with half of the weight on the past, the second value counts twice as much as the first', () => {
  expect(smoothed([0, 3], 0.5)[1]).toBeCloseTo(2, 12);
});

test('a step without anything to train shows the reward of its checkpoint', () => {
  const at = (step: number, metrics: Record<string, number>) =>
    ({ step, metrics, seconds: null, skipped: {}, job_id: null }) as unknown as ModelHistory['steps'][number];
  const steps = [at(1, { reward: 0.5, 'train/reward': 0.5 }), at(2, { 'train/reward': 1 })];
  const { metrics } = curvesOf([{ id: 'm', name: 'm', steps }], 0);
  expect([...metrics].map(([name, [line]]) => [name, line!.values])).toEqual([['reward', [0.5, 1]]]);
});
