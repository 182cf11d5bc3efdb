// What doctor finds about episodes, and what it can repair.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { episodeRows } from '#domain/blob-names';
import type { StoreConfig } from '../../../src/config/server-config.ts';
import { runDoctor } from '../../../src/maintenance/run-doctor.ts';
import { makeStore, quiet, type Stored } from './a-store.ts';

const root = await mkdtemp(join(tmpdir(), 'whetstone-doctor-episodes-'));
afterAll(() => rm(root, { recursive: true, force: true }));

let config: StoreConfig;
let stored: Stored;
beforeEach(async () => {
  ({ config, stored } = await makeStore(root));
});

function sqlite(statement: string): void {
  const database = new Database(join(config.dataDirectory, 'whetstone.db'));
  database.exec(statement);
  database.close();
}

const examine = async (repair = false) =>
  (await runDoctor(config, repair, quiet)).findings.map(({ kind, where }) => [kind, where]);

test.each([
  [
    'a charge of another size',
    'wrong_ledger_size',
    (rows: string) => `update stored_blobs set size_bytes = 7 where blob = '${rows}'`,
  ],
  ['no charge', 'blob_without_ledger', (rows: string) => `delete from stored_blobs where blob = '${rows}'`],
  [
    'a charge of an episode that is gone',
    'ledger_without_blob',
    () => 'delete from episode_calls; delete from episodes',
  ],
])('%s is found and mended', async (_, kind, statement) => {
  expect(await examine()).toEqual([]);
  const rows = episodeRows(stored.episodeId);
  sqlite(statement(rows));
  expect(await examine()).toEqual([[kind, rows]]);
  await examine(true);
  expect(await examine()).toEqual([]);
});

test('a lost call is found, and cannot be repaired', async () => {
  sqlite('delete from episode_calls where ordinal = 1');
  const { findings } = await runDoctor(config, true, quiet);
  expect(findings).toMatchObject([{ kind: 'missing_data', where: `episode ${stored.episodeId}`, repaired: false }]);
  expect(findings[0]!.problem).toMatch(/^episode played of team has 1 call of \d+ bytes, but should have 2 of \d+$/);
});
