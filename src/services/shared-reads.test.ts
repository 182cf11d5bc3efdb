import { expect, test, vi } from 'vitest';
import { createSharedReads } from './shared-reads.ts';

test('all who ask share one reading, and what is larger than the memory is read again', async () => {
  const reads = createSharedReads<string[]>(100);
  const read = vi.fn(async () => ({ value: ['x'], sizeBytes: 60 }));
  const both = await Promise.all([reads.find('a', read), reads.find('a', read)]);
  expect(both[0]).toBe(both[1]);
  expect(await reads.find('a', read)).toBe(both[0]);
  expect(read).toHaveBeenCalledOnce();
  await reads.find('b', read);
  await reads.find('a', read);
  expect(read).toHaveBeenCalledTimes(3);
  const large = vi.fn(async () => ({ value: ['x'], sizeBytes: 101 }));
  await reads.find('c', large);
  await reads.find('c', large);
  expect(large).toHaveBeenCalledTimes(2);
});

test('errors and what is not there are not remembered', async () => {
  const reads = createSharedReads<string[]>(100);
  await expect(reads.find('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await reads.find('a', async () => null)).toBeNull();
  expect(await reads.find('a', async () => ({ value: ['x'], sizeBytes: 1 }))).toEqual(['x']);
});
