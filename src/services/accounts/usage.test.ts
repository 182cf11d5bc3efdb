import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aCaller } from '../../../test/support/a-caller.ts';
import { silentLog } from '#base/log';
import { totalUsage, type RequestUse, type UsageEntry } from '#domain/usage';
import { createRecordingLog } from '../../../test/support/serving/recording-log.ts';
import { createUsage, ENTRIES_MAX } from './usage.ts';
import { openStorageInMemory } from '../../../test/support/storage-in-memory.ts';

const use = (change: Partial<RequestUse> = {}): RequestUse => ({
  entity: 'team',
  keyId: 'k',
  project: '',
  model: 'base',
  dayUtc: '2026-06-01',
  promptTokens: 10,
  cachedTokens: 4,
  completionTokens: 3,
  ...change,
});
const ALL = { after: null, limit: 100_000 };
const caller = aCaller();

/** Runs everything that does not wait for a timer. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

function createFakeTime() {
  let nowMs = 0;
  let waits: { atMs: number; wake: () => void }[] = [];
  return {
    now: () => nowMs,
    wait: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal.aborted) return resolve();
        const one = { atMs: nowMs + ms, wake: resolve };
        waits.push(one);
        signal.addEventListener('abort', () => {
          waits = waits.filter((each) => each !== one);
          resolve();
        });
      }),
    async advance(ms: number) {
      const endMs = nowMs + ms;
      for (await settle(); ; await settle()) {
        const due = waits.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
        if (!due) break;
        nowMs = due.atMs;
        waits = waits.filter((each) => each !== due);
        due.wake();
      }
      nowMs = endMs;
    },
  };
}

/** `fault` decides, write by write, whether the storage fails or how long it takes. */
async function open(fault: (write: number) => void | Promise<void> = () => {}) {
  const { usage: store } = await openStorageInMemory();
  const time = createFakeTime();
  const log = createRecordingLog();
  const writes: { atMs: number; entries: readonly UsageEntry[] }[] = [];
  const running = { now: 0, most: 0 };
  const storage = {
    ...store,
    async add(entries: readonly UsageEntry[]) {
      writes.push({ atMs: time.now(), entries });
      running.most = Math.max(running.most, ++running.now);
      try {
        await fault(writes.length);
        await store.add(entries);
      } finally {
        running.now--;
      }
    },
  };
  const stored = async () => (await store.list({ entity: 'team' }, ALL)).totals;
  return { usage: createUsage({ storage, log, wait: time.wait }), time, log, writes, running, stored };
}

const events = ({ lines }: { lines: readonly { event: string }[] }) => lines.map(({ event }) => event);
const away = () => {
  throw new Error('away');
};

test('a thousand concurrent requests make one row per key, exact to the token', async () => {
  const usage = createUsage({ storage: (await openStorageInMemory()).usage, log: silentLog });
  for (let i = 0; i < 1_000; i++) usage.record(use({ keyId: `k${i % 3}`, promptTokens: i }));
  const { rows, totals } = await usage.list(caller, {}, ALL);
  expect(rows).toHaveLength(3);
  expect(totals).toEqual({ requests: 1_000, promptTokens: 499_500, cachedTokens: 4_000, completionTokens: 3_000 });
});

test('requests that end within a tenth of a second are written together, after their answers', async () => {
  const { usage, time, writes } = await open();
  for (let i = 0; i < 5; i++) {
    usage.record(use());
    await time.advance(10);
  }
  expect(writes).toEqual([]);
  await time.advance(1_000);
  expect(writes.map(({ atMs, entries }) => [atMs, totalUsage(entries).requests])).toEqual([[100, 5]]);
});

test('requests that end during a write wait for the next one: only one write runs at a time', async () => {
  let finish = () => {};
  const { usage, time, writes, running, stored } = await open((write) =>
    write === 1 ? new Promise((resolve) => (finish = resolve)) : undefined,
  );
  usage.record(use());
  await time.advance(100);
  for (let i = 0; i < 3; i++) usage.record(use({ model: `m${i}` }));
  const lists = [usage.list(caller, {}, ALL), usage.list(caller, {}, ALL)];
  await time.advance(1_000);
  expect(writes).toHaveLength(1);
  finish();
  for (const list of lists) expect((await list).totals.requests).toBe(4);
  expect(writes.map(({ entries }) => entries.length)).toEqual([1, 3]);
  expect((await stored()).requests).toBe(4);
  expect(running.most).toBe(1);
});

test('a list includes every request that ended before it, and only those of its own entity', async () => {
  const { usage } = await open();
  usage.record(use());
  usage.record(use({ entity: 'others' }));
  expect((await usage.list(caller, {}, ALL)).totals.requests).toBe(1);
  usage.record(use({ model: 'other' }));
  expect((await usage.list(caller, { model: 'other' }, ALL)).totals.requests).toBe(1);
  expect((await usage.list(aCaller({ entity: 'others' }), {}, ALL)).totals.requests).toBe(1);
  expect((await usage.list(caller, {}, ALL)).totals.requests).toBe(2);
});

test('no usage is lost while the storage is away: writes are retried less and less often, and logged once', async () => {
  const { usage, time, log, writes, stored } = await open((write) => (write <= 8 ? away() : undefined));
  usage.record(use());
  await time.advance(50_000);
  usage.record(use());
  await time.advance(100_000);
  const seconds = writes.slice(1).map(({ atMs }, i) => (atMs - writes[i]!.atMs) / 1_000);
  expect(seconds).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
  expect(await stored()).toEqual({ requests: 2, promptTokens: 20, cachedTokens: 8, completionTokens: 6 });
  expect(events(log)).toEqual(['usage.write_failed', 'usage.write_recovered']);
});

test('a list that cannot be complete fails, and loses no usage', async () => {
  let broken = true;
  const { usage } = await open(() => (broken ? away() : undefined));
  usage.record(use());
  await expect(usage.list(caller, {}, ALL)).rejects.toThrow('away');
  broken = false;
  expect((await usage.list(caller, {}, ALL)).totals.requests).toBe(1);
});

test('a list does not wait forever for a write that is stuck', async () => {
  const { usage, time } = await open(() => new Promise(() => {}));
  usage.record(use());
  const refused = expect(usage.list(caller, {}, ALL)).rejects.toMatchObject({ code: 'internal' });
  await time.advance(10_000);
  await refused;
});

test('closing writes the rest at once, and retries if that fails', async () => {
  const { usage, time, stored, log } = await open((write) => (write <= 2 ? away() : undefined));
  usage.record(use());
  const closed = usage.close();
  await time.advance(4_000);
  await closed;
  expect((await stored()).requests).toBe(1);
  expect(events(log)).not.toContain('usage.lost');
});

test('closing waits for the write in progress', async () => {
  let finish = () => {};
  const { usage, time, stored } = await open(() => new Promise((resolve) => (finish = resolve)));
  usage.record(use());
  await time.advance(100);
  let ended = false;
  const closed = usage.close().then(() => (ended = true));
  await time.advance(1_000);
  expect(ended).toBe(false);
  finish();
  await closed;
  expect((await stored()).requests).toBe(1);
});

test.each([
  ['fails', away],
  ['is stuck', () => new Promise<void>(() => {})],
])('closing gives up on a storage that %s, and the log has the amounts', async (_, fault) => {
  const { usage, time, log } = await open(fault);
  usage.record(use());
  await time.advance(100);
  usage.record(use({ model: 'other' }));
  const closed = usage.close();
  await time.advance(5_000);
  await closed;
  const amounts = { requests: 2, promptTokens: 20, cachedTokens: 8, completionTokens: 6 };
  expect(log.lines.at(-1)).toMatchObject({ level: 'error', event: 'usage.lost', fields: amounts });
  usage.record(use({ promptTokens: 77 }));
  expect(log.lines.at(-1)).toMatchObject({ event: 'usage.lost', fields: { promptTokens: 77 } });
});

test('without a storage, memory is bounded: invented projects are dropped, their tokens are not', async () => {
  let broken = true;
  const { usage, log, writes, stored } = await open(() => (broken ? away() : undefined));
  const count = ENTRIES_MAX + 500;
  for (let i = 0; i < count; i++) usage.record(use({ project: `p${i}` }));
  await expect(usage.list(caller, {}, ALL)).rejects.toThrow('away');
  for (let i = 0; i < count; i++) usage.record(use({ project: `p${i}` }));
  broken = false;
  await usage.list(caller, {}, ALL);
  expect(writes.at(-1)!.entries).toHaveLength(ENTRIES_MAX + 1);
  expect(await stored()).toMatchObject({ requests: 2 * count, promptTokens: 2 * count * 10 });
  expect(events(log).filter((event) => event === 'usage.buffer_full')).toHaveLength(1);
});

test('whatever fails and whenever usage is listed, the accounts add up', async () => {
  const step = fc.oneof(
    fc.record({
      record: fc.record({
        keyId: fc.constantFrom('k', 'l'),
        project: fc.constantFrom('', 'p'),
        promptTokens: fc.nat(99),
      }),
    }),
    fc.record({ advanceMs: fc.constantFrom(1, 60, 150, 5_000) }),
    fc.constant({ list: true }),
  );
  const faults = fc.infiniteStream(fc.constantFrom('none', 'none', 'fails', 'takes 2 s'));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), faults, async (steps, stream) => {
      let repaired = false;
      const { usage, time, running, stored } = await open(async () => {
        const fault = repaired ? 'none' : (stream.next().value as string);
        if (fault === 'takes 2 s') await time.wait(2_000, new AbortController().signal);
        if (fault === 'fails') away();
      });
      const recorded: UsageEntry[] = [];
      const listed: Promise<void>[] = [];
      for (const each of steps) {
        if ('record' in each) {
          recorded.push({ ...use(each.record), requests: 1 });
          usage.record(use(each.record));
        } else if ('advanceMs' in each) await time.advance(each.advanceMs);
        else {
          const before = totalUsage(recorded).promptTokens;
          listed.push(
            usage.list(caller, {}, ALL).then(
              ({ totals }) => expect(totals.promptTokens).toBeGreaterThanOrEqual(before),
              (error: unknown) => expect(String(error)).toMatch(/away|still being written/),
            ),
          );
        }
      }
      repaired = true;
      const closed = usage.close();
      await time.advance(60_000);
      await Promise.all([closed, ...listed]);
      expect(await stored()).toEqual(totalUsage(recorded));
      expect(running.most).toBeLessThanOrEqual(1);
    }),
    { numRuns: 200, seed: 1 },
  );
});
