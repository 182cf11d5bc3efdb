// `npm run bench -- engine [--shape 135m --threads 2]`: prefill and decode at batch 1 / 8 / 32, after contexts up to 8,192, with up to 16 adapters,
// and a LoRA step, alternating with llama.cpp and PyTorch + PEFT in the same run on the same shapes; medians and ratios, JSON in
// bench/results/<shape>/<processor>.json, written line by line. `--only PART,…` measures some of the parts and replaces their lines.
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { GROUP_SIZE, timeGroups } from './groups.ts';
import { report, say, type Measurement } from './measurement.ts';
import { makeModelDirectory } from './model-directory.ts';
import { processor } from './processor.ts';
import { benchAdapters, benchContexts, benchSampling, CONTESTS, type SamplingBench } from './sampling-speeds.ts';
import { SHAPES } from './shapes.ts';
import { benchRowLengths, benchTraining } from './training-speeds.ts';

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

const PARTS: Readonly<Record<string, (bench: SamplingBench) => AsyncGenerator<Measurement>>> = {
  ...Object.fromEntries(
    CONTESTS.flatMap((contest) => [
      [contest.part, (bench: SamplingBench) => benchSampling(bench, contest)],
      [`${contest.part} contexts`, (bench: SamplingBench) => benchContexts(bench, contest)],
      [`${contest.part} adapters`, (bench: SamplingBench) => benchAdapters(bench, contest)],
    ]),
  ),
  groups: benchGroups,
  training: benchTraining,
  'row lengths': benchRowLengths,
};
const wanted = flags.only?.split(',') ?? Object.keys(PARTS);
const unknown = wanted.find((part) => !Object.hasOwn(PARTS, part));
if (unknown !== undefined) throw new Error(`unknown --only ${unknown}; known are ${Object.keys(PARTS).join(', ')}`);

async function* benchGroups({ modelDirectory, threads, rounds }: SamplingBench): AsyncGenerator<Measurement> {
  const times = await timeGroups(modelDirectory, threads, rounds);
  yield {
    what: `groups of ${GROUP_SIZE}, prompt 512`,
    unit: 'tokens/s',
    tokensPerSecond: Object.fromEntries(times.map(({ name, tokensPerSecond }) => [name, tokensPerSecond])),
  };
}

const resultsDirectory = `bench/results/${flags.shape}`;
const resultsPath = `${resultsDirectory}/${processor().fileName}.json`;

/** A full run starts over. */
async function readKept(): Promise<readonly Measurement[]> {
  if (flags.only === undefined || !existsSync(resultsPath)) return [];
  return (JSON.parse(await readFile(resultsPath, 'utf8')) as { measurements: Measurement[] }).measurements;
}

async function keep(measurements: readonly Measurement[]): Promise<void> {
  const result = { shape: flags.shape, threads, cpu: processor().name, node: process.version, measurements };
  await mkdir(resultsDirectory, { recursive: true });
  await writeFile(resultsPath, `${JSON.stringify(result, null, 2)}\n`);
}

const [threads, rounds] = [Number(flags.threads), Number(flags.rounds)];
say(`shape ${flags.shape}, ${threads} threads, ${processor().name}, Node ${process.version}`);
const modelDirectory = await makeModelDirectory(config);
try {
  let kept = await readKept();
  for (const part of wanted) {
    for await (const measurement of PARTS[part]!({ config, modelDirectory, threads, rounds })) {
      report(measurement);
      kept = [...kept.filter(({ what }) => what !== measurement.what), measurement];
      await keep(kept);
    }
  }
  say(`written to ${resultsPath}`);
} finally {
  await rm(modelDirectory, { recursive: true, force: true });
}
