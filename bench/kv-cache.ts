// `npm run bench -- kv-cache`: what a 16-bit cache costs and saves. The distance of log-probabilities from those with a float32 cache, on the
// starter's answers to fresh prompts and on random tokens of a random 135M; processor time of a decode step after 511 tokens, alternating
// between both in one process with one thread; bytes per token.
import { rm } from 'node:fs/promises';
import { createRandom } from '#base/random';
import type { KVCacheDtype } from '#engine/capabilities';
import { fuseAdapters } from '#engine/onnx/serving/fused-adapters';
import { cacheArray, cacheBytesPerToken, type CacheView } from '#engine/onnx/serving/kv-cache';
import { openModelRunner, type ModelRunner } from '#engine/onnx/serving/model-runner';
import { float32ToFloat16 } from '#model-files/half-precision';
import { median } from './measurement.ts';
import { makeModelDirectory } from './model-directory.ts';
import { SHAPES } from './shapes.ts';
import { CONTEXT, STARTER, starterTexts, type Text } from './starter-texts.ts';

const DTYPES = ['float32', 'float16'] as const satisfies readonly KVCacheDtype[];
const CAPACITY = 512;
const BATCHES = [1, 32];
const ROUNDS = 5;
/** Minimum processor time of a measurement: the clock may tick in hundredths of a second. */
const MEASURED_MS = 300;

const open = (modelDirectory: string): Promise<ModelRunner[]> =>
  Promise.all(
    DTYPES.map((kvCacheDtype) =>
      openModelRunner({
        modelDirectory,
        threads: 1,
        precision: 'float32',
        kvCacheDtype,
        contextLength: CONTEXT,
        weights: {},
      }),
    ),
  );

/** Of the measured tokens. */
async function logprobsOf(runner: ModelRunner, { tokens, isMeasured }: Text): Promise<number[]> {
  const { vocab } = runner.config;
  const input = { tokens, start: 0, past: null, adapterId: null, allLogits: true };
  const { logits, logsumexp } = await runner.prefill(input, fuseAdapters(runner.config, []));
  return tokens.flatMap((token, i) =>
    i > 0 && isMeasured(i) ? [logits[(i - 1) * vocab + token]! - logsumexp[i - 1]!] : [],
  );
}

async function compareLogprobs(name: string, [exact, rounded]: readonly ModelRunner[], texts: readonly Text[]) {
  const gaps: number[] = [];
  for (const text of texts) {
    const [p, q] = [await logprobsOf(exact!, text), await logprobsOf(rounded!, text)];
    gaps.push(...p.map((logprob, i) => Math.abs(logprob - q[i]!)));
  }
  gaps.sort((a, b) => a - b);
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const shown = [mean, gaps[Math.floor(0.99 * gaps.length)]!, gaps.at(-1)!].map((gap) => gap.toExponential(1));
  console.log(`${name}: ${gaps.length} tokens, nats apart: mean ${shown[0]}, p99 ${shown[1]}, largest ${shown[2]}`);
}

/** As if there were `count` sequences of CAPACITY − 1 tokens. */
function cacheOf({ cacheShape }: ModelRunner, count: number): CacheView {
  const random = createRandom(2);
  const { layers, kvHeads, headDim, dtype } = cacheShape;
  const values = () => {
    const kept = cacheArray(cacheShape, count * kvHeads * CAPACITY * headDim);
    const floats = Float32Array.from(kept, () => random.next() - 0.5);
    kept.set(dtype === 'float16' ? float32ToFloat16(floats) : floats);
    return kept;
  };
  const kept = Array.from({ length: layers }, values);
  const mask = new Float32Array(count * (CAPACITY + 1));
  for (let i = 0; i < count; i++) mask[i * (CAPACITY + 1) + CAPACITY - 1] = -1e9;
  return { capacity: CAPACITY, count, k: kept, v: kept, mask };
}

/** Milliseconds of processor time. */
async function stepMs(runner: ModelRunner, past: CacheView): Promise<number> {
  const tokens = Array.from({ length: past.count }, (_, i) => i * 31);
  const adapterIds = tokens.map(() => null);
  const input = { tokens, positions: tokens.map(() => CAPACITY - 1), past: [past], adapterIds };
  const noAdapters = fuseAdapters(runner.config, []);
  const since = process.cpuUsage();
  for (let calls = 1; ; calls++) {
    await runner.decode(input, noAdapters);
    const { user, system } = process.cpuUsage(since);
    if ((user + system) / 1000 >= MEASURED_MS) return (user + system) / 1000 / calls;
  }
}

async function compareSteps(runners: readonly ModelRunner[]): Promise<void> {
  for (const batch of BATCHES) {
    const pasts = runners.map((runner) => cacheOf(runner, batch));
    const samples = runners.map((): number[] => []);
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [i, runner] of runners.entries()) {
        const ms = await stepMs(runner, pasts[i]!);
        if (round > 0) samples[i]!.push(ms); // the first round warms up
      }
    }
    const [float32, float16] = samples.map(median) as [number, number];
    const ratio = median(samples[0]!.map((ms, round) => samples[1]![round]! / ms));
    console.log(
      `135m, batch ${batch}: ${float32.toFixed(1)} and ${float16.toFixed(1)} ms a step, ${ratio.toFixed(2)}x`,
    );
  }
}

const starter = await open(STARTER);
await compareLogprobs(
  'starter',
  starter,
  starterTexts().filter((_, i) => i % 5 === 0),
);
for (const runner of starter) await runner.close();
const directory = await makeModelDirectory(SHAPES['135m']!);
try {
  const runners = await open(directory);
  const random = createRandom(1);
  const texts = Array.from({ length: 4 }, () => ({
    tokens: Array.from({ length: CAPACITY }, () => random.integer(SHAPES['135m']!.vocab)),
    isMeasured: () => true,
  }));
  await compareLogprobs('135m, random', runners, texts);
  const [whole, half] = runners.map(({ cacheShape }) => cacheBytesPerToken(cacheShape));
  console.log(`135m, bytes per token: ${whole} and ${half}`);
  await compareSteps(runners);
  for (const runner of runners) await runner.close();
} finally {
  await rm(directory, { recursive: true, force: true });
}
