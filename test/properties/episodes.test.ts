// Any sequence of operations on episodes gets the same answers from arrays in memory and from SQLite, and leaves the same rows behind.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { silentLog } from '#base/log';
import type { Payer, StoredBlob } from '#storage/account-store';
import { createMemoryEpisodes, type Charges } from '#storage/memory/episodes';
import { openSqliteStorage } from '#storage/sql/open-sqlite';
import type { TestedEpisodes } from './asked.ts';
import { episodeOperations } from './episode-operations.ts';

const MODELS = ['m0', 'm1'];
const JOBS = ['j0', 'j1'];
const entityOf = (modelId: string): string => (modelId === 'm0' ? 'one' : 'two');
const ALL = { after: null, limit: 1_000 };
const BOUNDS = { openMax: 2, callsMax: 3, tokensMax: 12 };

/** Refusals are equal whatever their message. */
const outcomeOf = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    (value) => ({ value }),
    () => 'refused',
  );

function plainCharges(): Charges {
  const blobs = new Map<string, StoredBlob>();
  const others = (blob: string, isPaid: (each: StoredBlob) => boolean) =>
    [...blobs.values()].filter((each) => each.blob !== blob && isPaid(each)).reduce((sum, each) => sum + each.sizeBytes, 0); // prettier-ignore
  return {
    chargeWithin({ blob, entity, sizeBytes }, { keyId, keyBytesMax, entityBytesMax }) {
      const ofEntity = others(blob, (each) => each.entity === entity);
      const ofKey = others(blob, (each) => each.entity === entity && each.keyId === keyId);
      if (ofKey + sizeBytes > (keyBytesMax ?? Infinity) || ofEntity + sizeBytes > (entityBytesMax ?? Infinity))
        return false;
      blobs.set(blob, { blob, entity, keyId: blobs.get(blob)?.keyId ?? keyId, sizeBytes });
      return true;
    },
    forget: (blob) => void blobs.delete(blob),
  };
}

function openPlain(): TestedEpisodes {
  const plain = createMemoryEpisodes(
    plainCharges(),
    (id) => MODELS.includes(id),
    (jobId) => jobId !== '', // no job ends
    () => {},
  );
  return { episodes: plain.store, train: async (job) => plain.markTrained(job, job.episodeIds) };
}

async function openSql() {
  const storage = await openSqliteStorage({ path: ':memory:', log: silentLog });
  for (const id of MODELS)
    await storage.models.create(
      { id, entity: entityOf(id), project: 'p', name: id, baseModel: 'b', runId: null, createdAtMs: 1 },
      { id: `${id}-0`, modelId: id, step: 0, metrics: {}, blobPrefix: id, fresh: true, createdAtMs: 1 },
    );
  const train: TestedEpisodes['train'] = async (job) =>
    void (await storage.jobs.create({ ...job, type: 'rl', keyId: 'k', bodyBlob: job.id }));
  return { episodes: storage.episodes, train, close: () => storage.close() };
}

/** Of each model one that has a reward, and an open one of the first. */
async function begin({ episodes }: TestedEpisodes): Promise<void> {
  const by: Payer = { keyId: 'k', keyBytesMax: null, entityBytesMax: null };
  const end = { outcome: 'completed' as const, reward: 1, metrics: {}, turnRewards: {} };
  for (const [at, modelId] of [...MODELS, 'm0'].entries()) {
    const name = { id: `ep${at}`, entity: entityOf(modelId), modelId, name: `begun${at}` };
    await episodes.create({ ...name, groupName: 'g', metadata: {} }, BOUNDS, by, 1);
    if (at < MODELS.length) await episodes.reward(name.id, end, 1, 2);
  }
}

async function everything({ episodes }: TestedEpisodes): Promise<unknown> {
  const rows = await Promise.all(['one', 'two'].map((entity) => episodes.list({ entity }, ALL)));
  const parts = ['tokens', 'content'] as const;
  const calls = rows.flatMap((list) => list.rows).map(({ id }) => episodes.calls(id, 0, 99, parts));
  return [rows, await Promise.all(calls), await episodes.countByStatus()];
}

/** Answers that must occur in the sequences, otherwise this test proves little. */
const MUST_OCCUR = [
  ...['stored', 'ended', 'no_parent', 'too_many_open', 'over_limit'].map((outcome) => `episodes.capture ${outcome}`),
  ...['rewarded', 'same', 'trained', 'null'].map((outcome) => `episodes.reward ${outcome}`),
  ...['train undefined', 'train refused', 'episodes.delete true'],
];

function summarise(outcome: unknown): string {
  if (outcome === 'refused') return outcome;
  const { value } = outcome as { value: unknown };
  return typeof value === 'object' && value !== null && 'outcome' in value ? String(value.outcome) : String(value);
}

test('episodes in memory and in SQLite answer alike, whatever is asked of them', async () => {
  const occurred = new Set<string>();
  const operation = fc.oneof(...episodeOperations(MODELS, JOBS, entityOf));
  const steps = fc.array(fc.tuple(operation, fc.nat(20)), { minLength: 1, maxLength: 60, size: 'max' });
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const [plain, sqlite] = [openPlain(), await openSql()];
      try {
        for (const each of [plain, sqlite]) await begin(each);
        let nowMs = 1;
        for (const [i, [each, elapsedMs]] of sequence.entries()) {
          nowMs += elapsedMs;
          const moment = { nowMs, sequence: 10 + i };
          const expected = await outcomeOf(each.run(plain, moment));
          expect(await outcomeOf(each.run(sqlite, moment)), fc.stringify(each)).toEqual(expected);
          occurred.add(`${each.name} ${summarise(expected)}`);
        }
        expect(await everything(sqlite)).toEqual(await everything(plain));
      } finally {
        await sqlite.close();
      }
    }),
    { numRuns: 80, seed: 1 },
  );
  expect(MUST_OCCUR.filter((each) => !occurred.has(each))).toEqual([]);
});
