import { expect, test } from 'vitest';
import { labelsOf, trackOf } from './run-tracks.ts';

test('curves become points in the order of their steps, with the time of the next line that has one', () => {
  const curves = {
    loss: { steps: [0, 9], values: [2, 1] },
    acc: { steps: [5], values: [0.5] },
    _runtime: { steps: [0, 9], values: [3, 30] },
    _timestamp: { steps: [0], values: [1.7e9] },
  };
  expect(trackOf('id', 'r', curves)).toEqual({
    id: 'id',
    name: 'r',
    points: [
      { step: 0, time: 3, values: { loss: 2 } },
      { step: 5, time: 30, values: { acc: 0.5 } },
      { step: 9, time: 30, values: { loss: 1 } },
    ],
  });
  expect(trackOf('id', 'r', { loss: curves.loss }).points[0]!.time).toBeNull();
});

test('runs of the same display name are told apart by their ids', () => {
  const named = [
    { name: 'x', run: '1' },
    { name: 'y', run: '2' },
    { name: 'x', run: '3' },
  ];
  expect(labelsOf(named)).toEqual(['x (1)', 'y', 'x (3)']);
});
