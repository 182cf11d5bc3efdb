// Thousands of deaths of servers, machines and trainers under the real job runner and the real stores, from seeds. A failing seed is printed:
// WHETSTONE_SIMULATION_SEED runs it again, the same history step by step. docs/testing.md explains how it works and what it has found.
import { expect, test, vi } from 'vitest';
import { filesBySync, filesPromises } from './faulty-files.ts';
import { timersPromises } from './fake-time.ts';
import { runRound, SimulationFailed, type KnownOutcomes } from './round.ts';
import { openSharedDatabase } from './shared-database.ts';

vi.mock('node:fs/promises', async (original) => ({ ...(await original<object>()), ...filesPromises }));
vi.mock('node:fs', async (original) => ({ ...(await original<object>()), ...filesBySync }));
vi.mock('node:timers/promises', async (original) => ({ ...(await original<object>()), ...timersPromises }));

/** Half a minute of processor time; `npm run test:long` makes ten thousand. */
const KILLS = Number(process.env['WHETSTONE_SIMULATION_KILLS'] ?? 600);
const SEED = process.env['WHETSTONE_SIMULATION_SEED'];
const FIRST_SEED = Number(SEED ?? 1);
const ROUNDS_MAX = SEED === undefined ? Infinity : Number(process.env['WHETSTONE_SIMULATION_ROUNDS'] ?? 1);

test(`${KILLS} kills of servers, machines and trainers break no promise`, async () => {
  const database = await openSharedDatabase();
  const known: KnownOutcomes = new Map();
  const kills = { server: 0, machine: 0, trainer: 0 };
  const killed = () => kills.server + kills.machine + kills.trainer;
  let jobs = 0;
  let rounds = 0;
  const startMs = performance.now();
  for (; killed() < KILLS && rounds < ROUNDS_MAX; rounds++) {
    try {
      const made = await runRound(database, FIRST_SEED + rounds, known);
      for (const victim of ['server', 'machine', 'trainer'] as const) kills[victim] += made.kills[victim];
      jobs += made.jobs;
    } catch (error) {
      if (!(error instanceof SimulationFailed)) throw error;
      const tail = error.history(40);
      throw new Error(
        `${error.message}\nafter ${killed() + error.kills} kills, in round ${rounds + 1}. Run it again with WHETSTONE_SIMULATION_SEED=${FIRST_SEED + rounds}. What happened last:\n${tail}`,
        { cause: error.cause },
      );
    }
  }
  console.log({ rounds, jobs, kills, seconds: (performance.now() - startMs) / 1000 });
  expect(jobs).toBeGreaterThan(0);
}, 3_600_000);
