// What a payer's requests that never start cost its next ones: nothing.
import { expect, test } from 'vitest';
import { compareRanks, createFairRanks } from './rank.ts';

test('requests that were refused, or left while they waited, do not push back the next one of their payer', () => {
  const ranks = createFairRanks();
  const arrive = (payer: string, size = 1) => ranks.assign({ priority: 0, payer, size });
  for (let i = 0; i < 50; i++) ranks.withdraw(arrive('unlucky', 8), 8);
  const other = [arrive('other'), arrive('other')];
  const next = arrive('unlucky');
  expect([...other, next].toSorted(compareRanks)).toEqual([other[0], next, other[1]]);
});

test('what has started is paid, whatever leaves beside it', () => {
  const ranks = createFairRanks();
  const arrive = () => ranks.assign({ priority: 0, payer: 'a', size: 4 });
  const [started, left] = [arrive(), arrive()];
  ranks.begin(started);
  ranks.withdraw(left, 4);
  expect(arrive().startTag).toBe(4);
});
