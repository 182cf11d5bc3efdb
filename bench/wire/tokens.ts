// The processor's time that it takes to carry a token, in each process that it passes, from an engine that is a child of the server and
// from one behind a worker. The engine has no model, so that nothing else is measured.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PLAIN_SAMPLING } from '../../src/domain/sampling.ts';
import { PLAIN_REQUEST, type InferenceEngine } from '../../src/engine/inference-engine.ts';
import { processorMsOf } from '../../scripts/processor-ms.ts';
import { COUNTING_CONFIG } from '../../test/support/workers/counting-engine.ts';
import { openWorkerLab } from '../../test/support/workers/worker-lab.ts';
import { quantile } from '../quantiles.ts';
import { openSteppingEngine } from './open-engine.ts';
import { startWorker } from './start-worker.ts';

const STEP_MS = 3;
const TOKENS = 512;
const ROUNDS = 5;

async function readAll(engine: InferenceEngine, streams: number): Promise<void> {
  const one = async (seed: number) => {
    const sampling = { ...PLAIN_SAMPLING, seed, maxTokens: TOKENS, endTokenIds: [] };
    const asked = {
      ...PLAIN_REQUEST,
      requestId: `wire-${seed}`,
      promptTokens: [1, 2, 3],
      adapter: null,
      sampling,
      n: 1,
    };
    for await (const _ of engine.generate(asked, new AbortController().signal));
  };
  await Promise.all(Array.from({ length: streams }, (_, seed) => one(seed)));
}

/** In µs a token, by process. */
async function measure(engine: InferenceEngine, pids: Readonly<Record<string, number>>, streams: number) {
  const names = Object.keys(pids);
  const rounds: number[][] = [];
  await readAll(engine, streams);
  for (let round = 0; round < ROUNDS; round++) {
    const before = names.map((name) => processorMsOf(pids[name]!));
    await readAll(engine, streams);
    rounds.push(names.map((name, i) => (1000 * (processorMsOf(pids[name]!) - before[i]!)) / (TOKENS * streams)));
  }
  const medians = names.map((_, i) =>
    quantile(
      rounds.map((round) => round[i]!),
      0.5,
    ),
  );
  const sum = medians.reduce((a, b) => a + b, 0);
  return `${sum.toFixed(1)} µs (${names.map((name, i) => `${name} ${medians[i]!.toFixed(1)}`).join(', ')})`;
}

export async function tokens(say: (line: string) => void): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-bench-wire-'));
  await writeFile(join(directory, 'config.json'), JSON.stringify(COUNTING_CONFIG));
  const lab = await openWorkerLab(directory);
  const child = await openSteppingEngine(STEP_MS);
  const worker = await startWorker(lab, directory, { kind: 'sampler', stepMs: STEP_MS, sequencesMax: 1_024 });
  const asChild = { server: process.pid, engine: child.pid };
  const asWorker = { server: process.pid, worker: worker.pid, engine: worker.enginePid! };
  for (const streams of [1, 32, 128]) {
    say(`${streams} streams, a step of ${STEP_MS} ms, the processor's time of a token, medians of ${ROUNDS} rounds:`);
    say(`  child  ${await measure(child.engine, asChild, streams)}`);
    say(`  worker ${await measure(lab.inference, asWorker, streams)}`);
  }
  await worker.stop();
  await child.engine.close();
  await lab.close();
  await rm(directory, { recursive: true, force: true });
}
