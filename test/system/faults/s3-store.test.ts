// A whole server over a store in S3 with a faulty connection: it accepts models, artifacts and jobs, trains, and is read while
// the store refuses, fails, stalls, cuts off and flips bits. At worst requests get a 503 that names the store; jobs succeed, and
// reads return what a server without faults returns, to the byte.
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createId } from '#base/ids';
import { openS3Blobs } from '#storage/blobs/s3';
import { createSqliteDialect } from '#storage/sql/sqlite-dialect';
import { runWithFaults, type RunStore } from './fault-run.ts';
import { startFaultyS3, type FaultyS3, type LineFault } from './faulty-s3.ts';

const FIRST_SEED = Number(process.env['WHETSTONE_FAULTS_SEED'] ?? 1);
const SEEDS = [FIRST_SEED, FIRST_SEED + 1];
const FAULTS_EACH = 35;
const RATE = 0.08;
const STALL_MS = 500;

let directory: string;
let s3: FaultyS3;
beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'S3RVER');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'S3RVER');
  directory = await mkdtemp(join(tmpdir(), 'whetstone-faulty-store-'));
  s3 = await startFaultyS3(join(directory, 'objects'));
});
afterAll(async () => {
  await s3.close();
  await rm(directory, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

/** Servers with and without faults start on empty stores: each has its own prefix. */
function createRunStore(): RunStore & { close(): void } {
  const opened: { close(): void }[] = [];
  const before = s3.total();
  return {
    begin: (seed) => s3.begin(seed ?? 0, seed === null ? 0 : RATE),
    async open(work) {
      const blobs = await openS3Blobs({
        bucket: s3.bucket,
        prefix: `${createId()}/`,
        endpoint: s3.endpoint,
        region: 'us-east-1',
        cacheDirectory: join(work, 'copies'),
        stallMs: STALL_MS,
      });
      opened.push(blobs);
      return blobs;
    },
    total: () => s3.total() - before,
    close: () => opened.forEach((blobs) => blobs.close()),
  };
}

test.each(SEEDS)(
  'nothing is lost, nothing damaged is served as whole, every job succeeds: seed %i',
  async (seed) => {
    const store = createRunStore();
    const run = await runWithFaults({
      seed,
      faultsMin: FAULTS_EACH,
      rate: 0,
      databaseFaults: [],
      exclusive: true,
      store,
      openDialect(work) {
        mkdirSync(work, { recursive: true });
        return createSqliteDialect(join(work, 'whetstone.db'));
      },
    });
    store.close();
    const list = (of: ReadonlyMap<string, number>) => [...of].map(([key, n]) => `${key} ${n}`).join(', ');
    console.log(
      `S3, seed ${seed}: ${run.faults} faults in ${run.rounds} rounds of 3 jobs.\n  requests: ${list(run.endings)}`,
    );
    expect(run.faults).toBeGreaterThanOrEqual(FAULTS_EACH);
  },
  300_000,
);

test('there was every kind of fault', () => {
  const kinds: LineFault[] = [
    'refused',
    '500',
    '503',
    'stalled',
    'stalled halfway',
    'request cut',
    'answer lost',
    'cut halfway',
    'bit flipped',
  ];
  console.log([...s3.counts].map(([kind, n]) => `${kind} ${n}`).join(', '));
  expect([...s3.counts.keys()].sort()).toEqual(kinds.sort());
});
