import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'libsql';
import { afterAll, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { describeSchema } from '../../../scripts/generate-schema.ts';
import { aPayer } from '../../../test/support/a-caller.ts';
import { storageContract } from '../../../test/support/contract/storage.ts';
import { addModel } from '../../../test/support/contract/stored-rows.ts';
import { createRecordingLog } from '../../../test/support/serving/recording-log.ts';
import type { Storage } from '../storage.ts';
import { SCHEMA_VERSION } from './migrate.ts';
import { firstLight } from './migrations/0001-first-light.ts';
import { usage } from './migrations/0002-usage.ts';
import { resumedRequests } from './migrations/0003-resumed-requests.ts';
import { artifacts } from './migrations/0004-artifacts.ts';
import { keysAndLimits } from './migrations/0005-keys-and-limits.ts';
import { webhooks } from './migrations/0006-webhooks.ts';
import { openSqliteStorage } from './open-sqlite.ts';

const directory = await mkdtemp(join(tmpdir(), 'whetstone-sqlite-'));
const opened: Storage[] = [];
let files = 0;
const newFile = (): string => join(directory, `${files++}.db`);

async function open(path = newFile()): Promise<Storage> {
  const storage = await openSqliteStorage({ path, log: silentLog });
  opened.push(storage);
  return storage;
}
afterAll(async () => {
  for (const storage of opened) await storage.close();
  await rm(directory, { recursive: true, force: true });
});

/** Runs `use` on the bare file while a Storage may have it open. */
function withDatabase<T>(path: string, use: (database: Database.Database) => T): T {
  const database = new Database(path);
  try {
    return use(database);
  } finally {
    database.close();
  }
}

storageContract('sqlite', () => open());

test('written rows are there after the file is opened again, and migrations do not run twice', async () => {
  const path = newFile();
  const first = await openSqliteStorage({ path, log: silentLog });
  const model = await addModel(first);
  await first.jobs.create({
    id: 'job',
    type: 'rl',
    modelId: model.id,
    entity: 'team',
    keyId: 'k',
    bodyBlob: 'x',
    createdAtMs: 1,
  });
  const claimed = await first.jobs.claim('w', 1, 1_000, null);
  await first.close();
  const schema = withDatabase(path, describeSchema);
  const again = await open(path);
  expect(await again.models.find(model.id)).toEqual(model);
  expect(await again.jobs.find('job')).toEqual(claimed);
  expect(await again.jobs.claim('other', 1_000, 1_000, null)).toBeNull(); // the lease is still held
  expect(withDatabase(path, describeSchema)).toBe(schema);
  const versions = withDatabase(path, (database) => database.prepare('select version from schema_version').all());
  expect(versions).toEqual([{ version: SCHEMA_VERSION }]);
});

test('a file of an older version keeps its rows and is migrated', async () => {
  const path = newFile();
  withDatabase(path, (database) => {
    for (const statement of firstLight) database.exec(statement);
    database.exec('create table schema_version (version integer not null)');
    database.exec('insert into schema_version (version) values (1)');
    database.exec("insert into api_keys values ('id', 'team', 'old', 'hash', 1, null)");
  });
  const storage = await open(path);
  expect(await storage.apiKeys.findByHash('hash')).toMatchObject({ id: 'id', name: 'old' });
  expect((await storage.usage.list({ entity: 'team' }, { after: null, limit: 1 })).rows).toEqual([]);
  const fresh = newFile();
  await open(fresh);
  expect(withDatabase(path, describeSchema)).toBe(withDatabase(fresh, describeSchema));
});

test('an older file knows the highest step that each model ever had, and which adapters are fresh', async () => {
  const path = newFile();
  withDatabase(path, (database) => {
    for (const statement of [firstLight, usage, resumedRequests, artifacts, keysAndLimits, webhooks].flat())
      database.exec(statement);
    database.exec('create table schema_version (version integer not null)');
    database.exec('insert into schema_version (version) values (6)');
    const jobs = [
      ['deleted', '0', 'succeeded', 4],
      ['forked', 'fork', 'failed', 4],
      ['under-way', '0', 'succeeded', 4],
      ['half-way', '0', 'succeeded', 2],
    ] as const;
    const addJob = (id: string, ordinal: number, model: string, status: string, step: number) =>
      database.exec(`insert into training_jobs (id, ordinal, type, model_id, entity, status, body_blob, attempt, cancel_requested, step, progress, skipped, created_at_ms)
        values ('${id}', ${ordinal}, 'rl', '${model}', 'team', '${status}', 'b', 1, 0, ${step}, 1, '{}', 1)`);
    for (const [i, [model, zero, status, step]] of jobs.entries()) {
      database.exec(`insert into models values ('${model}', ${i}, 'team', 'p', '${model}', 'base', null, 1)`);
      database.exec(
        `insert into checkpoints values ('${model}-0', '${model}', 0, '{}', 'checkpoints/${model}/${zero}', 1)`,
      );
      addJob(`${model}-job`, i, model, status, step);
    }
    addJob('kept', 11, 'half-way', 'running', 3);
    addJob('given-away', 10, 'under-way', 'running', 1); // as the older version counted: its only checkpoint is step 0
  });
  const storage = await open(path);
  const steps: Record<string, unknown> = {};
  for (const modelId of ['deleted', 'forked']) {
    const id = `${modelId}-next`;
    await storage.jobs.create({ id, type: 'rl', modelId, entity: 'team', keyId: 'k', bodyBlob: 'b', createdAtMs: 2 });
    const { attempt } = (await storage.jobs.claim('w', 1, 1_000, null))!;
    steps[modelId] = [(await storage.checkpoints.find(modelId, 0))!.fresh, await storage.jobs.assignStep(id, attempt)];
  }
  expect(steps).toEqual({ deleted: [true, 5], forked: [false, 1] });
  expect(await storage.jobs.assignStep('given-away', 1)).toBe(5);
  expect(await storage.jobs.assignStep('kept', 1)).toBe(3);
});

test('versions of an older file are sorted by their size and their number of files', async () => {
  const path = newFile();
  const { artifacts: written } = await open(path);
  const about = { entity: 'team', project: 'p', type: 'dataset', metadata: {}, createdAtMs: 1 };
  const payer = aPayer();
  await written.addContent({ entity: 'team', sha256: 'x', md5: null, sizeBytes: 9, blob: 'artifacts/x' }, payer, 1);
  for (const sizes of [[9], [3, 3], []]) {
    const id = String(sizes.length);
    const files = sizes.map((sizeBytes, at) => ({ path: `f${at}`, sha256: 'x', sizeBytes }));
    await written.create({ ...about, id, name: id, files, digest: id }, [], payer);
  }
  await opened.pop()!.close();
  withDatabase(path, (database) => {
    for (const [column, index] of [
      ['file_count', 'files'],
      ['size_bytes', 'size'],
    ])
      database.exec(`drop index artifacts_by_${index}; alter table artifacts drop column ${column}`);
    for (const index of ['of_entity', 'by_name', 'by_type']) database.exec(`drop index artifacts_${index}`);
    database.exec('update schema_version set version = 25');
  });
  const { artifacts: migrated } = await open(path);
  const sorted = async (sort: 'files' | 'size') =>
    (await migrated.list({ entity: 'team' }, { after: null, limit: 9 }, 'asc', sort)).rows.map(({ id }) => id);
  expect([await sorted('files'), await sorted('size')]).toEqual([
    ['0', '1', '2'],
    ['0', '2', '1'],
  ]);
});

test('the log reports a schema migration, and only then', async () => {
  const path = newFile();
  const log = createRecordingLog();
  for (let i = 0; i < 2; i++) await (await openSqliteStorage({ path, log })).close();
  expect(log.lines).toEqual([
    { level: 'info', event: 'schema.migrated', fields: { place: path, from: 0, to: SCHEMA_VERSION } },
  ]);
});

test('two connections to one file never claim the same job', async () => {
  const path = newFile();
  const [a, b] = [await open(path), await open(path)];
  await addJobs(a, 10);
  const claims = await Promise.all(
    Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? a : b).jobs.claim(`w${i}`, 1, 1_000, null)),
  );
  const ids = claims.flatMap((job) => (job ? [job.id] : []));
  expect(ids).toHaveLength(10);
  expect(new Set(ids).size).toBe(10);
});

test('two processes may open a new file at once, and share its jobs without claiming one twice', async () => {
  const path = newFile();
  const opening = `
    const { openSqliteStorage } = await import(${JSON.stringify(new URL('./open-sqlite.ts', import.meta.url).href)});
    const { silentLog } = await import(${JSON.stringify(new URL('../../base/log.ts', import.meta.url).href)});
    const storage = await openSqliteStorage({ path: ${JSON.stringify(path)}, log: silentLog });`;
  await Promise.all([runScript(`${opening} await storage.close();`), runScript(`${opening} await storage.close();`)]);
  await addJobs(await open(path), 40);
  const claiming = `${opening}
    for (let job; (job = await storage.jobs.claim('w', 1, 1_000, null)); ) console.log(job.id);
    await storage.close();`;
  const claimed = (await Promise.all([runScript(claiming), runScript(claiming)])).join('').trim().split('\n');
  expect(claimed.sort()).toEqual(Array.from({ length: 40 }, (_, i) => `job-${i}`).sort());
});

async function runScript(script: string): Promise<string> {
  const args = [...process.execArgv, '--input-type=module', '--eval', script];
  return (await promisify(execFile)(process.execPath, args, { timeout: 30_000 })).stdout;
}

async function addJobs(storage: Storage, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { id: modelId } = await addModel(storage);
    await storage.jobs.create({
      id: `job-${i}`,
      type: 'rl',
      modelId,
      entity: 'team',
      keyId: 'k',
      bodyBlob: 'x',
      createdAtMs: i,
    });
  }
}

test('usage that cannot be written whole is not written at all, and can be given again', async () => {
  const path = newFile();
  const { usage } = await open(path);
  const amounts = { requests: 1, promptTokens: 10, cachedTokens: 0, completionTokens: 1 };
  const entries = ['good', 'bad'].map((model) => ({
    entity: 'team',
    keyId: 'k',
    project: '',
    model,
    dayUtc: '2026-06-01',
    ...amounts,
  }));
  const total = async () => (await usage.list({ entity: 'team' }, { after: null, limit: 9 })).totals.promptTokens;
  withDatabase(path, (database) =>
    database.exec(
      "create trigger refuse before insert on usage when new.model = 'bad' begin select raise(abort, 'no'); end",
    ),
  );
  await expect(usage.add(entries)).rejects.toThrow();
  expect(await total()).toBe(0);
  withDatabase(path, (database) => database.exec('drop trigger refuse'));
  await usage.add(entries);
  expect(await total()).toBe(20);
});

test('U+0000 does not cut a text short', async () => {
  const storage = await open();
  const { id } = await addModel(storage, { name: 'before\0after' });
  expect((await storage.models.find(id))?.name).toBe('before\ufffdafter');
  expect((await storage.models.findByName('team', 'p', 'before\0after'))?.id).toBe(id);
});

test('a database of a newer whetstone is refused and left unchanged', async () => {
  const path = newFile();
  withDatabase(path, (database) => {
    database.exec('create table schema_version (version integer not null)');
    database.exec(`insert into schema_version (version) values (${SCHEMA_VERSION + 1})`);
    database.exec('create table something_new (id text)');
  });
  const schema = withDatabase(path, describeSchema);
  await expect(openSqliteStorage({ path, log: silentLog })).rejects.toMatchObject({
    code: 'invalid_request',
    message: `The database ${path} has schema version ${SCHEMA_VERSION + 1}, this whetstone knows versions up to ${SCHEMA_VERSION}. Use the newer whetstone that wrote it.`,
  });
  expect(withDatabase(path, describeSchema)).toBe(schema);
  expect(withDatabase(path, (database) => database.prepare('select version from schema_version').all())).toEqual([
    { version: SCHEMA_VERSION + 1 },
  ]);
});

test('a file that is not a database is refused by name and left unchanged', async () => {
  const path = newFile();
  const text = 'Dear diary, today I was mistaken for a database. '.repeat(40);
  await writeFile(path, text);
  const asDirectory = newFile();
  await mkdir(asDirectory);
  for (const each of [path, asDirectory]) {
    await expect(openSqliteStorage({ path: each, log: silentLog })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(`Cannot open the database ${each}`) as string,
    });
  }
  expect(await readFile(path, 'utf8')).toBe(text);
});

test('the migrations make the schema that schema.sql shows (npm run generate:schema)', async () => {
  const path = newFile();
  await open(path);
  const golden = await readFile(new URL('./schema.sql', import.meta.url), 'utf8');
  expect(withDatabase(path, describeSchema)).toBe(golden);
});
