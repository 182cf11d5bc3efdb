// `npm run bench -- workers`: the cost of an engine in another process or machine. The same embedded engine as a child of this process and as a
// worker over a WebSocket, alternating: with all cores for the engine, shared with server and worker, and with one core left to them, as if
// the engine were on another machine; then routing alone, and 64 samplers without a model under 4,096 streams; then an adapter of 100 MB to
// 8 workers.
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLog } from '../src/base/log.ts';
import { PLAIN_SAMPLING } from '../src/domain/sampling.ts';
import { PLAIN_REQUEST, type GenerateRequest, type InferenceEngine } from '../src/engine/inference-engine.ts';
import { openInferenceEngine, openTrainingEngine } from '../src/engine/onnx/open-engines.ts';
import { DEFAULT_INFERENCE_LIMITS } from '../src/engine/onnx/serving/inference-limits.ts';
import { trainingMemoryShare } from '../src/engine/onnx/machine-memory.ts';
import type { TrainingEngine } from '../src/engine/training-engine.ts';
import type { ConnectedWorker } from '../src/engine/workers/connected-worker.ts';
import { DEFAULT_QUEUE_LIMITS } from '../src/engine/workers/sampler-pool.ts';
import { createSamplerQueue } from '../src/engine/workers/sampler-queue.ts';
import { crossEntropyLoss } from '../src/training/losses.ts';
import { plainRow } from '../test/support/learning/tiny-decoders.ts';
import { COUNTING_CONFIG, createCountingEngine } from '../test/support/workers/counting-engine.ts';
import { openWorkerLab, type WorkerLab } from '../test/support/workers/worker-lab.ts';
import { makeModelDirectory } from './model-directory.ts';
import { quantile } from './quantiles.ts';
import { SHAPES } from './shapes.ts';

const STARTER = fileURLToPath(new URL('../models/starter', import.meta.url));
const ROUNDS = 5;
const BATCH = 32;
const TOKENS = 64;
const ROW = 512;
const STEPS = 4;
const SAMPLERS = 64;
const STREAMS = 4_096;
const STREAM_TOKENS = 32;
const ROUTED_TOKENS = 4_096;
const ADAPTER_BYTES = 100_000_000;
const RECEIVERS = 8;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const median = (xs: readonly number[]): number => quantile(xs, 0.5);
const prompt = (seed: number, length = 64): number[] => Array.from({ length }, (_, i) => (seed * 31 + i * 7) % 250);

const request = (seed: number, maxTokens: number): GenerateRequest => ({
  ...PLAIN_REQUEST,
  requestId: `bench-${seed}`,
  promptTokens: prompt(seed),
  adapter: null,
  sampling: { ...PLAIN_SAMPLING, seed, maxTokens, endTokenIds: [] },
  n: 1,
});

async function read(engine: InferenceEngine, asked: GenerateRequest): Promise<number> {
  let first = 0;
  const startMs = performance.now();
  for await (const _ of engine.generate(asked, new AbortController().signal)) first ||= performance.now() - startMs;
  return first;
}

interface Cost {
  readonly ms: number;
  /** Processor time of this process, which is the server and the worker between it and the engine. */
  readonly processorMs: number;
}

function startWatch(): (units: number) => Cost {
  const [startMs, since] = [performance.now(), process.cpuUsage()];
  return (units) => {
    const { user, system } = process.cpuUsage(since);
    return { ms: (performance.now() - startMs) / units, processorMs: (user + system) / 1000 / units };
  };
}

async function costOfAToken(engine: InferenceEngine): Promise<Cost> {
  const stop = startWatch();
  await Promise.all(Array.from({ length: BATCH }, (_, seed) => read(engine, request(seed, TOKENS))));
  return stop(BATCH * TOKENS);
}

async function costOfAStep(engine: TrainingEngine): Promise<Cost> {
  const options = { from: null, lora: { rank: 8, alpha: 16, seed: 1 }, resetOptimizer: false, headTokensMax: null };
  const session = await engine.open(options, new AbortController().signal);
  const row = plainRow(prompt(1, ROW), { weights: new Array<number>(ROW - 1).fill(1) });
  const adamw = { learningRate: 1e-4, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 1 };
  await session.forwardBackward([row], crossEntropyLoss); // compiles
  const stop = startWatch();
  for (let step = 0; step < STEPS; step++) {
    await session.forwardBackward([row], crossEntropyLoss);
    await session.optimStep(adamw);
  }
  const cost = stop(STEPS);
  await session.close();
  return cost;
}

/** A child before and after each worker, so that a machine that changes its speed is not mistaken for the cost of the wire; the children show how steady it is. */
async function compare<E>(what: string, measure: (engine: E) => Promise<Cost>, child: E, worker: E) {
  await measure(worker);
  await measure(child);
  const here = [await measure(child)];
  const there: Cost[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    there.push(await measure(worker));
    here.push(await measure(child));
  }
  const between = (round: number, of: keyof Cost) => (here[round]![of] + here[round + 1]![of]) / 2;
  const slower = there.map(({ ms }, round) => ms / between(round, 'ms') - 1);
  const drifts = there.map((_, round) => Math.abs(here[round + 1]!.ms / here[round]!.ms - 1));
  const added = median(there.map(({ processorMs }, round) => processorMs - between(round, 'processorMs')));
  const [engineMs, workerMs] = [here, there].map((costs) => median(costs.map(({ ms }) => ms))) as [number, number];
  say(
    `${what}: child ${engineMs.toFixed(3)} ms, worker ${workerMs.toFixed(3)} ms, ` +
      `${percent(median(slower))} (from one child to the next ${percent(median(drifts))})`,
  );
  say(
    `  of a processor outside the engine: ${(1000 * added).toFixed(1)} µs more, ${percent(added / engineMs)} of its time`,
  );
}

const percent = (share: number): string => `${share >= 0 ? '+' : ''}${(100 * share).toFixed(2)} %`;

async function costOfTheWire(model: string, modelDirectory: string, threads: number): Promise<void> {
  const options = { modelDirectory, threads, log: silentLog };
  const inference = await openInferenceEngine({ ...options, limits: DEFAULT_INFERENCE_LIMITS });
  const training = await openTrainingEngine({ ...options, memoryBytes: trainingMemoryShare(1) });
  const lab = await openWorkerLab(modelDirectory);
  await lab.connect({ inference, training });
  say(
    `${model}, engines of ${threads} threads, ${BATCH} streams of ${TOKENS} tokens; a row of ${ROW} tokens; medians of ${ROUNDS} rounds`,
  );
  await compare('a token', costOfAToken, inference, lab.inference);
  await compare('a gradient step', costOfAStep, training, lab.training);
  await lab.close();
  await inference.close();
  await training.close();
}

async function manyStreams(lab: WorkerLab): Promise<void> {
  for (let i = 0; i < SAMPLERS; i++) {
    await lab.connect({ inference: createCountingEngine({ tokenMs: 5 }), training: null });
  }
  const before = process.memoryUsage().rss;
  let failed = 0;
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 50);
  const startMs = performance.now();
  const firsts = await Promise.all(
    Array.from({ length: STREAMS }, (_, seed) =>
      read(lab.inference, request(seed, STREAM_TOKENS)).catch(() => {
        failed++;
        return 0;
      }),
    ),
  );
  clearInterval(watch);
  const seconds = (performance.now() - startMs) / 1000;
  say(`${SAMPLERS} samplers, ${STREAMS} streams of ${STREAM_TOKENS} tokens: ${failed} errors, ${seconds.toFixed(1)} s`);
  say(`  ${Math.round((STREAMS * STREAM_TOKENS) / seconds)} tokens/s through server and workers in one process`);
  say(`  first token after ${median(firsts).toFixed(0)} ms (median), ${quantile(firsts, 0.99).toFixed(0)} ms (p99)`);
  say(`  at most ${((peak - before) / STREAMS / 1000).toFixed(0)} kB of memory per stream, both ends together`);
}

/** The time to decide which sampler gets a request; prompts of a group share a prefix. With few places most requests wait. */
async function route(places: number): Promise<void> {
  const samplers = Array.from({ length: SAMPLERS }, (_, i) => {
    const sampler = { sequencesMax: places / SAMPLERS };
    const there = { sessionId: String(i), state: 'connected', isFull: false, hello: { sampler } };
    return there as unknown as ConnectedWorker; // routing reads nothing else
  });
  const queue = createSamplerQueue(() => samplers, 'bench', DEFAULT_QUEUE_LIMITS);
  const [entering, leaving]: [number[], number[]] = [[], []];
  const timed = <T>(times: number[], work: () => T): T => {
    const startMs = performance.now();
    const result = work();
    times.push(performance.now() - startMs);
    return result;
  };
  const entered = Array.from({ length: STREAMS }, (_, i) => {
    const arrival = { priority: 0, payer: `key-${i % 16}`, size: 1 };
    const wanted = { promptTokens: prompt(Math.floor(i / 8), ROUTED_TOKENS), scope: '', isOnHead: false };
    return timed(entering, () => queue.enter(arrival, wanted, new AbortController().signal));
  });
  for (const each of entered) void each.then((place) => timed(leaving, () => place.leave()));
  await Promise.all(entered);
  await new Promise((resolve) => setImmediate(resolve));
  queue.close();
  const micro = (ms: number) => `${(1000 * ms).toFixed(0)} µs`;
  const both = (times: readonly number[]) => `${micro(median(times))} (median) ${micro(quantile(times, 0.99))} (p99)`;
  say(
    `routing of ${STREAMS} requests of ${ROUTED_TOKENS} tokens to ${SAMPLERS} samplers with ${places} places together:`,
  );
  say(`  to assign a request ${both(entering)}, to finish it and start the next ${both(leaving)}`);
}

async function deliver(lab: WorkerLab, directory: string): Promise<void> {
  await lab.writeAdapter(directory);
  await writeFile(join(directory, 'adapter_model.safetensors'), randomBytes(ADAPTER_BYTES));
  for (let i = 0; i < RECEIVERS; i++) await lab.connect({ inference: createCountingEngine(), training: null });
  const startMs = performance.now();
  await lab.inference.loadAdapter({ id: 'large', directory });
  const seconds = (performance.now() - startMs) / 1000;
  const megabytes = (RECEIVERS * ADAPTER_BYTES) / 1e6;
  say(
    `an adapter of ${ADAPTER_BYTES / 1e6} MB to ${RECEIVERS} workers: ${seconds.toFixed(1)} s, ${megabytes} MB on the wire`,
  );
}

const cores = availableParallelism();
for (const threads of new Set([cores, Math.max(1, cores - 1)])) await costOfTheWire('the starter', STARTER, threads);
const random135m = await makeModelDirectory(SHAPES['135m']!);
await costOfTheWire('135M parameters', random135m, cores);
await rm(random135m, { recursive: true });
const scratch = await mkdtemp(join(tmpdir(), 'whetstone-bench-workers-'));
await mkdir(join(scratch, 'model'));
await writeFile(join(scratch, 'model', 'config.json'), JSON.stringify(COUNTING_CONFIG));
await route(2 * STREAMS);
await route(STREAMS / 16);
for (const part of [manyStreams, (lab: WorkerLab) => deliver(lab, join(scratch, 'adapter'))]) {
  const lab = await openWorkerLab(join(scratch, 'model'));
  await part(lab);
  await lab.close();
}
await rm(scratch, { recursive: true, force: true });
