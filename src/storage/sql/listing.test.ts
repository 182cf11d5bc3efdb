import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { expect, onTestFinished, test, vi } from 'vitest';
import { silentLog } from '#base/log';
import { PAGE_WEIGHT_MAX } from '#domain/page';
import { aPayer } from '../../../test/support/a-caller.ts';
import { openSqlStorage } from './sql-storage.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';

async function openStorage(): Promise<{ storage: Awaited<ReturnType<typeof openSqlStorage>>; path: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-listing-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'x.db');
  const storage = await openSqlStorage(createSqliteDialect(path), path, silentLog);
  onTestFinished(() => storage.close());
  return { storage, path };
}

test('every list of episodes is read along an index, and none is sorted', async () => {
  const { storage, path } = await openStorage();
  const prepare = vi.spyOn(Database.prototype, 'prepare');
  onTestFinished(() => prepare.mockRestore());
  const page = { after: null, limit: 50 };
  const filters = [
    {},
    { modelId: 'm' },
    { group: 'g' },
    { status: 'open' as const },
    { trainedBy: 'j' },
    { modelId: 'm', group: 'g' },
    { modelId: 'm', status: 'open' as const },
    { modelId: 'm', rewardMin: 0, rewardMax: 1 },
    { modelId: 'm', group: 'g', status: 'open' as const, trainedBy: 'j' },
  ];
  for (const filter of filters) await storage.episodes.list({ entity: 'e', ...filter }, page, 'desc');
  const lists = prepare.mock.calls.map(([text]) => text).filter((text) => text.includes('order by'));
  expect(lists).toHaveLength(filters.length); // an empty page is weighed, and not read
  const other = new Database(path);
  onTestFinished(() => void other.close());
  for (const list of lists) {
    const plan = other.prepare(`explain query plan ${list.replaceAll('?', "'1'")}`).all() as { detail: string }[];
    expect(plan.map(({ detail }) => detail)).toEqual([expect.stringMatching(/^SEARCH episodes USING INDEX /)]);
  }
});

test('no call of the database reads more than a page may weigh, however large its rows are', async () => {
  const { storage } = await openStorage();
  const payer = aPayer();
  const large = `"${'x'.repeat(899_998)}"`;
  for (let i = 0; i < 9; i++) {
    const run = { id: `run${i}`, entity: 'e', project: 'p', name: `r${i}` };
    await storage.runs.upsert(run, { config: large }, payer, i);
    await storage.runs.noteArtifact(run.id, 'a', 'used');
  }
  const metrics = { [large]: 1 };
  const model = { id: 'm', entity: 'e', project: 'p', name: 'n', baseModel: 'b', runId: null, createdAtMs: 0 };
  await storage.models.create(model, {
    id: 'c0',
    modelId: 'm',
    step: 0,
    metrics,
    blobPrefix: 'b',
    fresh: true,
    createdAtMs: 0,
  });
  for (let i = 1; i < 9; i++)
    await storage.checkpoints.add({
      id: `c${i}`,
      modelId: 'm',
      metrics,
      blobPrefix: 'b',
      fresh: false,
      createdAtMs: i,
    });

  const database = new Database(':memory:');
  onTestFinished(() => void database.close());
  const statement = Object.getPrototypeOf(database.prepare('select 1')) as Database.Statement;
  const all = vi.spyOn(statement, 'all');
  onTestFinished(() => all.mockRestore());

  const page = { after: null, limit: 100 };
  const runs = await storage.runs.list({ entity: 'e' }, page);
  expect([runs.rows.length, runs.hasMore]).toEqual([4, true]);
  const rest = await storage.runs.list({ entity: 'e' }, { ...page, after: 'run7' });
  expect([rest.rows.map(({ id }) => id), rest.hasMore]).toEqual([['run8'], false]);
  expect(await storage.runs.runsOf('a', 'used', 100)).toHaveLength(4);
  const steps = Array.from({ length: 9 }, (_, step) => step);
  const checkpoints = await storage.checkpoints.list('m', page, 'desc');
  expect([checkpoints.rows.map(({ step }) => step), checkpoints.hasMore]).toEqual([[8, 7, 6, 5], true]);
  expect(await storage.checkpoints.listAt('m', steps)).toHaveLength(9);
  const latest = await storage.checkpoints.listLatest(['m'], 30);
  expect(latest.map((each) => [each.step, each.metrics[large] ?? null])).toEqual(
    steps.map((step) => [step, step > 4 ? 1 : null]),
  );
  const read = all.mock.results.map(({ value }) => JSON.stringify(value).length);
  expect(read.length).toBeGreaterThan(8);
  expect(Math.max(...read)).toBeLessThan(1.3 * PAGE_WEIGHT_MAX);
});
