// Any sequence of operations gets the same answers from the slow, plain storage in memory and from SQLite, and leaves the same
// rows behind.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { createMemoryStorage } from '#storage/memory/memory-storage';
import { openSqliteStorage } from '#storage/sql/open-sqlite';
import type { Storage } from '#storage/storage';
import { anOperation, createJob, createModel, ENTITIES, JOBS, MODELS, type Moment } from './storage-operations.ts';

const ALL = { after: null, limit: 1_000 };

/** Refusals are equal whatever their message: one storage checks, the other relies on its constraints. */
const outcomeOf = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    (value) => ({ value }),
    () => 'refused',
  );

async function fill(storage: Storage): Promise<void> {
  let sequence = 0;
  const moment = (): Moment => ({ nowMs: 1, sequence: sequence++ });
  await createModel(storage, 'm0', moment());
  await createModel(storage, 'm1', moment());
  for (const [i, id] of JOBS.slice(0, 3).entries()) await createJob(storage, id, MODELS[i % 2]!, moment());
}

async function everything({ models, checkpoints, jobs, events, usage }: Storage): Promise<unknown> {
  return {
    models: await Promise.all(ENTITIES.map((entity) => models.list({ entity }, ALL))),
    checkpoints: await Promise.all(MODELS.map((id) => checkpoints.list(id, ALL, 'asc'))),
    latest: await Promise.all(MODELS.map((id) => checkpoints.findLatest(id))),
    jobs: await Promise.all(ENTITIES.map((entity) => jobs.list({ entity }, ALL))),
    queued: await jobs.countQueued(null),
    events: await Promise.all(JOBS.map((id) => events.list(id, ALL))),
    usage: await Promise.all(ENTITIES.map((entity) => usage.list({ entity }, ALL))),
    eventCounts: await Promise.all(JOBS.map((id) => events.count(id))),
  };
}

/** Answers that must occur in the sequences, otherwise this test proves little. */
const MUST_OCCUR = [
  'models.delete found',
  'models.delete null',
  'jobs.create refused',
  'jobs.claim found',
  'jobs.claim null',
  'jobs.renewLease true',
  'jobs.renewLease false',
  'jobs.updateProgress true',
  'jobs.finish true',
  'jobs.finish false',
  'jobs.finish refused',
  'jobs.requestCancel cancelled',
  'jobs.requestCancel cancelling',
  'jobs.requestCancel already_finished',
  'events.append true',
  'events.append false',
  'events.append refused',
];

function summarise(outcome: unknown): string {
  if (outcome === 'refused') return 'refused';
  const { value } = outcome as { value: unknown };
  return typeof value === 'object' && value !== null ? 'found' : String(value);
}

test('memory and SQLite answer alike, whatever is asked of them', async () => {
  const occurred = new Set<string>();
  const steps = fc.array(fc.tuple(anOperation, fc.nat(20)), { minLength: 1, maxLength: 60, size: 'max' });
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const [memory, sqlite] = [createMemoryStorage(), await openSqliteStorage({ path: ':memory:', log: silentLog })];
      try {
        for (const storage of [memory, sqlite]) await fill(storage);
        let nowMs = 1;
        for (const [i, [operation, elapsedMs]] of sequence.entries()) {
          nowMs += elapsedMs;
          const moment = { nowMs, sequence: 10 + i };
          const expected = await outcomeOf(operation.run(memory, moment));
          expect(await outcomeOf(operation.run(sqlite, moment)), fc.stringify(operation)).toEqual(expected);
          occurred.add(`${operation.name} ${summarise(expected)}`);
        }
        expect(await everything(sqlite)).toEqual(await everything(memory));
      } finally {
        await sqlite.close();
      }
    }),
    { numRuns: 150, seed: 1 },
  );
  expect([...occurred]).toEqual(expect.arrayContaining(MUST_OCCUR));
});
