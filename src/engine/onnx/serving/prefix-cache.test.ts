import { expect, test } from 'vitest';
import { createPrefixCache, type PrefixBlock } from './prefix-cache.ts';

const block = (values: number, end: PrefixBlock['end'] = null): PrefixBlock =>
  ({ computed: { data: new Float32Array(values) }, end }) as PrefixBlock;

test('the blocks of a cache stay within its budget: the least recently used go first', () => {
  const cache = createPrefixCache(3 * 40);
  for (const key of ['a', 'b', 'c']) cache.put(key, block(10));
  cache.find('a');
  cache.put('d', block(10));
  expect(['a', 'b', 'c', 'd'].filter((key) => cache.find(key))).toEqual(['a', 'c', 'd']);
  expect(cache.sizeBytes).toBe(120);
});

test('a block that is larger than the budget is not kept; a budget of nothing keeps none', () => {
  const small = createPrefixCache(39);
  small.put('a', block(10));
  expect(small.find('a')).toBeNull();
  const none = createPrefixCache(0);
  none.put('a', block(10));
  expect([none.find('a'), none.sizeBytes]).toEqual([null, 0]);
});

test('a chunk keeps what was known about its end when it appears again in the middle of a prompt', () => {
  const cache = createPrefixCache(1_000);
  const [logits, one] = [new Float32Array(2), new Float32Array(1)];
  const end = { logits, logsumexp: one, maxima: one, sums: one };
  cache.put('a', block(10, end));
  cache.put('a', block(10));
  expect(cache.find('a')?.end).toBe(end);
  expect(cache.sizeBytes).toBe(60);
});
