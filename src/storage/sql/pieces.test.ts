// What has many rows is deleted in pieces, between which others are answered: SQLite has one connection. test/support/contract says what a
// deletion takes along.
import { expect, onTestFinished, test } from 'vitest';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import { aPayer } from '../../../test/support/a-caller.ts';
import { addModel, aJob, anEvent, closing, NOW } from '../../../test/support/contract/stored-rows.ts';
import type { Storage } from '../storage.ts';
import { openSqliteStorage } from './open-sqlite.ts';
import { inPieces, PIECE } from './pieces.ts';

const PIECES = 20;
const ROWS = PIECES * PIECE;

async function open(): Promise<Storage> {
  const storage = await openSqliteStorage({ path: ':memory:', log: silentLog });
  onTestFinished(() => storage.close());
  return storage;
}

/** Questions that somebody else asks one after another meanwhile, as a check of health does. */
async function answersDuring(storage: Storage, work: () => Promise<unknown>): Promise<number> {
  let [isDone, answers] = [false, 0];
  const asking = (async () => {
    while (!isDone) {
      await storage.ping();
      await new Promise(setImmediate);
      answers++;
    }
  })();
  await work();
  isDone = true;
  await asking;
  return answers;
}

test('a run of many lines', async () => {
  const storage = await open();
  const { runs } = storage;
  const run = { id: createId(), entity: 'team', project: 'p', name: 'r' };
  await runs.upsert(run, {}, aPayer(), NOW);
  const lines = Array.from({ length: ROWS }, (_, i) => `{"_step":${i},"note":"${'x'.repeat(500)}"}`);
  await runs.append(run.id, { offset: 0, lines }, {}, aPayer(), NOW);
  expect(await answersDuring(storage, () => runs.delete(run.id))).toBeGreaterThan(PIECES / 2);
  expect(await runs.history(run.id, 0, 10)).toEqual([]);
});

test('a model whose jobs have many events', async () => {
  const storage = await open();
  const model = await addModel(storage);
  const job = aJob(model.id);
  await storage.jobs.create(job);
  const note = 'x'.repeat(1_000);
  for (let i = 0; i < ROWS; i++) await storage.events.append(anEvent(job.id, i, { data: { note } }));
  const { attempt } = (await storage.jobs.claim('w', NOW, 1_000, null))!;
  await storage.jobs.finish(job.id, attempt, closing(job.id, ROWS));
  expect(await answersDuring(storage, () => storage.models.delete(model.id))).toBeGreaterThan(PIECES / 2);
  expect(await storage.events.count(job.id)).toBe(0);
});

test('a model that goes while a job of it runs takes along the job, and its blob is named', async () => {
  const storage = await open();
  const model = await addModel(storage);
  const jobs = [aJob(model.id), aJob(model.id)];
  for (const job of jobs) await storage.jobs.create(job);
  await storage.jobs.claim('w', NOW, 1_000, null);
  for (const { id } of jobs) await storage.events.append(anEvent(id, 0));
  const deleted = await storage.models.delete(model.id);
  expect(deleted!.bodyBlobs.toSorted()).toEqual(jobs.map((job) => job.bodyBlob).toSorted());
  for (const { id } of jobs) expect(await storage.jobs.find(id)).toBeNull();
});

test('contents that no version refers to any more', async () => {
  const storage = await open();
  const { artifacts } = storage;
  const payer = aPayer();
  for (let i = 0; i < ROWS / 2; i++)
    await artifacts.addContent(
      { entity: 'team', sha256: String(i).padStart(64, '0'), md5: null, sizeBytes: 1, blob: `b/${i}` },
      payer,
      NOW,
    );
  let removed: readonly string[] = [];
  const remove = async () => void (removed = await artifacts.removeUnused(NOW + 1));
  expect(await answersDuring(storage, remove)).toBeGreaterThan(PIECES / 4);
  expect(removed).toHaveLength(ROWS / 2);
});

test('one piece may have any number of results: a run has a million lines', async () => {
  expect(await inPieces(['run'], async () => Array<number>(1_000_000).fill(0))).toHaveLength(1_000_000);
});
