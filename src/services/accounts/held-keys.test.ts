import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRecordingLog } from '../../../test/support/serving/recording-log.ts';
import { createHeldKeys, HELD_KEYS_MAX } from './held-keys.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A storage that is away until the test brings it back. */
function createAwayStore() {
  const store = {
    away: true,
    asked: 0,
    asking: 0,
    askingMax: 0,
    freed: [] as string[],
    async abandon(key: string) {
      store.asked++;
      store.askingMax = Math.max(store.askingMax, ++store.asking);
      await Promise.resolve();
      store.asking--;
      if (store.away) throw new Error('the database is away');
      store.freed.push(key);
    },
  };
  return store;
}

test('however many keys are held, the storage gets one request at a time, and all keys are free once it works again', async () => {
  const store = createAwayStore();
  const log = createRecordingLog();
  const heldKeys = createHeldKeys(store, log);
  const keys = Array.from({ length: 100 }, (_, i) => `key-${i}`);
  for (const key of keys) heldKeys.abandon(key, 1);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(store).toMatchObject({ askingMax: 1, freed: [] });
  expect(store.asked).toBeLessThan(20);
  store.away = false;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(store.freed).toEqual(keys);
  expect(log.lines).toEqual([]);
});

test('retries stop if the storage stays away, and the log says why keys stay held', async () => {
  const store = createAwayStore();
  const log = createRecordingLog();
  const heldKeys = createHeldKeys(store, log);
  for (const key of ['a', 'b']) heldKeys.abandon(key, 1);
  await vi.advanceTimersByTimeAsync(120_000);
  const { asked } = store;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(store.asked).toBe(asked);
  expect(log.lines).toMatchObject([
    {
      level: 'warn',
      event: 'idempotency.keys_held',
      fields: { keys: 2, cause: 'the storage failed for 60 s' },
    },
  ]);

  store.away = false;
  heldKeys.abandon('c', 1);
  await vi.advanceTimersByTimeAsync(0);
  expect(store.freed).toEqual(['c']);
});

test('keys over the limit stay held, and the log says so', () => {
  const log = createRecordingLog();
  const heldKeys = createHeldKeys(createAwayStore(), log);
  for (let i = 0; i <= HELD_KEYS_MAX; i++) heldKeys.abandon(`key-${i}`, 1);
  expect(log.lines).toMatchObject([{ event: 'idempotency.keys_held', fields: { keys: 1 } }]);
});
