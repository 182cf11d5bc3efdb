import { expect, test } from 'vitest';
import { sortRows, type TrajectoryRow } from './rows.ts';

const rows = [
  { key: 'a', reward: 1, advantage: null },
  { key: 'b', reward: 0, advantage: 2 },
  { key: 'c', reward: 1, advantage: -1 },
] as unknown as TrajectoryRow[];
const keys = (sorted: readonly TrajectoryRow[]) => sorted.map(({ key }) => key).join('');

test('rows are sorted, equal rows keep their order, and unknown numbers come last', () => {
  expect(keys(sortRows(rows, { by: 'order', isDown: false }))).toBe('abc');
  expect(keys(sortRows(rows, { by: 'order', isDown: true }))).toBe('cba');
  expect(keys(sortRows(rows, { by: 'reward', isDown: true }))).toBe('acb');
  expect(keys(sortRows(rows, { by: 'advantage', isDown: true }))).toBe('bca');
  expect(keys(sortRows(rows, { by: 'advantage', isDown: false }))).toBe('cba');
});
