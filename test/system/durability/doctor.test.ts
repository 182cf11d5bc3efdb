// Each kind of damage is found and named, a healthy store is reported as healthy, and repairs delete nothing that was acknowledged.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { rowBytes } from '#domain/artifact';
import { episodeBytes } from '#domain/episode';
import { sealJson } from '#services/jobs/data/sealed-json';
import { SCHEMA_VERSION } from '#storage/sql/migrate';
import type { StoreConfig } from '../../../src/config/server-config.ts';
import { lockDataDirectory } from '../../../src/server/data-lock.ts';
import { runDoctor } from '../../../src/maintenance/run-doctor.ts';
import { localStore, makeStore, putAdapter, quiet, runToEnd, type Stored, using } from './a-store.ts';

const root = await mkdtemp(join(tmpdir(), 'whetstone-doctor-'));
afterAll(() => rm(root, { recursive: true, force: true }));

let config: StoreConfig;
let stored: Stored;
beforeEach(async () => void ({ config, stored } = await makeStore(root)));

const blobPath = (name: string): string => join(config.dataDirectory, 'blobs', name);

async function spoil(name: string): Promise<void> {
  const bytes = await readFile(blobPath(name));
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(blobPath(name), bytes);
}

function sqlite<T>(use: (database: Database.Database) => T): T {
  const database = new Database(join(config.dataDirectory, 'whetstone.db'));
  try {
    return use(database);
  } finally {
    database.close();
  }
}

const examine = async () => (await runDoctor(config, false, quiet)).findings.map(({ kind, where }) => [kind, where]);

test('a store in use is healthy, also with running and waiting jobs, and is counted', async () => {
  const { findings, looked } = await runDoctor(config, false, quiet);
  expect(findings).toEqual([]);
  expect(looked).toMatchObject({ models: 1, checkpoints: 2, jobs: 3, events: 4, artifactFiles: 1, blobs: 18 });
  expect(looked!.sizeBytes).toBeGreaterThan(100_000);
});

describe('lost and damaged data is named, and left unchanged', () => {
  const cases: [what: string, blob: () => string][] = [
    ['weights of a checkpoint', () => `checkpoints/${stored.modelId}/${stored.endedId}/adapter_model.safetensors`],
    ['list of checksums', () => `checkpoints/${stored.modelId}/0/checksums.json`],
    ['body of an RL job', () => `jobs/${stored.runningId}/body.jsonl`],
    ['body of an SFT job', () => `jobs/${stored.queuedId}/body.jsonl`],
    ['file of an artifact', () => stored.artifactBlob],
    ['logged trajectories', () => stored.logBlob],
    ['answers of an evaluation', () => stored.answersBlob],
  ];
  const ownerOf = (blob: string) => (blob.startsWith('checkpoints/') ? blob.split('/').slice(0, 3).join('/') : blob);

  test.each(cases)('%s, changed by one bit', async (_, blob) => {
    await spoil(blob());
    expect(await examine()).toEqual([['damaged_data', ownerOf(blob())]]);
    const bytes = await readFile(blobPath(blob()));
    const { findings } = await runDoctor(config, true, quiet);
    expect(findings).toMatchObject([{ kind: 'damaged_data', repaired: false, repair: null }]);
    expect(findings[0]!.remedy).toContain('restore it from a backup');
    expect(await readFile(blobPath(blob()))).toEqual(bytes);
  });

  test.each(cases.filter(([what]) => what !== 'list of checksums'))('%s, gone', async (_, blob) => {
    await rm(blobPath(blob()));
    expect(await examine()).toEqual([['missing_data', ownerOf(blob())]]);
    expect((await runDoctor(config, true, quiet)).findings).toMatchObject([{ kind: 'missing_data', repaired: false }]);
  });

  test('a whole missing checkpoint is named readably', async () => {
    await rm(blobPath(`checkpoints/${stored.modelId}/${stored.endedId}`), { recursive: true });
    const { findings } = await runDoctor(config, false, quiet);
    expect(findings).toMatchObject([{ kind: 'missing_data', problem: 'checkpoint 1 of team/p/m has no files' }]);
  });

  test('the body of an ended job may be missing; its owner is no longer charged for it', async () => {
    await rm(blobPath(`jobs/${stored.endedId}/body.jsonl`));
    expect(await examine()).toEqual([['ledger_without_blob', `jobs/${stored.endedId}/body.jsonl`]]);
    await runDoctor(config, true, quiet);
    expect(await examine()).toEqual([]);
  });
});

describe('events', () => {
  const broken: [what: string, statement: string][] = [
    ['a gap', "delete from training_events where ordinal = 1 and job_id = 'ENDED'"],
    ['no beginning', "delete from training_events where ordinal = 0 and job_id = 'ENDED'"],
    ['no closing event of a job that has ended', "delete from training_events where ordinal = 2 and job_id = 'ENDED'"],
    [
      'a closing event of a job that runs',
      "update training_events set type = 'training_failed' where job_id = 'RUNNING'",
    ],
    [
      'the wrong closing event',
      "update training_events set type = 'training_failed' where ordinal = 2 and job_id = 'ENDED'",
    ],
    [
      'an event after the closing one',
      "update training_events set ordinal = 3 - ordinal where ordinal > 0 and job_id = 'ENDED'",
    ],
  ];
  test.each(broken)('%s', async (what, statement) => {
    sqlite((database) => {
      const text = statement.replace('ENDED', stored.endedId).replace('RUNNING', stored.runningId);
      if (what === 'an event after the closing one') database.exec(text.replace('3 - ordinal', 'ordinal + 10'));
      database.exec(
        what === 'an event after the closing one'
          ? `update training_events set ordinal = 13 - ordinal where ordinal > 10`
          : text,
      );
    });
    const id = what.endsWith('runs') ? stored.runningId : stored.endedId;
    expect(await examine()).toEqual([['bad_events', `job ${id}`]]);
  });
});

test('two checkpoints of one step are found if the index that forbids them is missing', async () => {
  sqlite((database) => {
    database.exec('pragma foreign_keys = off');
    database.exec('create table copy as select * from checkpoints');
    database.exec('drop table checkpoints');
    database.exec('alter table copy rename to checkpoints');
    database.exec(
      `insert into checkpoints (id, model_id, step, metrics, blob_prefix, created_at_ms, fresh)
       select 'second', model_id, step, metrics, blob_prefix, created_at_ms, fresh from checkpoints where step = 1`,
    );
  });
  expect((await examine()).map(([kind]) => kind)).toEqual(['duplicate_checkpoint']);
});

describe('the database', () => {
  test('a damaged one is named, and no further conclusions are drawn from it', async () => {
    const path = join(config.dataDirectory, 'whetstone.db');
    sqlite((database) => database.exec('pragma wal_checkpoint(truncate)'));
    const bytes = await readFile(path);
    bytes.fill(0x5a, 4096 * 3, 4096 * 12);
    await writeFile(path, bytes);
    const { findings, looked } = await runDoctor(config, true, quiet);
    expect(looked).toBeNull();
    expect(new Set(findings.map(({ kind }) => kind))).toEqual(new Set(['database_damaged']));
    expect(findings[0]).toMatchObject({ where: path, remedy: 'restore it from a backup', repaired: false });
  });

  test('a file that is not a database is named in the error', async () => {
    await rm(join(config.dataDirectory, 'whetstone.db-wal'), { force: true });
    await writeFile(join(config.dataDirectory, 'whetstone.db'), 'Dear diary. '.repeat(500));
    expect((await examine()).map(([kind]) => kind)).toEqual(['database_damaged']);
  });

  test('a row that refers to a missing one stops any deletion', async () => {
    sqlite((database) => {
      database.exec('pragma foreign_keys = off');
      database.exec('delete from models');
    });
    const { findings } = await runDoctor(config, true, quiet);
    expect(findings.map(({ kind }) => kind)).toContain('dangling_reference');
    expect(findings.filter(({ repaired }) => repaired)).toEqual([]);
  });

  test.each([
    ['old_schema', SCHEMA_VERSION - 1, 'whetstone migrate'],
    ['new_schema', SCHEMA_VERSION + 1, 'newer whetstone'],
  ])('an unknown version: %s', async (kind, version, remedy) => {
    sqlite((database) => database.exec(`update schema_version set version = ${version}`));
    const { findings, looked } = await runDoctor(config, true, quiet);
    expect(findings).toMatchObject([{ kind, remedy: expect.stringContaining(remedy) as string, repaired: false }]);
    expect(looked).toBeNull();
    expect(sqlite((database) => database.prepare('select version from schema_version').get())).toMatchObject({
      version,
    });
  });
});

test('repair removes exactly what nothing refers to, and corrects accounts', async () => {
  const { modelId, runningId } = stored;
  await using(config, async ({ storage, blobs }) => {
    await storage.jobs.releaseLeases(null);
    await runToEnd(storage, blobs, modelId, runningId); // the process died before it deleted the job's progress
    await blobs.put('artifacts/upload-that-died', Buffer.from('12345'));
    await blobs.put('jobs/of-a-deleted-model/body.jsonl', Buffer.from('1'));
    await blobs.put('logs/deleted-model/1.jsonl', Buffer.from('1'));
    await storage.accounts.addBlob({ blob: 'logs/deleted-model/1.jsonl', entity: 'team', keyId: 'k', sizeBytes: 1 });
    await putAdapter(blobs, `checkpoints/${modelId}/fork`);
    await storage.accounts.addBlob({ blob: 'artifacts/gone', entity: 'team', keyId: 'k', sizeBytes: 9 });
    await storage.accounts.removeBlobs(`checkpoints/${modelId}/0`);
    await storage.accounts.addBlob({ blob: stored.artifactBlob, entity: 'team', keyId: 'k', sizeBytes: 3 });
  });
  const expected = [
    ['orphan_blob', `checkpoints/${modelId}/fork`],
    ['leftover_job_data', `jobs/${runningId}/prepared.json`],
    ['leftover_job_data', `jobs/${runningId}/resume`],
    ['orphan_blob', 'jobs/of-a-deleted-model/body.jsonl'],
    ['orphan_blob', 'artifacts/upload-that-died'],
    ['orphan_blob', 'logs/deleted-model/1.jsonl'],
    ['blob_without_ledger', `checkpoints/${modelId}/0`],
    ['wrong_ledger_size', stored.artifactBlob],
    ['ledger_without_blob', 'artifacts/gone'],
  ];
  expect((await examine()).sort()).toEqual(expected.sort());
  const before = await using(config, ({ blobs }) => listAll(blobs));
  const { findings } = await runDoctor(config, true, quiet);
  expect(findings.filter(({ repaired }) => !repaired)).toEqual([]);
  expect(await examine()).toEqual([]);
  await using(config, async ({ storage, blobs }) => {
    const deleted = expected.filter(([kind]) => /orphan|leftover/.test(kind!)).map(([, blob]) => blob!);
    const left = before.filter((name) => !deleted.some((blob) => name === blob || name.startsWith(`${blob}/`)));
    expect(await listAll(blobs)).toEqual(left);
    const sizes = [...(await sizesOf(blobs, left)).values()].reduce((sum, size) => sum + size, 0);
    const rows = { metadata: {}, files: [{ path: 'train.jsonl', sizeBytes: 0, sha256: '' }] }; // of the one version
    const episode = (await storage.episodes.find(stored.episodeId))!;
    const paid = sizes + rowBytes(rows, 1) + episodeBytes(episode);
    expect(await storage.accounts.storedBytes({ entity: 'team', keyId: null })).toBe(paid);
  });
});

test('a database that knows none of the blobs is not trusted', async () => {
  const empty = localStore(join(root, 'empty'));
  await using(empty, async ({ blobs }) => void (await blobs.put('jobs/1/body.jsonl', sealJson(1))));
  const { findings } = await runDoctor(empty, true, quiet);
  expect(findings).toMatchObject([{ kind: 'orphan_blob', repaired: false }]);
  expect(findings[0]!.remedy).toContain('check that it is the right database');
});

test('it refuses while a server uses the directory, and makes no store if there is none', async () => {
  const lock = await lockDataDirectory(config.dataDirectory);
  await expect(runDoctor(config, false, quiet)).rejects.toThrow('in use by the server with process id');
  await lock.release();
  const nowhere = localStore(join(root, 'nowhere'));
  await expect(runDoctor(nowhere, false, quiet)).rejects.toThrow('There is no database');
  await expect(readFile(nowhere.dataDirectory)).rejects.toThrow('ENOENT');
});

type Blobs = Parameters<Parameters<typeof using>[1]>[0]['blobs'];

async function listAll(blobs: Blobs): Promise<string[]> {
  const roots = ['artifacts', 'checkpoints', 'evaluations', 'jobs', 'logs', 'responses'];
  return (await Promise.all(roots.map((name) => blobs.list(name)))).flat().map(({ name }) => name);
}

/** Without the lists of checksums, which are not charged. */
async function sizesOf(blobs: Blobs, names: readonly string[]): Promise<Map<string, number>> {
  const paid = names.filter((name) => !name.endsWith('/checksums.json'));
  return new Map(await Promise.all(paid.map(async (name) => [name, (await blobs.find(name))!.length] as const)));
}
