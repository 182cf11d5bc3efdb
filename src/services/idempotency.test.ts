import { expect, test } from 'vitest';
import { aCaller } from '../../test/a-caller.ts';
import { systemClock } from '#base/clock';
import { createMemoryStorage } from '#storage/memory';
import { createIdempotent } from './idempotency.ts';

const request = { caller: aCaller(), route: 'POST /things', key: 'mine', bodyHash: 'h' };

test('a request that a crash cut off is run again for the same id, and answered from then on', async () => {
  const { idempotency } = createMemoryStorage();
  const idempotent = createIdempotent(idempotency, systemClock);
  const ids: string[] = [];
  void idempotent(request, (id) => {
    ids.push(id);
    return new Promise(() => {}); // the server dies here
  });
  const make = async (id: string) => {
    ids.push(id);
    return { id };
  };
  await expect(idempotent(request, make)).rejects.toThrow('still running');
  await idempotency.releaseAll(); // it starts again
  const answer = await idempotent(request, make);
  expect(await idempotent(request, make)).toEqual(answer);
  expect(ids).toEqual([answer.id, answer.id]);
});

test('without a key every request makes its own; with one, a failed request leaves it free', async () => {
  const { idempotency } = createMemoryStorage();
  const idempotent = createIdempotent(idempotency, systemClock);
  const ids = new Set<string>();
  const make = async (id: string) => ids.add(id).size;
  expect(await idempotent({ ...request, key: null }, make)).toBe(1);
  expect(await idempotent({ ...request, key: null }, make)).toBe(2);
  await expect(idempotent(request, () => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk');
  expect(await idempotent(request, make)).toBe(3);
});
