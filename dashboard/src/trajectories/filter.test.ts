import { expect, test } from 'vitest';
import { filterRows, namesIn, readRowChoice, sortingInAddress } from './filter.ts';
import type { TrajectoryRow } from './rows.ts';

const row = (key: string, fields: Partial<TrajectoryRow>) =>
  ({ key, reward: 0, num_sampled_tokens: 1, metrics: {}, metadata: {}, ...fields }) as TrajectoryRow;
const rows = [
  row('a', { reward: 1, num_sampled_tokens: 50, metrics: { solved: true }, metadata: { topic: 'Sums' } }),
  row('b', { reward: 0.5, metrics: { solved: false }, is_trained: false, reason: 'equal_rewards' }),
  row('c', { reward: -1, metadata: { topic: { of: 'sums' } }, is_trained: true, reason: 'truncated' }),
];
const found = (address: string) => {
  const kept = filterRows(rows, readRowChoice(new URLSearchParams(address)));
  return kept.map(({ key }) => key).join('');
};

test.each([
  ['', 'abc'],
  ['reward_min=0.5', 'ab'],
  ['reward_max=0&tokens_max=2', 'c'],
  ['tokens_min=2', 'a'],
  ['metric=solved&metric_min=1', 'a'],
  ['metric=solved', 'abc'],
  ['training=not+trained', 'b'],
  ['training=trained', 'c'],
  ['training=equal+rewards', 'b'],
  ['meta=topic&has=SUMS', 'ac'],
  ['reward_min=much', 'abc'],
])('the address ?%s shows the rows %s', (address, keys) => expect(found(address)).toBe(keys));

test('the order is read back as it is written, and names of what rows have are offered once', () => {
  for (const sort of ['-reward', 'num_sampled_tokens', '-order'])
    expect(sortingInAddress(readRowChoice(new URLSearchParams({ sort })).sorting)).toBe(sort);
  expect(sortingInAddress(readRowChoice(new URLSearchParams('sort=up')).sorting)).toBeNull();
  expect(namesIn(rows)).toEqual({
    ...{ metrics: ['solved'], metadata: ['topic'] },
    training: ['equal rewards', 'not trained', 'trained', 'truncated'],
  });
});
