import { expect, test } from 'vitest';
import { COUNTED_MAX } from '../../../src/domain/page.ts';
import { boundedTotal, countOf, partOf } from './counts.ts';

test('a list has as many rows as all statuses together, or as the one that it is filtered by', () => {
  const counts = { queued: 2, running: 0, failed: 1_200 };
  expect([countOf(counts), countOf(counts, 'queued'), countOf(counts, 'running')]).toEqual([1_202, 2, 0]);
});

test('a list that shows a part says of how many', () => {
  expect([partOf(20, 1_008), partOf(8, 8), partOf(9, 8)]).toEqual(['20 of 1\u2009008', '8', '8']);
});

test('a list that the server counts only so far has more than that', () => {
  const counts = { open: 12, trained: COUNTED_MAX + 1 };
  expect(boundedTotal(counts, 'open')).toBe('12');
  expect(boundedTotal(counts, 'trained')).toBe('more than 10\u2009000');
  expect(boundedTotal(counts)).toBe('more than 10\u2009000');
  expect(boundedTotal({ trained: COUNTED_MAX })).toBe('10\u2009000');
});
