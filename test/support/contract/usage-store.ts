// What every UsageStore promises; part of the storage contract.
import { expect, test } from 'vitest';
import { NO_USAGE, usageId, type UsageEntry } from '#domain/usage';
import type { Storage } from '#storage/storage';

const FIRST = { after: null, limit: 100 };

const anEntry = (change: Partial<UsageEntry> = {}): UsageEntry => ({
  entity: 'team',
  keyId: 'key',
  project: 'p',
  model: 'base',
  dayUtc: '2026-06-01',
  requests: 1,
  promptTokens: 100,
  cachedTokens: 40,
  completionTokens: 7,
  ...change,
});

const asRow = (entry: UsageEntry) => ({ id: usageId(entry), ...entry });

export function usageContract(open: () => Promise<Storage>): void {
  test('usage of equal key, project, model and day is one row, whether it comes at once or later', async () => {
    const { usage } = await open();
    await usage.add([anEntry(), anEntry({ model: 'other' }), anEntry({ promptTokens: 5 })]);
    await usage.add([anEntry({ requests: 3, cachedTokens: 0, completionTokens: 1 })]);
    await usage.add([]);
    const sum = anEntry({ requests: 5, promptTokens: 205, cachedTokens: 80, completionTokens: 15 });
    expect(await usage.list({ entity: 'team' }, FIRST)).toEqual({
      rows: [asRow(sum), asRow(anEntry({ model: 'other' }))],
      hasMore: false,
      totals: { requests: 6, promptTokens: 305, cachedTokens: 120, completionTokens: 22 },
    });
  });

  test('each part of the key makes a row of its own, empty and odd texts too', async () => {
    const { usage } = await open();
    const entries = [
      anEntry(),
      anEntry({ keyId: 'other' }),
      anEntry({ project: '' }),
      anEntry({ project: 'o\'brien, "é" – 日本 🙂 %_\\' }),
      anEntry({ model: 'wandb-artifact:///team/p/m:step3' }),
      anEntry({ dayUtc: '2026-06-02' }),
    ];
    await usage.add(entries);
    await usage.add([anEntry({ entity: 'others' })]);
    expect((await usage.list({ entity: 'team' }, FIRST)).rows).toEqual(entries.map(asRow));
    expect((await usage.list({ entity: 'others' }, FIRST)).rows).toEqual([asRow(anEntry({ entity: 'others' }))]);
    for (const entry of entries) {
      const { keyId, project, model, dayUtc } = entry;
      const only = await usage.list({ entity: 'team', keyId, project, model, from: dayUtc, to: dayUtc }, FIRST);
      expect(only).toMatchObject({ rows: [asRow(entry)], totals: { requests: 1, promptTokens: 100 } });
    }
  });

  test('sums tell apart what is asked, add up the steps of a model, and begin with the most tokens', async () => {
    const { usage } = await open();
    const model = 'wandb-artifact:///team/p/m';
    await usage.add([
      anEntry({ model: `${model}:step1` }),
      anEntry({ model: `${model}:step12`, dayUtc: '2026-06-02', completionTokens: 50 }),
      anEntry({ model: `${model}:steps`, promptTokens: 9 }),
      anEntry({ keyId: 'other', promptTokens: 120 }),
      anEntry({ entity: 'others', promptTokens: 999 }),
    ]);
    const byModel = await usage.sums({ entity: 'team' }, ['model'], 10);
    expect(byModel.rows.map((row) => [row.model, row.requests, row.promptTokens])).toEqual([
      [model, 2, 200],
      ['base', 1, 120],
      [`${model}:steps`, 1, 9],
    ]);
    expect(byModel).toMatchObject({ hasMore: false, totals: { requests: 4, promptTokens: 329 } });
    const both = await usage.sums({ entity: 'team', to: '2026-06-01' }, ['model', 'api_key'], 1);
    expect(both).toMatchObject({
      rows: [{ model: 'base', keyId: 'other', project: null, dayUtc: null, promptTokens: 120 }],
      hasMore: true,
    });
  });

  test('usage is listed by day, both ends included, whatever came first', async () => {
    const { usage } = await open();
    const days = ['2026-06-30', '2025-12-31', '2026-07-01', '2026-01-01'];
    for (const dayUtc of days) await usage.add([anEntry({ dayUtc })]);
    const between = async (from?: string, to?: string) => {
      const days = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
      const { rows, totals } = await usage.list({ entity: 'team', ...days }, FIRST);
      expect(totals.requests).toBe(rows.length);
      return rows.map(({ dayUtc }) => dayUtc);
    };
    expect(await between()).toEqual([...days].sort());
    expect(await between('2026-01-01', '2026-06-30')).toEqual(['2026-01-01', '2026-06-30']);
    expect(await between('2026-06-30')).toEqual(['2026-06-30', '2026-07-01']);
    expect(await between(undefined, '2025-12-31')).toEqual(['2025-12-31']);
    expect(await between('2026-08-01', '2026-08-02')).toEqual([]);
  });

  test('pages of usage have the totals of the whole filter, and lose no row that was there', async () => {
    const { usage } = await open();
    const entries = Array.from({ length: 5 }, (_, i) => anEntry({ model: `m${i}`, promptTokens: 10 ** i }));
    await usage.add(entries);
    const first = await usage.list({ entity: 'team' }, { after: null, limit: 2 });
    expect(first).toMatchObject({
      rows: entries.slice(0, 2).map(asRow),
      hasMore: true,
      totals: { promptTokens: 11_111 },
    });
    await usage.add([anEntry({ model: 'a, newer', promptTokens: 0 }), entries[0]!]);
    const rest = await usage.list({ entity: 'team' }, { after: first.rows[1]!.id, limit: 4 });
    expect(rest.rows.map(({ model }) => model)).toEqual(['m2', 'm3', 'm4', 'a, newer']);
    expect(rest).toMatchObject({ hasMore: false, totals: { requests: 7, promptTokens: 11_112 } });
    // The cursor may point at a row that the filter excludes.
    const last = await usage.list({ entity: 'team', model: 'm4' }, { after: first.rows[1]!.id, limit: 4 });
    expect(last).toMatchObject({ rows: [asRow(entries[4]!)], totals: { promptTokens: 10_000 } });
  });

  test("a cursor of another entity's usage, or of none, is refused", async () => {
    const { usage } = await open();
    await usage.add([anEntry({ entity: 'others' }), anEntry(), anEntry({ dayUtc: '2026-06-02' })]);
    for (const after of [usageId(anEntry({ entity: 'others' })), 'unknown']) {
      const page = usage.list({ entity: 'team' }, { after, limit: 9 });
      await expect(page).rejects.toMatchObject({ code: 'invalid_request', param: 'after' });
    }
    expect(await usage.list({ entity: 'nobody' }, FIRST)).toEqual({ rows: [], hasMore: false, totals: NO_USAGE });
  });

  test('sums are exact far beyond 32 bits', async () => {
    const { usage } = await open();
    const promptTokens = 2 ** 52;
    await usage.add([anEntry({ promptTokens })]);
    await usage.add([anEntry({ promptTokens: promptTokens - 1 })]);
    const { rows, totals } = await usage.list({ entity: 'team' }, FIRST);
    expect([rows[0]?.promptTokens, totals.promptTokens]).toEqual([2 ** 53 - 1, 2 ** 53 - 1]);
  });

  test('thousands of keys are added at once, and once again', async () => {
    const { usage } = await open();
    const entries = Array.from({ length: 2_500 }, (_, i) => anEntry({ model: `m${i}`, promptTokens: i }));
    for (let i = 0; i < 2; i++) await usage.add(entries);
    const { rows, hasMore, totals } = await usage.list({ entity: 'team' }, { after: null, limit: 3_000 });
    expect([rows.length, hasMore]).toEqual([2_500, false]);
    expect(totals).toMatchObject({ requests: 5_000, promptTokens: 2_500 * 2_499 });
  });

  test('concurrent additions lose nothing', async () => {
    const { usage } = await open();
    await Promise.all(Array.from({ length: 50 }, (_, i) => usage.add([anEntry({ model: `m${i % 3}` })])));
    const { rows, totals } = await usage.list({ entity: 'team' }, FIRST);
    const requests = new Map(rows.map((row) => [row.model, row.requests])); // their order is undefined
    expect(Object.fromEntries(requests)).toEqual({ m0: 17, m1: 17, m2: 16 });
    expect(totals.promptTokens).toBe(5_000);
  });
}
