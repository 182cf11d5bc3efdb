import { expect, test } from 'vitest';
import type { Group } from '../groups/group-data.ts';
import { compare } from '../ui/comparison.tsx';
import { promptRows, type PlacedGroup } from './prompts.ts';
import type { Source } from './sources.ts';

const source = { id: 'job' } as Source;
const groupOf = (index: number, prompt: string, secret: number, ...rewards: number[]): PlacedGroup => ({
  source,
  group: { index, prompt, metadata: { secret }, rewards } as unknown as Group,
});

const later = [
  groupOf(0, 'guess', 1, 1, 0),
  groupOf(1, 'guess', 2, 0, 0),
  groupOf(2, 'new', 1, 1),
  groupOf(3, 'none', 1),
];
const earlier = [groupOf(0, 'guess', 2, 0.5, 0.5), groupOf(1, 'guess', 1, 0, 0)];

test('prompts with the same text are distinguished by the metadata of their group', () => {
  const rows = promptRows(later, earlier);
  expect(rows.map(({ key, mean, best, worst, before }) => [key, mean, best, worst, before])).toEqual([
    ['job/0', 0.5, 1, 0, 0],
    ['job/1', 0, 0, 0, 0.5],
    ['job/2', 1, 1, 1, null],
  ]);
  expect(compare(rows)).toEqual({ prompts: 2, better: 1, worse: 1, mean: 0.25, before: 0.25, error: 0.5 });
  expect(compare(promptRows(later, []))).toBeNull();
});
