import { expect, test } from 'vitest';
import { distancesOf, labelsOf, marksBetween, nameOf } from './axis.ts';

test('marks that differ have different labels, with no more digits than that takes', () => {
  expect(labelsOf([0, 0.5, 1])).toEqual(['0', '0.5', '1']);
  expect(labelsOf([0.99999, 0.999995, 1])).toEqual(['0.99999', '0.999995', '1']);
  expect(labelsOf([-1.2e-7, 0])).toEqual(['−1.2e-7', '0']);
});

test('marks are found at any scale, and never more than a chart can show', () => {
  expect(marksBetween(0, 1e-7, 5e-8)).toEqual([0, 5e-8, 1e-7]);
  expect(marksBetween(0, 1, 1e-9).length).toBe(50);
  expect(distancesOf('tokens').at(-1)).toBeGreaterThan(1e12);
});

test('a place on an axis is named by what the axis counts', () => {
  expect([nameOf('step', 12), nameOf('time', 7_500), nameOf('samples', 1_234)]).toEqual([
    'step 12',
    'after 2 h 5 min',
    '1\u2009234 samples',
  ]);
});
