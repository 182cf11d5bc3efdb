// A backup of a store in use is a snapshot of one moment and has all bytes that its rows refer to; a restore recovers it.
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { backUp } from '#maintenance/backup';
import { createMemoryBlobs } from '#storage/blobs/memory';
import { SCHEMA_VERSION } from '#storage/sql/migrate';
import { firstLight } from '#storage/sql/migrations/0001-first-light';
import type { StoreConfig } from '../../../src/config/server-config.ts';
import { runBackup } from '../../../src/maintenance/run-backup.ts';
import { runDoctor } from '../../../src/maintenance/run-doctor.ts';
import { runRestore } from '../../../src/maintenance/run-restore.ts';
import { refuseUnfinishedRestore } from '../../../src/maintenance/unfinished-restore.ts';
import { fillStore, localStore, NOW, putAdapter, quiet, runToEnd, submitRl, using, type Stored } from './a-store.ts';
import { begun, readBlobs, readRows } from './whole-store.ts';
import { openStorageInMemory } from '../../support/storage-in-memory.ts';

const root = await mkdtemp(join(tmpdir(), 'whetstone-backup-'));
afterAll(() => rm(root, { recursive: true, force: true }));

let made = 0;
const newPlace = (): string => join(root, String(made++));
let config: StoreConfig;
let stored: Stored;
let directory: string;
beforeEach(async () => {
  config = localStore(newPlace());
  stored = await fillStore(config);
  directory = newPlace();
});

const isProgress = (name: string): boolean => /^jobs\/[^/]+\/(?:resume\/|prepared\.json$)/.test(name);
const withoutProgress = (blobs: Map<string, string>) => new Map([...blobs].filter(([name]) => !isProgress(name)));

describe('a backup', () => {
  test('has the rows and blobs of the store, without the progress of jobs, and is a sound data directory', async () => {
    const { findings, looked, settled } = await using(config, () => runBackup(config, directory, quiet)); // the store is open
    expect([findings, settled]).toEqual([[], true]);
    expect(looked).toMatchObject({ models: 1, checkpoints: 2, jobs: 3, artifactFiles: 1, blobs: 13 });
    expect((await readdir(directory)).sort()).toEqual(['blobs', 'whetstone.db']);
    const file = await readFile(join(directory, 'whetstone.db'));
    expect((await runDoctor(localStore(directory), false, quiet)).findings).toEqual([]);
    expect(await readFile(join(directory, 'whetstone.db'))).toEqual(file);
    expect(readRows(directory)).toEqual(readRows(config.dataDirectory));
    expect(await readBlobs(directory)).toEqual(withoutProgress(await readBlobs(config.dataDirectory)));
  });

  test('counts its bytes up to all of them, and so does a restore', async () => {
    type Shown = [doing: string, doneBytes: number, ofBytes: number];
    const shown: Shown[] = [];
    const onDone = (...each: Shown): void => void shown.push(each);
    const last = (word: string) => shown.findLast(([doing]) => doing === word);
    const { looked } = await runBackup(config, directory, onDone);
    expect(shown[0]).toEqual(['copying rows', 0, 0]);
    expect(last('copying')).toEqual(['copying', looked.sizeBytes, looked.sizeBytes]);
    shown.length = 0;
    await runRestore(localStore(newPlace()), directory, false, onDone);
    const [, checked, toCheck] = last('checking')!;
    expect([checked, toCheck > 0]).toEqual([toCheck, true]);
    expect(last('copying')).toEqual(['copying', looked.sizeBytes, looked.sizeBytes]);
    expect(shown.map(([doing]) => doing).lastIndexOf('checking')).toBeLessThan(
      shown.map(([doing]) => doing).indexOf('copying'),
    );
  });

  test('is consistent while other clients write and delete', async () => {
    const writing = using(config, async ({ storage, blobs }) => {
      for (let i = 0; i < 40; i++) {
        const modelId = `model-${i}`;
        const blobPrefix = `checkpoints/${modelId}/0`;
        const { sizeBytes } = await putAdapter(blobs, blobPrefix);
        await storage.models.create(
          { id: modelId, entity: 'team', project: 'p', name: modelId, baseModel: 'b', runId: null, createdAtMs: NOW },
          { id: `zero-${i}`, modelId, step: 0, metrics: {}, blobPrefix, fresh: true, createdAtMs: NOW },
        );
        await storage.accounts.addBlob({ blob: blobPrefix, entity: 'team', keyId: 'k', sizeBytes });
        await runToEnd(storage, blobs, modelId, await submitRl(storage, blobs, modelId));
        if (i % 3 !== 0) continue;
        const gone = await storage.models.delete(modelId);
        for (const each of [...gone!.checkpoints.map((c) => c.blobPrefix), ...gone!.bodyBlobs]) {
          await blobs.delete(each);
          await storage.accounts.removeBlobs(each);
        }
      }
    });
    const backups: string[] = [];
    let isWriting = true;
    void writing.finally(() => (isWriting = false));
    while (isWriting) {
      const place = newPlace();
      const { findings, settled } = await runBackup(config, place, quiet);
      if (!settled) continue; // the backup said that it is incomplete
      expect(findings).toEqual([]);
      backups.push(place);
    }
    await writing;
    expect(backups.length).toBeGreaterThan(1);
    const counts = backups.map((place) => readRows(place)['models']!.length);
    expect(new Set(counts).size).toBeGreaterThan(1); // the backups were made at different moments
    for (const place of backups) expect((await runDoctor(localStore(place), false, quiet)).findings).toEqual([]);
  });

  describe('of models whose owners delete them while it copies', () => {
    /** Deletes the bytes of the model being copied, and its row before the rows are copied again. */
    async function race(deletions: number, arrivals: boolean) {
      const [storage, blobs] = [await openStorageInMemory(), createMemoryBlobs()];
      const addModel = async (id: string) => {
        const blobPrefix = `checkpoints/${id}/0`;
        await putAdapter(blobs, blobPrefix);
        await storage.models.create(
          { id, entity: 'team', project: 'p', name: id, baseModel: 'b', runId: null, createdAtMs: NOW },
          { id: `${id}-0`, modelId: id, step: 0, metrics: {}, blobPrefix, fresh: true, createdAtMs: NOW },
        );
      };
      for (const id of ['a', 'b', 'c']) await addModel(id);
      const deleted: string[] = [];
      let [copies, left] = [0, deletions];
      const report = await backUp({
        async copyRows() {
          for (const id of deleted.splice(0)) await storage.models.delete(id);
          if (arrivals) await addModel(`new-${copies}`);
          copies++;
          return { inventory: storage.inventory, accounts: storage.accounts, close: async () => {} };
        },
        source: {
          ...blobs,
          async list(prefix) {
            if (prefix.includes('/') && left-- > 0) {
              await blobs.delete(prefix);
              deleted.push(prefix.split('/')[1]!);
            }
            return blobs.list(prefix);
          },
        },
        target: createMemoryBlobs(),
      });
      return { ...report, copies };
    }

    test('the rows are copied again, and then the backup is complete', async () => {
      expect(await race(1, false)).toMatchObject({ settled: true, findings: [], looked: { models: 2 }, copies: 2 });
    });

    test('after five copies of the rows the backup says that it is incomplete', async () => {
      const { settled, findings, copies } = await race(Infinity, true);
      expect([settled, copies]).toEqual([false, 5]);
      expect(findings).toMatchObject([{ kind: 'missing_data' }]);
    });
  });

  test('of a store that has lost something names it, and has all the rest', async () => {
    const weights = `checkpoints/${stored.modelId}/0/adapter_model.safetensors`;
    await writeFile(join(config.dataDirectory, 'blobs', weights), 'other bytes');
    await rm(join(config.dataDirectory, 'blobs', stored.artifactBlob));
    const { findings, settled } = await runBackup(config, directory, quiet);
    expect(settled).toBe(true);
    expect(findings.map(({ kind, where }) => [kind, where])).toEqual([
      ['damaged_data', `checkpoints/${stored.modelId}/0`],
      ['missing_data', stored.artifactBlob],
    ]);
    expect(readRows(directory)).toEqual(readRows(config.dataDirectory));
  });

  test('refuses an existing directory, and leaves none after a failure', async () => {
    await mkdir(directory);
    await expect(runBackup(config, directory, quiet)).rejects.toThrow('already exists');
    const other = newPlace();
    await mkdir(`${other}.unfinished`);
    await expect(runBackup(config, other, quiet)).rejects.toThrow('another backup is running, or was killed');
    const third = newPlace();
    await expect(runBackup(localStore(newPlace()), third, quiet)).rejects.toThrow('There is no database');
    expect((await readdir(root)).filter((name) => join(root, name).startsWith(third))).toEqual([]);
  });
});

describe('a restore', () => {
  let empty: StoreConfig;
  beforeEach(async () => {
    await runBackup(config, directory, quiet);
    empty = localStore(newPlace());
  });

  test('has equal rows and blobs; running jobs can be claimed at once, open requests start again', async () => {
    const backup = await readFile(join(directory, 'whetstone.db'));
    expect(await runRestore(empty, directory, false, quiet)).toMatchObject({ outcome: 'restored', findings: [] });
    expect(await readFile(join(directory, 'whetstone.db'))).toEqual(backup);
    expect(readRows(empty.dataDirectory)).toEqual(begun(readRows(config.dataDirectory)));
    expect(await readBlobs(empty.dataDirectory)).toEqual(await readBlobs(directory));
    expect((await readdir(empty.dataDirectory)).filter((name) => !name.startsWith('whetstone.db-'))).toEqual([
      'blobs',
      'lock.db', // empty: the kernel holds a lock of it while somebody works here
      'whetstone.db',
    ]);
    expect((await runDoctor(empty, false, quiet)).findings).toEqual([]);
    await using(empty, async ({ storage }) => {
      expect(await storage.jobs.claim('new', NOW, 1_000, null)).toMatchObject({ id: stored.runningId, attempt: 1 });
      expect(await storage.idempotency.begin('open', 'body', 'x', Date.now())).toEqual({
        outcome: 'new',
        resourceId: 'r',
      });
    });
  });

  test('needs an empty store; an interrupted restore does not block the next one', async () => {
    await expect(runRestore(config, directory, false, quiet)).rejects.toThrow('is not empty');
    await expect(runRestore(empty, newPlace(), false, quiet)).rejects.toThrow('There is no database');
    await using(empty, async ({ blobs }) => void (await blobs.put('artifacts/other', Buffer.from('1'))));
    await expect(runRestore(empty, directory, false, quiet)).rejects.toThrow('it has artifacts/other');
    await refuseUnfinishedRestore(empty); // nothing was written: a server may start
    await rm(join(empty.dataDirectory, 'blobs'), { recursive: true });
    await cp(join(directory, 'blobs'), join(empty.dataDirectory, 'blobs'), { recursive: true });
    await writeFile(join(empty.dataDirectory, 'blobs', stored.artifactBlob), 'half');
    await runRestore(empty, directory, false, quiet);
    expect(await readBlobs(empty.dataDirectory)).toEqual(await readBlobs(directory));
  });

  test('that fails while it copies leaves a store on which no server starts, until it is repeated', async () => {
    const full = (doing: string, doneBytes: number): void => {
      if (doing === 'copying' && doneBytes > 0) throw new Error('the disk is full');
    };
    await expect(runRestore(empty, directory, false, full)).rejects.toThrow('the disk is full');
    await expect(refuseUnfinishedRestore(empty)).rejects.toThrow(
      'was interrupted, so only a part of the backup may be there. Run the same `whetstone restore` again',
    );
    const other = join(empty.dataDirectory, 'blobs', 'artifacts/other');
    await mkdir(join(other, '..'), { recursive: true });
    await writeFile(other, 'not of this backup');
    await expect(runRestore(empty, directory, false, quiet)).rejects.toThrow('it has artifacts/other');
    await expect(refuseUnfinishedRestore(empty)).rejects.toThrow('was interrupted');
    await rm(other);
    await runRestore(empty, directory, false, quiet);
    await refuseUnfinishedRestore(empty);
    expect(await readBlobs(empty.dataDirectory)).toEqual(await readBlobs(directory));
  });

  test('of a damaged backup happens only on request', async () => {
    await writeFile(join(directory, 'blobs', stored.artifactBlob), 'half');
    expect(await runRestore(empty, directory, false, quiet)).toMatchObject({
      outcome: 'refused',
      findings: [{ kind: 'damaged_data', where: stored.artifactBlob }],
    });
    expect(await runRestore(empty, directory, true, quiet)).toMatchObject({ outcome: 'restored' });
    expect(await readBlobs(empty.dataDirectory)).toEqual(await readBlobs(directory));
    await writeFile(join(directory, 'whetstone.db'), 'Dear diary');
    await expect(runRestore(localStore(newPlace()), directory, true, quiet)).rejects.toThrow('is damaged');
  });

  test('migrates a backup of the first version', async () => {
    await rm(join(directory, 'whetstone.db'));
    const database = new Database(join(directory, 'whetstone.db'));
    for (const statement of firstLight) database.exec(statement);
    database.exec('create table schema_version (version integer not null)');
    database.exec('insert into schema_version (version) values (1)');
    database.exec("insert into api_keys values ('id', 'team', 'old', 'hash', 1, null)");
    database.close();
    const before = await readFile(join(directory, 'whetstone.db'));
    expect(await runRestore(empty, directory, false, quiet)).toMatchObject({ outcome: 'restored' });
    expect(readRows(empty.dataDirectory)).toMatchObject({
      schema_version: [{ version: SCHEMA_VERSION }],
      api_keys: [{ id: 'id', name: 'old' }],
    });
    expect(await readFile(join(directory, 'whetstone.db'))).toEqual(before);
  });
});
