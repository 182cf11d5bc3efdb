import { expect, test, vi } from 'vitest';
import { aCaller } from '../../../test/support/a-caller.ts';
import { systemClock } from '#base/clock';
import { silentLog } from '#base/log';
import { AppError } from '#domain/errors';
import type { IdempotencyStore } from '#storage/storage';
import { createIdempotent } from './idempotency.ts';
import { openStorageInMemory } from '../../../test/support/storage-in-memory.ts';

const request = { caller: aCaller(), route: 'POST /things', key: 'mine', requestHash: 'h' };

test('a request that a crash interrupted runs again with the same id, and later repeats get its answer', async () => {
  const { idempotency } = await openStorageInMemory();
  const idempotent = createIdempotent(idempotency, systemClock, silentLog);
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
  await idempotency.releaseAll(); // the server starts again
  const answer = await idempotent(request, make);
  expect(await idempotent(request, make)).toEqual(answer);
  expect(ids).toEqual([answer.id, answer.id]);
});

test('without a key every request makes its own resource; with a key, a failed request leaves the key free', async () => {
  const { idempotency } = await openStorageInMemory();
  const idempotent = createIdempotent(idempotency, systemClock, silentLog);
  const ids = new Set<string>();
  const make = async (id: string) => ids.add(id).size;
  expect(await idempotent({ ...request, key: null }, make)).toBe(1);
  expect(await idempotent({ ...request, key: null }, make)).toBe(2);
  await expect(idempotent(request, () => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk');
  expect(await idempotent(request, make)).toBe(3);
});

test('a retry finds what may have been made before a failure, because it has the same id; a refusal leaves no trace', async () => {
  const { idempotency } = await openStorageInMemory();
  const idempotent = createIdempotent(idempotency, systemClock, silentLog);
  const ids: string[] = [];
  const failing = (error: Error) => (id: string) => {
    ids.push(id);
    return Promise.reject(error);
  };
  const away = new AppError('storage_unavailable', 'The answer was lost.');
  await expect(idempotent(request, failing(away))).rejects.toThrow(away);
  await expect(idempotent(request, failing(new TypeError('a bug')))).rejects.toThrow('a bug');
  await expect(idempotent({ ...request, requestHash: 'other' }, failing(away))).rejects.toThrow('another body');
  const refused = new AppError('model_not_found', 'No such model.');
  await expect(idempotent(request, failing(refused))).rejects.toThrow(refused);
  expect(new Set(ids).size).toBe(1);
  expect(await idempotent({ ...request, requestHash: 'other' }, (id) => Promise.resolve(ids.includes(id)))).toBe(false);
});

test('an answer that could not be stored is made again with the same id', async () => {
  const { idempotency } = await openStorageInMemory();
  let failures = 1;
  const forgetful: IdempotencyStore = {
    ...idempotency,
    complete: (...args) => (failures-- > 0 ? Promise.reject(new Error('disk full')) : idempotency.complete(...args)),
  };
  const idempotent = createIdempotent(forgetful, systemClock, silentLog);
  const made: string[] = [];
  const make = (id: string) => Promise.resolve(made.push(id));
  await expect(idempotent(request, make)).rejects.toThrow('disk full');
  await idempotent(request, make);
  expect(new Set(made).size).toBe(1);
});

test('a key that was taken when the storage failed is free once the storage works again, with the same id', async () => {
  const { idempotency } = await openStorageInMemory();
  const away = new AppError('storage_unavailable', 'The answer was lost.');
  let outages = 3; // the answer of `begin`, then two attempts to release
  const fails = <T>(done: T): Promise<T> => (outages-- > 0 ? Promise.reject(away) : Promise.resolve(done));
  const offered: string[] = [];
  const restarting: IdempotencyStore = {
    ...idempotency,
    begin: async (...args) => {
      offered.push(args[2]);
      return fails(await idempotency.begin(...args));
    },
    abandon: async (...args) => idempotency.abandon(...(await fails(args))),
  };
  const idempotent = createIdempotent(restarting, systemClock, silentLog);
  const make = (id: string) => Promise.resolve(id);
  await expect(idempotent(request, make)).rejects.toThrow(away);
  await vi.waitFor(async () => expect(await idempotent(request, make)).toBe(offered[0]), { timeout: 10_000 });
});
