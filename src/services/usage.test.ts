import { expect, test } from 'vitest';
import { silentLog } from '#base/log';
import type { RequestUse, UsageEntry } from '#domain/usage';
import { createMemoryStorage } from '#storage/memory';
import { createUsage } from './usage.ts';

const use = (change: Partial<RequestUse> = {}): RequestUse => ({
  entity: 'team', keyId: 'k', project: '', model: 'base', dayUtc: '2026-06-01',
  promptTokens: 10, cachedTokens: 4, completionTokens: 3, ...change,
}); // prettier-ignore
const all = { after: null, limit: 100 };
const caller = { entity: 'team', keyId: 'k' };
/** Retries without the waiting between them. */
const wait = (ms: number, signal: AbortSignal) =>
  ms <= 1_000 ? Promise.resolve() : new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

test('a thousand requests at once are one row per key, exact to the token', async () => {
  const usage = createUsage({ storage: createMemoryStorage().usage, log: silentLog });
  for (let i = 0; i < 1_000; i++) usage.record(use({ keyId: `k${i % 3}`, promptTokens: i }));
  const { rows, totals } = await usage.list(caller, {}, all);
  expect(rows).toHaveLength(3);
  expect(totals).toEqual({ requests: 1_000, promptTokens: 499_500, cachedTokens: 4_000, completionTokens: 3_000 });
});

test('a database that is away for a while costs nothing', async () => {
  const { usage: storage } = createMemoryStorage();
  let failures = 1;
  const flaky = {
    ...storage,
    add: (entries: readonly UsageEntry[]) =>
      failures-- > 0 ? Promise.reject(new Error('away')) : storage.add(entries),
  };
  const usage = createUsage({ storage: flaky, log: silentLog, wait });
  usage.record(use());
  usage.record(use());
  await expect.poll(async () => (await storage.list({ entity: 'team' }, all)).totals).toMatchObject({ requests: 2, promptTokens: 20 });
}); // prettier-ignore

test('closing writes what is left', async () => {
  const { usage: storage } = createMemoryStorage();
  const usage = createUsage({ storage, log: silentLog });
  usage.record(use());
  await usage.close();
  expect((await storage.list({ entity: 'team' }, all)).totals).toMatchObject({ requests: 1 });
});
