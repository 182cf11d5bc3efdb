// A store whose rows are lost while its blobs exist: no server starts on it as if it were new, and no repair deletes what
// the right database still refers to.
import { access, cp, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import { readServerConfig, type StoreConfig } from '../../../src/config/server-config.ts';
import { restoringPath } from '../../../src/config/data-directory.ts';
import { startServer } from '../../../src/main.ts';
import { runDoctor } from '../../../src/maintenance/run-doctor.ts';
import { localStore, makeStore, NOW, putAdapter, quiet, type Stored, using } from './a-store.ts';

const root = await mkdtemp(join(tmpdir(), 'whetstone-lost-'));
afterAll(() => rm(root, { recursive: true, force: true }));

let config: StoreConfig;
let stored: Stored;
beforeEach(async () => void ({ config, stored } = await makeStore(root)));

const DATABASE = ['whetstone.db', 'whetstone.db-wal', 'whetstone.db-shm'];

async function loseDatabase(): Promise<void> {
  for (const name of DATABASE) await rm(join(config.dataDirectory, name), { force: true });
}

/** Opens its store, then gets an unknown-model error, which shows that the server would have started. */
const start = ({ dataDirectory }: StoreConfig) =>
  startServer(readServerConfig({ port: '0', data: dataDirectory, model: [join(root, 'nowhere')] }, {}), silentLog);
const NO_MODEL = 'nowhere';
const LOST = /^The database is empty, but the blob store has data .*whetstone restore.*move the blobs away/;

async function addModel(): Promise<string> {
  const id = createId();
  await using(config, async ({ storage, blobs }) => {
    const blobPrefix = `checkpoints/${id}/0`;
    const { sizeBytes } = await putAdapter(blobs, blobPrefix);
    await storage.models.create(
      { id, entity: 'team', project: 'p', name: 'new', baseModel: 'base', runId: null, createdAtMs: NOW },
      { id: createId(), modelId: id, step: 0, metrics: {}, blobPrefix, fresh: true, createdAtMs: NOW },
    );
    await storage.accounts.addBlob({ blob: blobPrefix, entity: 'team', keyId: 'k', sizeBytes });
  });
  return id;
}

describe('a server', () => {
  test('does not start on an empty database next to blobs, however often it is tried', async () => {
    await expect(start(config)).rejects.toThrow(NO_MODEL);
    await loseDatabase();
    await expect(start(config)).rejects.toThrow(LOST);
    await expect(start(config)).rejects.toThrow(LOST); // the first attempt made an empty one
    await rename(join(config.dataDirectory, 'blobs'), join(config.dataDirectory, 'blobs-before'));
    await expect(start(config)).rejects.toThrow(NO_MODEL);
  });

  test('starts on what a new server leaves if it is killed in its first requests', async () => {
    const fresh = localStore(join(root, 'fresh'));
    await using(fresh, async ({ blobs }) => {
      for (let i = 0; i < 8; i++) await putAdapter(blobs, `checkpoints/${createId()}/0`); // of concurrent clients
      for (let i = 0; i < 8; i++) await blobs.put(`artifacts/${i}`, Buffer.from(String(i)));
    });
    await expect(start(fresh)).rejects.toThrow(NO_MODEL);
    await using(fresh, ({ blobs }) => blobs.put(`jobs/${createId()}/body.jsonl`, Buffer.from('{}')));
    await expect(start(fresh)).rejects.toThrow(LOST);
  });

  test('does not start on what an interrupted restore leaves without rows', async () => {
    const empty = localStore(join(root, 'empty'));
    await using(empty, ({ blobs }) => blobs.put('artifacts/1', Buffer.from('1')));
    await writeFile(restoringPath(empty.dataDirectory), '');
    await expect(start(empty)).rejects.toThrow('was interrupted, so only a part of the backup may be there.');
    await rm(restoringPath(empty.dataDirectory));
    await expect(start(empty)).rejects.toThrow(NO_MODEL);
  });

  test('starts where a restore was interrupted after it had copied the rows, which come last', async () => {
    await writeFile(restoringPath(config.dataDirectory), '');
    await expect(start(config)).rejects.toThrow(NO_MODEL);
    await expect(access(restoringPath(config.dataDirectory))).rejects.toThrow('ENOENT');
  });
});

test('with one new model in another database a repair deletes nothing: everything can be recovered', async () => {
  const kept = join(root, 'kept');
  await mkdir(kept);
  for (const name of DATABASE) await cp(join(config.dataDirectory, name), join(kept, name)).catch(() => {});
  const blobs = join(config.dataDirectory, 'blobs');
  const before = await filesBelow(blobs);
  await loseDatabase();
  const newModel = await addModel();

  const { findings, quarantine } = await runDoctor(config, true, quiet);
  expect(findings.length).toBeGreaterThan(5);
  for (const each of findings) expect(each).toMatchObject({ kind: 'orphan_blob', repaired: true });
  expect(quarantine).toMatch(/blobs\/quarantine\/[-0-9TZ]+$/);
  expect(await filesBelow(quarantine!)).toEqual(before);
  expect((await runDoctor(config, true, quiet)).quarantine).toBeNull();

  // As the error message advises.
  await cp(quarantine!, blobs, { recursive: true });
  await rm(join(blobs, 'quarantine'), { recursive: true });
  await loseDatabase();
  await cp(kept, config.dataDirectory, { recursive: true });
  const again = await runDoctor(config, false, quiet);
  expect(again.findings).toMatchObject([{ kind: 'orphan_blob', where: `checkpoints/${newModel}/0` }]);
  expect(again.looked).toMatchObject({ models: 1, checkpoints: 2, jobs: 3, artifactFiles: 1 });
  expect(again.findings.some(({ where }) => where.includes(stored.modelId))).toBe(false);
});

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}
