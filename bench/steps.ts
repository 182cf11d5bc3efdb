// `npm run bench -- steps [--precisions float32,int8,w8a8] [--adapters 0,1,4,16] [--batches 32] [--context 64]`: processor time of whole
// calls of the model, decode steps and a prompt in chunks, broken down by their parts. `--against DIRECTORY` is another checkout of this
// repository, for instance of the previous commit: both alternate in this process, and the ratio is printed. Measures processor time
// rather than elapsed time, so that a busy machine can be used; with one thread, because threads that wait for each other spin.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { createRandom } from '#base/random';
import type { ServingPrecision } from '#engine/capabilities';
import type * as stores from '#engine/onnx/serving/adapter-store';
import { capacityClasses, capacityFor, type CacheView } from '#engine/onnx/serving/kv-cache';
import type * as runners from '#engine/onnx/serving/model-runner';
import { makeModelDirectory } from './model-directory.ts';
import { median } from './measurement.ts';
import { writeRandomAdapters } from './random-adapters.ts';
import { SHAPES } from './shapes.ts';

const { values: flags } = parseArgs({
  options: {
    shape: { type: 'string', default: '135m' },
    precisions: { type: 'string', default: 'float32,int8,w8a8' },
    adapters: { type: 'string', default: '0,1,4,16' },
    ranks: { type: 'string', default: '8' },
    batches: { type: 'string', default: '32' },
    context: { type: 'string', default: '63' },
    prompt: { type: 'string', default: '512' },
    rounds: { type: 'string', default: '5' },
    against: { type: 'string' },
  },
});
const config = SHAPES[flags.shape];
if (!config) throw new Error(`unknown --shape ${flags.shape}; known are ${Object.keys(SHAPES).join(', ')}`);
const numbers = (list: string): number[] => list.split(',').map(Number);
const [context, promptTokens, rounds] = [flags.context, flags.prompt, flags.rounds].map(Number) as [
  number,
  number,
  number,
];
/** Tokens of a call that computes a prompt. */
const CHUNK = 128;
/** Minimum processor time of a measurement: the clock may tick in hundredths of a second. */
const MEASURED_MS = 400;

interface Contestant {
  readonly runner: runners.ModelRunner;
  readonly store: stores.AdapterStore;
}

const adaptersMax = Math.max(...numbers(flags.adapters));

/** Of this checkout, or of another. */
async function openContestant(
  checkout: string,
  modelDirectory: string,
  precision: ServingPrecision,
  refs: readonly { id: string; directory: string }[],
): Promise<Contestant> {
  const load = (path: string) => import(pathToFileURL(join(checkout, 'src/engine/onnx/serving', path)).href);
  const { openModelRunner } = (await load('model-runner.ts')) as typeof runners;
  const { AdapterStore } = (await load('adapter-store.ts')) as typeof stores;
  const contextLength = Math.max(context + 1, promptTokens);
  const runner = await openModelRunner({ modelDirectory, threads: 1, precision, contextLength, weights: {} });
  const store = new AdapterStore(runner.config, { maxAdapters: Math.max(1, refs.length), adapterBytes: Infinity });
  for (const ref of refs) await store.acquire(ref);
  return { runner, store };
}

/** As if there were `count` sequences of `context` tokens; their values do not affect speed, as long as they are not all zero. */
function cacheOf(count: number, capacity: number, length: number): CacheView {
  const { layers, kvHeads, headDim } = config!;
  const random = createRandom(2);
  const values = () => Float32Array.from({ length: count * kvHeads * capacity * headDim }, () => random.next() - 0.5);
  const mask = new Float32Array(count * (capacity + 1)).fill(-1e9);
  for (let i = 0; i < count; i++) {
    mask.fill(0, i * (capacity + 1), i * (capacity + 1) + length);
    mask[(i + 1) * (capacity + 1) - 1] = 0;
  }
  const kept = Array.from({ length: layers }, values);
  return { capacity, count, k: kept, v: kept, mask };
}

type Call = (contestant: Contestant) => Promise<unknown>;

function decodeStep(batch: number, adapters: number): Call {
  const adapterIds = Array.from({ length: batch }, (_, i) => (adapters === 0 ? null : `adapter-${i % adapters}`));
  const capacity = capacityFor(capacityClasses(context + 1), context + 1);
  const past = [cacheOf(batch, capacity, context)];
  const tokens = Array.from({ length: batch }, (_, i) => (i * 7919) % config!.vocab);
  const input = { tokens, positions: tokens.map(() => context), past, adapterIds };
  return ({ runner, store }) => runner.decode(input, store.fused(adapterIds));
}

function prompt(adapters: number): Call {
  const adapterId = adapters === 0 ? null : 'adapter-0';
  const starts = Array.from({ length: Math.ceil(promptTokens / CHUNK) }, (_, i) => i * CHUNK);
  const inputs = starts.map((start) => {
    const length = Math.min(CHUNK, promptTokens - start);
    const capacity = capacityFor(capacityClasses(promptTokens), start + length);
    const past = start === 0 ? null : cacheOf(1, capacity, start);
    const tokens = Array.from({ length }, (_, i) => ((start + i) * 7919) % config!.vocab);
    return { tokens, start, past, adapterId, allLogits: false };
  });
  return async ({ runner, store }) => {
    for (const input of inputs) await runner.prefill(input, store.alone(adapterId));
  };
}

/** Milliseconds of processor time per call. */
async function measure(call: Call, contestant: Contestant): Promise<number> {
  const since = process.cpuUsage();
  let calls = 0;
  for (;;) {
    await call(contestant);
    calls++;
    const { user, system } = process.cpuUsage(since);
    if ((user + system) / 1000 >= MEASURED_MS) return (user + system) / 1000 / calls;
  }
}

async function compare(call: Call, contestants: readonly Contestant[]): Promise<string> {
  const samples = contestants.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [i, contestant] of contestants.entries()) {
      const ms = await measure(call, contestant);
      if (round > 0) samples[i]!.push(ms); // the first round warms up
    }
  }
  const [own, other] = samples.map(median) as [number, number | undefined];
  if (other === undefined) return `${own.toFixed(2)} ms`;
  const ratios = samples[0]!.map((ms, round) => samples[1]![round]! / ms);
  return `${other.toFixed(2)} → ${own.toFixed(2)} ms, ${median(ratios).toFixed(3)}x`;
}

const modelDirectory = await makeModelDirectory(config);
const adapterDirectory = await mkdtemp(join(tmpdir(), 'whetstone-bench-adapters-'));
try {
  const refs = await writeRandomAdapters(adapterDirectory, config, adaptersMax, numbers(flags.ranks));
  const checkouts = [process.cwd(), ...(flags.against === undefined ? [] : [resolve(flags.against)])];
  for (const precision of flags.precisions.split(',') as ServingPrecision[]) {
    const contestants: Contestant[] = [];
    for (const checkout of checkouts) contestants.push(await openContestant(checkout, modelDirectory, precision, refs));
    for (const adapters of numbers(flags.adapters)) {
      for (const batch of numbers(flags.batches)) {
        if (adapters > batch) continue;
        const result = await compare(decodeStep(batch, adapters), contestants);
        console.log(`${precision}, ${adapters} adapters, decode at batch ${batch}: ${result}`);
      }
      if (promptTokens === 0 || adapters > 1) continue; // a prompt has one
      const result = await compare(prompt(adapters), contestants);
      console.log(`${precision}, ${adapters} adapters, prompt of ${promptTokens}: ${result}`);
    }
    for (const { runner } of contestants) await runner.close();
  }
} finally {
  await rm(modelDirectory, { recursive: true, force: true });
  await rm(adapterDirectory, { recursive: true, force: true });
}
