// `npm run bench [-- --shape 135m --threads 2]`: prefill, decode at batch 1 / 8 / 32 and a LoRA step, with llama.cpp and
// PyTorch + PEFT in the same run on the same shapes, alternating; medians and ratios, JSON in bench/results/<shape>/<processor>.json.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { LossProgram } from '#engine/loss-program';
import type { TrainingRow } from '#engine/training-engine';
import { policyLoss } from '#training/losses';
import { resolveRlConfig } from '#training/rl-config';
import { GROUP_SIZE, timeGroups } from './groups.ts';
import { openLlamaCpp } from './llama-cpp.ts';
import { makeModelDirectory } from './model-directory.ts';
import { processor } from './processor.ts';
import { timePytorch } from './pytorch.ts';
import type { Sampler } from './sampling.ts';
import { SHAPES } from './shapes.ts';
import { BENCH_LOSS, groupRow, timeTraining, wholeRow, type TrainingTimes } from './training.ts';
import { openWhetstone } from './whetstone-sampler.ts';

const { values: flags } = parseArgs({
  options: {
    shape: { type: 'string', default: '135m' },
    threads: { type: 'string', default: String(Math.min(8, availableParallelism())) },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
});
const config = SHAPES[flags.shape];
if (!config) throw new Error(`unknown --shape ${flags.shape}; known are ${Object.keys(SHAPES).join(', ')}`);
const threads = Number(flags.threads);
const rounds = Number(flags.rounds);

const PREFILL_TOKENS = 512;
const DECODE_PROMPT_TOKENS = 64;
const DECODE_TOKENS = 64;
/** Of prompts in one batch, as rollouts of several turns have them. */
const MIXED_PROMPT_TOKENS = [10, 70, 150, 400];
const BATCHES = [1, 8, 32];
const ROW_TOKENS = 512;
/** A group whose prompt is twice its completions. */
const [TRAINED_GROUP, GROUP_PROMPT, GROUP_COMPLETION] = [8, 192, 96];

/** `--only float32,training`: a part; its results are printed, not kept. */
const wants = (part: string): boolean => flags.only === undefined || flags.only.split(',').includes(part);

interface Measurement {
  readonly what: string;
  readonly unit: string;
  /** Median per contestant; larger is better. */
  readonly tokensPerSecond: Record<string, number>;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const median = (xs: readonly number[]): number => [...xs].sort((a, b) => a - b)[Math.floor(xs.length / 2)]!;
const prompts = (count: number, ...lengths: number[]): number[][] =>
  Array.from({ length: count }, (_, k) =>
    Array.from({ length: lengths[k % lengths.length]! }, (_, i) => ((i * 7919 + k * 104_729) % (config.vocab - 1)) + 1),
  );

/** Contestants take turns, so that a machine that slows down slows all of them. */
async function alternate(
  contestants: readonly Sampler[],
  measure: (s: Sampler) => Promise<number>,
): Promise<Record<string, number>> {
  const samples: Record<string, number[]> = Object.fromEntries(contestants.map((s) => [s.name, []]));
  for (let round = 0; round < rounds + 1; round++) {
    for (const sampler of contestants) {
      const value = await measure(sampler);
      if (round > 0) samples[sampler.name]!.push(value); // the first round warms up
    }
  }
  return Object.fromEntries(Object.entries(samples).map(([name, xs]) => [name, median(xs)]));
}

/** The same bits on both sides: float32 against F32; int8 and w8a8 against Q8_0, which has blocks of 32 with a scale, as int8 has. */
const CONTESTS = [
  { part: 'float32', ours: ['float32'], peer: 'F32' },
  { part: '8 bits', ours: ['int8', 'w8a8'], peer: 'Q8_0' },
] as const;

async function benchSampling(
  modelDirectory: string,
  { part, ours, peer }: (typeof CONTESTS)[number],
): Promise<Measurement[]> {
  const contestants: Sampler[] = [];
  for (const precision of ours) contestants.push(await openWhetstone(modelDirectory, precision, threads));
  const llamaCpp = await openLlamaCpp(config!, peer, threads);
  if (llamaCpp) contestants.push(llamaCpp);
  else say('llama.cpp is not installed: npm install --prefix bench/peers --ignore-scripts');
  const measurements: Measurement[] = [];
  measurements.push({
    what: `${part} prefill ${PREFILL_TOKENS}`,
    unit: 'tokens/s',
    tokensPerSecond: await alternate(contestants, async (s) => {
      const { firstTokenMs } = await s.generate(prompts(1, PREFILL_TOKENS), 1);
      return (PREFILL_TOKENS / firstTokenMs) * 1000;
    }),
  });
  const decode = async (what: string, given: readonly (readonly number[])[]): Promise<Measurement> => ({
    what: `${part} decode, ${what}`,
    unit: 'tokens/s',
    tokensPerSecond: await alternate(contestants, async (s) => (await s.generate(given, DECODE_TOKENS)).decodeRate),
  });
  for (const batch of BATCHES) measurements.push(await decode(`batch ${batch}`, prompts(batch, DECODE_PROMPT_TOKENS)));
  measurements.push(await decode('8 lengths mixed', prompts(8, ...MIXED_PROMPT_TOKENS)));
  for (const sampler of contestants) await sampler.close();
  return measurements;
}

/** `ours` and `peers` do the same work: tokens of `counted` per step. */
async function compareTraining(
  what: string,
  counted: number,
  ours: () => Promise<TrainingTimes>,
  peers: readonly (() => Promise<TrainingTimes | null>)[],
): Promise<Measurement> {
  const times = [await ours()];
  for (const peer of peers) {
    const time = await peer();
    if (time) times.push(time);
    else say('PyTorch is left out: set WHETSTONE_PYTHON to an interpreter that has torch, transformers and peft.');
  }
  const rates = times.map(({ name, stepMs }) => [name, (counted / median(stepMs.slice(2))) * 1000] as const);
  return { what, unit: 'tokens/s', tokensPerSecond: Object.fromEntries(rates) };
}

async function benchTraining(modelDirectory: string): Promise<Measurement[]> {
  const steps = rounds + 2;
  const pytorch = (dtype: 'float32' | 'bfloat16', shape: { tokens: number; prompt?: number; group?: number }) => () =>
    timePytorch(config!, { ...shape, steps, threads, dtype });
  const ours = (row: TrainingRow, loss: LossProgram) => () => timeTraining(modelDirectory, row, loss, steps, threads);
  const whole = { tokens: ROW_TOKENS };
  const group = { tokens: GROUP_PROMPT + GROUP_COMPLETION, prompt: GROUP_PROMPT, group: TRAINED_GROUP };
  const row = groupRow(TRAINED_GROUP, GROUP_PROMPT, GROUP_COMPLETION, config!.vocab);
  return [
    await compareTraining(
      `LoRA step, row of ${ROW_TOKENS}`,
      ROW_TOKENS,
      ours(wholeRow(ROW_TOKENS, config!.vocab), BENCH_LOSS),
      [pytorch('float32', whole), pytorch('bfloat16', whole)],
    ),
    await compareTraining(
      `group of ${TRAINED_GROUP}, ${GROUP_PROMPT} + ${GROUP_COMPLETION}`,
      TRAINED_GROUP * GROUP_COMPLETION,
      ours(row, policyLoss(resolveRlConfig({}).loss)),
      [pytorch('float32', group), pytorch('bfloat16', group)],
    ),
  ];
}

async function benchGroups(modelDirectory: string): Promise<Measurement> {
  const times = await timeGroups(modelDirectory, threads, rounds);
  return {
    what: `groups of ${GROUP_SIZE}, prompt 512`,
    unit: 'tokens/s',
    tokensPerSecond: Object.fromEntries(times.map(({ name, tokensPerSecond }) => [name, tokensPerSecond])),
  };
}

function report({ what, unit, tokensPerSecond }: Measurement): void {
  const [[, ours], ...peers] = Object.entries(tokensPerSecond) as [[string, number], ...[string, number][]];
  const ratios = peers.map(([name, theirs]) => `${(ours / theirs).toFixed(2)}x ${name} (${theirs.toFixed(1)})`);
  say(`${what.padEnd(32)} ${ours.toFixed(1).padStart(9)} ${unit}   ${ratios.join(', ')}`);
}

async function keep(measurements: readonly Measurement[]): Promise<void> {
  const directory = `bench/results/${flags.shape}`;
  const path = `${directory}/${processor().fileName}.json`;
  const result = { shape: flags.shape, threads, cpu: processor().name, node: process.version, measurements };
  await mkdir(directory, { recursive: true });
  await writeFile(path, `${JSON.stringify(result, null, 2)}\n`);
  say(`written to ${path}`);
}

say(`shape ${flags.shape}, ${threads} threads, ${processor().name}, Node ${process.version}`);
const modelDirectory = await makeModelDirectory(config);
try {
  const measurements: Measurement[] = [];
  for (const contest of CONTESTS) {
    if (wants(contest.part)) measurements.push(...(await benchSampling(modelDirectory, contest)));
  }
  if (wants('groups')) measurements.push(await benchGroups(modelDirectory));
  if (wants('training')) measurements.push(...(await benchTraining(modelDirectory)));
  measurements.forEach(report);
  if (flags.only === undefined) await keep(measurements);
} finally {
  await rm(modelDirectory, { recursive: true, force: true });
}
