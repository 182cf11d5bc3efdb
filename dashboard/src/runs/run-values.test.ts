import { expect, test } from 'vitest';
import { columnsOf, firstColumns, ranSeconds, sortValue, valueOf, valuesOf } from './run-values.ts';

const runs = [
  {
    config: { lr: 1e-3, model: { rank: 8 }, seed: 1, layers: [1, 2] },
    summary: { loss: 0.5, reward: 1, _step: 9, note: 'x' },
  },
  { config: { lr: 1e-4, model: { rank: 8 }, layers: [1, 2] }, summary: { loss: 'NaN', _step: 9 } },
].map(valuesOf);

test('objects are named by their path, lists are texts, and what the library adds is left out', () => {
  expect([...runs[0]!.config]).toEqual([
    ['lr', 1e-3],
    ['model.rank', 8],
    ['seed', 1],
    ['layers', '[1,2]'],
  ]);
  expect([...runs[0]!.summary.keys()]).toEqual(['loss', 'reward', 'note']);
  expect(valueOf(runs[0]!, { of: 'config', name: 'model.rank' })).toBe(8);
});

test('a table begins with the settings in which runs differ, and with measured numbers', () => {
  const columns = columnsOf(runs);
  expect(columns.filter(({ of, differs }) => of === 'config' && differs).map(({ name }) => name)).toEqual([
    'lr',
    'seed',
  ]);
  expect(firstColumns(columns)).toEqual(['config/lr', 'config/seed', 'summary/reward', 'summary/loss']);
});

test('runs without a number come after those with one, largest first', () => {
  const values = [3, undefined, 'NaN', -2, null].map((value) => sortValue(value, true));
  expect(values.toSorted((a, b) => Number(b) - Number(a))).toEqual([3, -2, -Infinity, -Infinity, -Infinity]);
});

test('a run took what the library measured, otherwise the time between its first and its last change', () => {
  const times = { created_at: '2026-11-26T00:00:00.000Z', updated_at: '2026-11-26T00:01:00.000Z' };
  expect(ranSeconds({ ...times, summary: { _runtime: 12 } })).toBe(12);
  expect(ranSeconds({ ...times, summary: {} })).toBe(60);
});
