import { expect, test } from 'vitest';
import { createCurveSampler } from './run-curves.ts';

const sampled = (lines: readonly object[], pointsMax: number, valuesMax?: number) => {
  const sampler = createCurveSampler(pointsMax, lines.length, valuesMax);
  for (const [at, line] of lines.entries()) sampler.add(at, JSON.stringify(line));
  return Object.fromEntries(sampler.curves());
};

test('a short history has all its points, with the steps that the script logged; text and lists have no curve', () => {
  const lines = [{ _step: 0, loss: 2, note: 'a' }, { _step: 5, loss: 1, eval: { acc: 0.5 } }, { loss: [3] }];
  expect(sampled(lines, 10)).toMatchObject({
    loss: { steps: [0, 5], values: [2, 1] },
    'eval.acc': { steps: [5], values: [0.5] },
  });
});

test('of a long history each point has the last value of its lines, and a rare number keeps every value', () => {
  const lines = Array.from({ length: 1_000 }, (_, at) => ({
    _step: at,
    loss: at,
    ...(at % 97 === 0 ? { acc: at } : {}),
  }));
  const { loss, acc } = sampled(lines, 100);
  expect([loss!.steps.length, loss!.steps.at(-1), loss!.values[0]]).toEqual([100, 999, 9]);
  expect(acc!.steps).toEqual(lines.filter(({ acc }) => acc !== undefined).map(({ _step }) => _step));
});

test('many names share the room: curves become coarser and still end with the last values', () => {
  const names = Array.from({ length: 50 }, (_, at) => `n${at}`);
  const lines = Array.from({ length: 400 }, (_, at) => Object.fromEntries(names.map((name) => [name, at])));
  const curves = Object.values(sampled(lines, 400, 1_000));
  expect(curves).toHaveLength(50);
  expect(curves.reduce((sum, { values }) => sum + values.length, 0)).toBeLessThanOrEqual(1_000);
  expect(curves.every(({ values }) => values.at(-1) === 399)).toBe(true);
});
