// Hundreds of faults on SQLite and on Postgres, in `npm run test:long` over a thousand: killed processes, disks that are full, read-only or broken,
// files that return other bytes, databases that are locked or away, clocks that jump, clients that vanish. Nothing acknowledged
// is lost or duplicated, and adapters have the bytes of a run without faults.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createPostgresDialect } from '#storage/sql/postgres-dialect';
import { createSqliteDialect } from '#storage/sql/sqlite-dialect';
import { startPostgres } from '../../support/postgres/postgres-server.ts';
import { IS_LONG, skipWithout } from '../../support/skipping.ts';
import { runWithFaults } from './fault-run.ts';

const [ON_SQLITE, ON_POSTGRES] = IS_LONG ? [1_000, 200] : [400, 100];
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

test(`${ON_SQLITE} faults on SQLite lose nothing, double nothing and change no byte`, async () => {
  const run = await runWithFaults({
    seed: SEED,
    faultsMin: ON_SQLITE,
    kinds: KINDS_ON_SQLITE,
    rate: 0.015,
    databaseFaults: ['kill before', 'kill after', 'database locked', 'disk full', 'read-only disk'],
    exclusive: true,
    openDialect: (directory) => {
      mkdirSync(directory, { recursive: true });
      return createSqliteDialect(join(directory, 'whetstone.db'));
    },
  });
  report('SQLite', run);
  expect(run.faults).toBeGreaterThanOrEqual(ON_SQLITE);
  expect([...run.counts.keys()].sort()).toEqual(KINDS_ON_SQLITE);
}, 900_000);

const postgres = await startPostgres();
afterAll(() => postgres?.stop());

test(
  `${ON_POSTGRES} faults on Postgres lose nothing either`,
  { timeout: 600_000, ...skipWithout('POSTGRES', postgres !== null) },
  async () => {
    let url = '';
    const run = await runWithFaults({
      seed: SEED,
      faultsMin: ON_POSTGRES,
      kinds: KINDS_ON_POSTGRES,
      rate: 0.015,
      databaseFaults: ['kill before', 'kill after', 'database away', 'answer lost'],
      exclusive: false,
      openDialect: () => createPostgresDialect(url),
      prepare: async () => void (url = await postgres!.createDatabase()),
    });
    report('Postgres', run);
    expect(run.faults).toBeGreaterThanOrEqual(ON_POSTGRES);
    expect([...run.counts.keys()]).toEqual(expect.arrayContaining(KINDS_ON_POSTGRES));
  },
);
