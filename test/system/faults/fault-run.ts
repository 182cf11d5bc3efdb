// One run of the fault kit: rounds of work with injected faults, until there were enough; then the results of the same rounds are
// read without faults and compared with those of a run that had none.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { BlobStore } from '#storage/blobs';
import type { StorageDialect } from '#storage/sql/dialect';
import { BASE } from '../../support/api/test-server.ts';
import { openTinyChatModel } from '../../support/api/tiny-chat-model.ts';
import { createFaults, type Fault } from './faults.ts';
import { createFaultyClient } from './faulty-client.ts';
import { runFaultyServer } from './faulty-server.ts';
import { openFaultyFiles } from './faulty-storage.ts';
import { doRound, readBack, type Round } from './rounds.ts';

export interface FaultRun {
  readonly seed: number;
  readonly faultsMin: number;
  /** The run goes on until each of them has occurred: how soon depends on the machine. */
  readonly kinds?: readonly string[];
  /** Of operations. */
  readonly rate: number;
  readonly databaseFaults: readonly Fault[];
  readonly exclusive: boolean;
  /** For the database of a directory; called at every start of a server. */
  readonly openDialect: (directory: string) => StorageDialect;
  /** A fresh one for each of the two servers. */
  readonly prepare?: () => Promise<void>;
  /** Undefined: files, with the faults of this run. */
  readonly store?: RunStore;
}

/** Blobs in another store, with its own faults. */
export interface RunStore {
  /** Until the next call, by this seed; without faults if it is null. */
  begin(seed: number | null): Promise<void>;
  open(directory: string): Promise<BlobStore>;
  readonly total: () => number;
}

/** If leases of dead servers must expire, the clock runs fast, so that the test does not wait 20 s for each. */
const HASTE = 50;
/** Less than the time for which Idempotency-Keys are remembered. */
const JUMP_MS_MAX = 5 * 60 * 60 * 1000;

export async function runWithFaults(run: FaultRun) {
  const model = await openTinyChatModel(BASE);
  const engine = await openOnnxTrainingEngine({
    modelDirectory: model.directory,
    threads: 1,
    memoryBytes: 4e9,
    log: silentLog,
  });
  const work = await mkdtemp(join(tmpdir(), 'whetstone-faults-'));
  try {
    const calm = await play(run, 1, join(work, 'calm'));
    expect(calm.results[0]!.jobs.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    const stormy = await play(run, Infinity, join(work, 'stormy'));
    for (const result of stormy.results) expect(result).toEqual(calm.results[0]);
    return stormy;
  } finally {
    await engine.close();
    await model.close();
    await rm(work, { recursive: true, force: true });
  }

  async function play(
    { seed, rate, faultsMin, kinds = [], databaseFaults, exclusive, openDialect, prepare, store }: FaultRun,
    roundsMax: number,
    directory: string,
  ) {
    const isCalm = roundsMax === 1;
    await prepare?.();
    await store?.begin(isCalm ? null : seed);
    let offsetMs = 0;
    const startMs = Date.now();
    const clock = {
      now: () => startMs + (Date.now() - startMs) * (exclusive ? 1 : HASTE) + offsetMs,
      advance: (ms: number) => void (offsetMs += ms),
    };
    const faults = createFaults(seed, isCalm ? 0 : rate, (where) => void (offsetMs = Math.round(where * JUMP_MS_MAX)));
    const server = await runFaultyServer({
      directory,
      openDialect: () => openDialect(directory),
      openBlobs: (process) => store?.open(directory) ?? openFaultyFiles(join(directory, 'blobs'), process, faults),
      databaseFaults,
      exclusive,
      model,
      engine,
      faults,
      clock,
    });
    try {
      const client = createFaultyClient(server.url, faults);
      const rounds: Round[] = [];
      const total = store?.total ?? faults.total;
      const isOver = () => total() >= faultsMin && kinds.every((kind) => faults.counts.has(kind));
      while (rounds.length < roundsMax && (rounds.length === 0 || !isOver())) {
        rounds.push(await doRound(client, rounds.length));
      }
      const results = [];
      if (store) for (const round of rounds) results.push(await readBack(client, round)); // also with read faults
      faults.cease();
      await store?.begin(null);
      for (const round of rounds) {
        const result = await readBack(client, round);
        const seen = round.events.map((events) => events.map(({ type }) => type));
        expect(seen).toEqual(result.events.map((events) => events.map(({ type }) => type)));
        results.push(result);
      }
      expect(await client.halfOpenLeft()).toBe(0);
      return {
        results,
        rounds: rounds.length,
        faults: total(),
        counts: faults.counts,
        endings: client.endings,
        restarts: server.restarts(),
      };
    } finally {
      await server.close();
    }
  }
}
