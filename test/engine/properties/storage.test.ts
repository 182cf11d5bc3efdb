// Any sequence of operations gets the same answers from the slow, plain storage and from SQLite, and leaves the same
// rows behind.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { openSqliteStorage } from '#storage/sql/open-sqlite';
import type { TestedStorage } from './plain-storage/tested-storage.ts';
import { createPlainStorage } from './plain-storage/plain-storage.ts';
import { beginEpisodes } from './episode-operations.ts';
import {
  anOperation,
  createJob,
  createModel,
  ENTITIES,
  entityOf,
  JOBS,
  MODELS,
  type Moment,
} from './storage-operations.ts';

const ALL = { after: null, limit: 1_000 };

/** Refusals are equal whatever their message: one storage checks, the other relies on its constraints. */
const outcomeOf = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    (value) => ({ value }),
    () => 'refused',
  );

async function fill(storage: TestedStorage): Promise<void> {
  let sequence = 0;
  const moment = (): Moment => ({ nowMs: 1, sequence: sequence++ });
  await createModel(storage, 'm0', moment());
  await createModel(storage, 'm1', moment());
  await beginEpisodes(storage, MODELS.slice(0, 2), entityOf);
  for (const [i, id] of JOBS.slice(0, 3).entries()) await createJob(storage, id, MODELS[i % 2]!, moment());
}

async function everything({
  models,
  checkpoints,
  jobs,
  events,
  usage,
  episodes,
  accounts,
  inventory,
}: TestedStorage): Promise<unknown> {
  return {
    models: await Promise.all(ENTITIES.map((entity) => models.list({ entity }, ALL))),
    checkpoints: await Promise.all(MODELS.map((id) => checkpoints.list(id, ALL, 'asc'))),
    latest: await Promise.all(MODELS.map((id) => checkpoints.findLatest(id))),
    jobs: await Promise.all(ENTITIES.map((entity) => jobs.list({ entity }, ALL))),
    queued: await jobs.count('queued', null),
    events: await Promise.all(JOBS.map((id) => events.list(id, ALL))),
    usage: await Promise.all(ENTITIES.map((entity) => usage.list({ entity }, ALL))),
    episodes: await Promise.all(ENTITIES.map((entity) => episodes.list({ entity }, ALL))),
    inventoried: await collected(inventory.episodes()),
    charged: await collected(inventory.storedBlobs()),
    storedBytes: await Promise.all(ENTITIES.map((entity) => accounts.storedBytes({ entity, keyId: 'k' }))),
    eventCounts: await Promise.all(JOBS.map((id) => events.count(id))),
  };
}

async function collected<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const row of rows) all.push(row);
  return all;
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
  'jobs.noteWaiting true',
  'jobs.noteWaiting false',
  'events.append true',
  'events.append false',
  'events.append refused',
  'episodes.capture stored',
  'episodes.capture ended',
  'episodes.capture gone',
  'episodes.capture other_group',
  'episodes.capture too_many_open',
  'episodes.capture over_limit',
  'episodes.reward rewarded',
  'episodes.reward same',
  'episodes.reward null',
  'jobs.create of episodes found',
  'jobs.create of episodes refused',
];

function summarise(outcome: unknown): string {
  if (outcome === 'refused') return 'refused';
  const { value } = outcome as { value: unknown };
  if (typeof value !== 'object' || value === null) return String(value);
  return 'outcome' in value ? String(value.outcome) : 'found';
}

test('the plain storage and SQLite answer alike, whatever is asked of them', async () => {
  const occurred = new Set<string>();
  const steps = fc.array(fc.tuple(anOperation, fc.nat(20)), { minLength: 1, maxLength: 60, size: 'max' });
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const [plain, sqlite] = [createPlainStorage(), await openSqliteStorage({ path: ':memory:', log: silentLog })];
      try {
        for (const storage of [plain, sqlite]) await fill(storage);
        let nowMs = 1;
        for (const [i, [operation, elapsedMs]] of sequence.entries()) {
          nowMs += elapsedMs;
          const moment = { nowMs, sequence: 10 + i };
          const expected = await outcomeOf(operation.run(plain, moment));
          expect(await outcomeOf(operation.run(sqlite, moment)), fc.stringify(operation)).toEqual(expected);
          occurred.add(`${operation.name} ${summarise(expected)}`);
        }
        expect(await everything(sqlite)).toEqual(await everything(plain));
      } finally {
        await sqlite.close();
      }
    }),
    { numRuns: 150, seed: 1 },
  );
  expect(MUST_OCCUR.filter((each) => !occurred.has(each))).toEqual([]);
});
