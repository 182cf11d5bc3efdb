import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { expect, onTestFinished, test, vi } from 'vitest';
import { silentLog } from '#base/log';
import { ARTIFACT_SORTS } from '#domain/artifact';
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
  expectAlongIndex(path, 'episodes', lists);
});

test('episodes are counted in an index alone, by what the page filters them by', async () => {
  const { storage, path } = await openStorage();
  const prepare = vi.spyOn(Database.prototype, 'prepare');
  onTestFinished(() => prepare.mockRestore());
  const ranges = [{}, { rewardMin: 0, rewardMax: 1 }];
  const filters = [{}, { modelId: 'm' }, { group: 'g' }, { trainedBy: 'j' }, { modelId: 'm', group: 'g' }];
  for (const filter of filters)
    for (const range of ranges) await storage.episodes.count({ entity: 'e', ...filter, ...range }, 10);
  const counts = prepare.mock.calls.map(([text]) => text).filter((text) => text.includes('count(*)'));
  expect(counts).toHaveLength(filters.length * ranges.length); // prepared once for all statuses
  for (const [first, ...rest] of plansOf(path, counts)) {
    expect(first).toMatch(/^CO-ROUTINE/); // stops at its limit
    expect(rest.filter((step) => / episodes /.test(step))).toEqual([
      expect.stringMatching(/^SEARCH episodes USING COVERING INDEX /),
    ]);
    expect(rest.filter((step) => /B-TREE/.test(step))).toEqual([]);
  }
});

test('every order of the versions of artifacts is that of an index, and they are counted in one', async () => {
  const { storage, path } = await openStorage();
  const prepare = vi.spyOn(Database.prototype, 'prepare');
  onTestFinished(() => prepare.mockRestore());
  const page = { after: null, limit: 50 };
  for (const sort of ARTIFACT_SORTS) await storage.artifacts.list({ entity: 'e' }, page, 'desc', sort);
  await storage.artifacts.list({ entity: 'e', project: 'p', name: 'n' }, page);
  const lists = prepare.mock.calls.map(([text]) => text).filter((text) => text.includes('order by'));
  expect(lists).toHaveLength(ARTIFACT_SORTS.length + 1);
  expectAlongIndex(path, 'artifacts', lists);
  prepare.mockClear();
  const filters = [{}, { project: 'p' }, { project: 'p', name: 'n' }, { name: 'n' }, { type: 't' }];
  for (const filter of filters) await storage.artifacts.count({ entity: 'e', ...filter }, 10);
  const counts = prepare.mock.calls.map(([text]) => text).filter((text) => text.includes('count(*)'));
  expect(counts).toHaveLength(filters.length);
  for (const plan of plansOf(path, counts))
    expect(plan).toContainEqual(expect.stringMatching(/^SEARCH artifacts USING COVERING INDEX /));
});

/** Of each statement, what SQLite would do. */
function plansOf(path: string, statements: readonly string[]): string[][] {
  const other = new Database(path);
  onTestFinished(() => void other.close());
  const explain = (text: string) => other.prepare(`explain query plan ${text.replaceAll('?', "'1'")}`).all();
  return statements.map((text) => (explain(text) as { detail: string }[]).map(({ detail }) => detail));
}

function expectAlongIndex(path: string, table: string, lists: readonly string[]): void {
  for (const plan of plansOf(path, lists))
    expect(plan).toEqual([expect.stringMatching(new RegExp(`^SEARCH ${table} USING INDEX `))]);
}

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
