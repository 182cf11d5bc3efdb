// `npm run bench:wire`: the processor's time that it takes to carry a token, in each process that it passes, from an engine that is a
// child of the server and from one behind a worker. The engine has no model, so that nothing else is measured; counted is the time of
// processors and not of clocks, which a busy machine changes little.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PLAIN_SAMPLING } from '../../src/domain/sampling.ts';
import { PLAIN_REQUEST, type InferenceEngine } from '../../src/engine/inference-engine.ts';
import { processorMsOf } from '../../scripts/processor-ms.ts';
import { BOOTSTRAP_KEY } from '../../test/api/test-server.ts';
import { COUNTING_CONFIG } from '../../test/workers/counting-engine.ts';
import { openWorkerLab } from '../../test/workers/worker-lab.ts';
import { quantile } from '../quantiles.ts';
import { openSteppingEngine } from './open-engine.ts';
import type { WireWorker } from './worker.ts';

const STEP_MS = 3;
const TOKENS = 512;
const ROUNDS = 5;
const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url));

const say = (line: string): void => void process.stdout.write(`${line}\n`);

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

const directory = await mkdtemp(join(tmpdir(), 'whetstone-bench-wire-'));
await writeFile(join(directory, 'config.json'), JSON.stringify(COUNTING_CONFIG));
const lab = await openWorkerLab(directory);
const child = await openSteppingEngine(STEP_MS);
const told: WireWorker = {
  url: lab.url,
  key: BOOTSTRAP_KEY,
  modelId: lab.model.id,
  modelDirectory: directory,
  stepMs: STEP_MS,
  sequencesMax: 1_024,
};
const worker = fork(WORKER, [JSON.stringify(told)], { stdio: ['ignore', 2, 2, 'ipc'] });
const [{ enginePid }] = (await once(worker, 'message')) as [{ enginePid: number }];
while (!lab.isThere()) await new Promise((resolve) => setTimeout(resolve, 20));
for (const streams of [1, 32, 128]) {
  say(`${streams} streams, a step of ${STEP_MS} ms, the processor's time of a token, medians of ${ROUNDS} rounds:`);
  say(`  child  ${await measure(child.engine, { server: process.pid, engine: child.pid }, streams)}`);
  say(
    `  worker ${await measure(lab.inference, { server: process.pid, worker: worker.pid!, engine: enginePid }, streams)}`,
  );
}
worker.disconnect();
await once(worker, 'exit');
await child.engine.close();
await lab.close();
await rm(directory, { recursive: true, force: true });
