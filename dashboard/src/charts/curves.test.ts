import { expect, test } from 'vitest';
import { curvesOf, smoothed, type Point, type Track } from './curves.ts';

const track = (id: string, ...points: Point[]): Track => ({ id, name: id, points });
const curvesIn = (tracks: Track[], axis: Parameters<typeof curvesOf>[1] = 'step') => {
  const { x, curves, unplaced } = curvesOf(tracks, axis, 0);
  return { x, unplaced, curves: curves.map(({ title, lines }) => [title, ...lines.map(({ values }) => values)]) };
};

test('smoothing leaves a constant unchanged from the first value on, and keeps gaps', () => {
  const values = smoothed([2, null, 2, 2], 0.9);
  expect(values[1]).toBeNull();
  for (const at of [0, 2, 3]) expect(values[at]).toBeCloseTo(2, 12);
});

test('with half of the weight on the past, the second value counts twice as much as the first', () => {
  expect(smoothed([0, 3], 0.5)[1]).toBeCloseTo(2, 12);
});

test('losses of different kinds of training are curves of their own; what means the same in all is one', () => {
  const steps = [
    { step: 1, kind: 'SFT', values: { loss: 2, 'val/loss': 3, seconds: 5 } },
    { step: 2, kind: 'RL', values: { loss: -0.01, seconds: 6 } },
  ];
  expect(curvesIn([track('m', ...steps)]).curves).toEqual([
    ['loss (RL)', [null, -0.01]],
    ['loss (SFT)', [2, null]],
    ['val/loss (SFT)', [3, null]],
    ['seconds', [5, 6]],
  ]);
  expect(curvesIn([track('m', steps[0]!)]).curves.map(([title]) => title)).toEqual(['loss', 'val/loss', 'seconds']);
});

test('tracks begin together on the axis of time, and steps of which it is not known are counted', () => {
  const a = track('a', { step: 1, time: 100, values: { r: 1 } }, { step: 2, time: 160, values: { r: 2 } });
  const b = track('b', { step: 1, time: 900, values: { r: 3 } }, { step: 2, time: null, values: { r: 4 } });
  expect(curvesIn([a, b], 'time')).toEqual({ x: [0, 60], unplaced: 1, curves: [['r', [1, 2], [3, null]]] });
  expect(curvesIn([a, b], 'tokens')).toEqual({ x: [], unplaced: 4, curves: [] });
});

test('a metric is constant if all tracks have one value at two places or more; one measurement is not', () => {
  const constants = (...values: (number | null)[]) => {
    const points = values.map((lr, step) => ({ step, values: lr === null ? {} : { lr } }));
    return curvesOf([track('m', ...points)], 'step', 0.5).curves.map(({ constant }) => constant);
  };
  expect(constants(0.1, 0.1, 0.1 + 1e-17)).toEqual([0.1]);
  expect(constants(0.1, 0.2)).toEqual([null]);
  expect(constants(null, 0.1, null)).toEqual([null]);
});
