import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { expect, onTestFinished, test, vi } from 'vitest';
import { silentLog } from '#base/log';
import { openSqlStorage } from './sql-storage.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';

test('every list of episodes is read along an index, and none is sorted', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-listing-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'x.db');
  const storage = await openSqlStorage(createSqliteDialect(path), path, silentLog);
  onTestFinished(() => storage.close());
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
  expect(lists).toHaveLength(filters.length);
  const other = new Database(path);
  onTestFinished(() => void other.close());
  for (const list of lists) {
    const plan = other.prepare(`explain query plan ${list.replaceAll('?', "'1'")}`).all() as { detail: string }[];
    expect(plan.map(({ detail }) => detail)).toEqual([expect.stringMatching(/^SEARCH episodes USING INDEX /)]);
  }
});
