// A thousand faults on SQLite, two hundred on Postgres, in one run: killed processes, disks that are full, read-only or broken,
// files that return other bytes, databases that are locked or away, clocks that jump, clients that vanish. Nothing acknowledged
// is lost or duplicated, and adapters have the bytes of a run without faults.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createPostgresDialect } from '#storage/sql/postgres-dialect';
import { createSqliteDialect } from '#storage/sql/sqlite-dialect';
import { startPostgres } from '../../support/postgres/postgres-server.ts';
import { skipWithout } from '../../support/skipping.ts';
import { runWithFaults } from './fault-run.ts';

const SEED = Number(process.env['WHETSTONE_FAULTS_SEED'] ?? 1);

function report(
  name: string,
  { faults, rounds, restarts, counts, endings }: Awaited<ReturnType<typeof runWithFaults>>,
) {
  const list = (of: ReadonlyMap<string, number>) =>
    [...of]
      .sort((a, b) => b[1] - a[1])
      .map(([key, n]) => `${key} ${n}`)
      .join(', ');
  console.log(
    `${name}, seed ${SEED}: ${faults} faults in ${rounds} rounds of 3 jobs, ${restarts} restarts.\n  ${list(counts)}\n  requests: ${list(endings)}`,
  );
}

const KINDS_ON_SQLITE = [
  'clock jump',
  'corrupt blob',
  'database locked',
  'disk fault',
  'disk full',
  'half-open socket',
  'kill after',
  'kill before',
  'kill halfway',
  'read-only disk',
  'trainer dies',
  'truncated blob',
];
const KINDS_ON_POSTGRES = ['database away', 'answer lost', 'disk fault', 'trainer dies'];

test('a thousand faults on SQLite lose nothing, double nothing and change no byte', async () => {
  const run = await runWithFaults({
    seed: SEED,
    faultsMin: 1_000,
    kinds: KINDS_ON_SQLITE,
    rate: 0.02,
    databaseFaults: ['kill before', 'kill after', 'database locked', 'disk full', 'read-only disk'],
    exclusive: true,
    openDialect: (directory) => {
      mkdirSync(directory, { recursive: true });
      return createSqliteDialect(join(directory, 'whetstone.db'));
    },
  });
  report('SQLite', run);
  expect(run.faults).toBeGreaterThanOrEqual(1_000);
  expect([...run.counts.keys()].sort()).toEqual(KINDS_ON_SQLITE);
}, 900_000);

const postgres = await startPostgres();
afterAll(() => postgres?.stop());

test(
  'two hundred faults on Postgres lose nothing either',
  { timeout: 600_000, ...skipWithout('POSTGRES', postgres !== null) },
  async () => {
    let url = '';
    const run = await runWithFaults({
      seed: SEED,
      faultsMin: 200,
      kinds: KINDS_ON_POSTGRES,
      rate: 0.015, // a job has more statements here, and more on a busy machine: it fails after 20 attempts without progress
      databaseFaults: ['kill before', 'kill after', 'database away', 'answer lost'],
      exclusive: false,
      openDialect: () => createPostgresDialect(url),
      prepare: async () => void (url = await postgres!.createDatabase()),
    });
    report('Postgres', run);
    expect(run.faults).toBeGreaterThanOrEqual(200);
    expect([...run.counts.keys()]).toEqual(expect.arrayContaining(KINDS_ON_POSTGRES));
  },
);
