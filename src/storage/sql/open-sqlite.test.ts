import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, expect, test } from 'vitest';
import { addModel, storageContract } from '../../../test/contract/storage.ts';
import type { Storage } from '../storage.ts';
import { SCHEMA_VERSION } from './migrate.ts';
import { openSqliteStorage } from './open-sqlite.ts';

const directory = await mkdtemp(join(tmpdir(), 'whetstone-sqlite-'));
const opened: Storage[] = [];
let files = 0;
const newFile = (): string => join(directory, `${files++}.db`);

async function open(path = newFile()): Promise<Storage> {
  const storage = await openSqliteStorage({ path });
  opened.push(storage);
  return storage;
}
afterAll(async () => {
  for (const storage of opened) await storage.close();
  await rm(directory, { recursive: true, force: true });
});

storageContract('sqlite', () => open());

test('what was written is there after the file is opened again', async () => {
  const path = newFile();
  const first = await openSqliteStorage({ path });
  const model = await addModel(first);
  await first.close();
  expect(await (await open(path)).models.find(model.id)).toEqual(model);
});

test('two connections to one file never claim the same job', async () => {
  const path = newFile();
  const [a, b] = [await open(path), await open(path)];
  for (let i = 0; i < 10; i++) {
    const { id: modelId } = await addModel(a);
    await a.jobs.create({ id: `job-${i}`, type: 'rl', modelId, entity: 'team', bodyBlob: 'x', createdAtMs: i });
  }
  const claims = await Promise.all(
    Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? a : b).jobs.claim(`w${i}`, 1, 1_000)),
  );
  const ids = claims.flatMap((job) => (job ? [job.id] : []));
  expect(ids).toHaveLength(10);
  expect(new Set(ids).size).toBe(10);
});

test('a database of a newer whetstone is refused and left as it is', async () => {
  const path = newFile();
  await (await openSqliteStorage({ path })).close();
  const raw = new Database(path);
  raw.exec(`update schema_version set version = ${SCHEMA_VERSION + 1}`);
  raw.close();
  await expect(openSqliteStorage({ path })).rejects.toThrow(`schema version ${SCHEMA_VERSION + 1}`);
});
