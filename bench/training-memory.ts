// `npm run bench -- memory [--shape 135m --lengths 512,4096 --activations recomputed --steps 2 --precision float32,int8]`: the peak memory of a
// training step in addition to the weights, compared with the estimate used for planning rows, and its duration. One child per length,
// because a process's memory does not shrink. Linux only; counts anonymous memory, not mapped files.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { silentLog } from '#base/log';
import { TRAINING_PRECISIONS, type TrainingPrecision } from '#engine/capabilities';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { rowBytes } from '#engine/onnx/learning/row-memory';
import type { Activations } from '#engine/onnx/learning/train-graph';
import { makeModelDirectory } from './model-directory.ts';
import { SHAPES } from './shapes.ts';
import { BENCH_LOSS, OPTIMIZER, wholeRow } from './training.ts';

const { values: flags } = parseArgs({
  options: {
    shape: { type: 'string', default: '135m' },
    lengths: { type: 'string', default: '512,1024,2048,4096' },
    activations: { type: 'string', default: 'kept,recomputed' },
    /** The first step compiles; the time of the last is printed. */
    steps: { type: 'string', default: '2' },
    precision: { type: 'string', default: 'float32' },
    directory: { type: 'string' },
  },
});
const shape = SHAPES[flags.shape];
if (!shape) throw new Error(`unknown --shape ${flags.shape}`);
const config = { ...shape, maxPositions: 32_768 };

interface Kind {
  readonly activations: Activations;
  readonly precision: TrainingPrecision;
}

/** All combinations of the lists. */
const kinds = flags.activations.split(',').flatMap((activations) =>
  flags.precision.split(',').map((name): Kind => {
    const precision = TRAINING_PRECISIONS.find((known) => known === name);
    if (!precision) throw new Error(`unknown --precision ${name}`);
    return { activations: activations as Activations, precision };
  }),
);

/** In a child: takes steps over a row. Prints a line when it begins, and one with the milliseconds of the last step, elapsed and of processors. */
async function train(directory: string, tokens: number, { activations, precision }: Kind): Promise<void> {
  const engine = await openOnnxTrainingEngine({
    modelDirectory: directory,
    threads: 2,
    precision,
    weights: { directory, inMemoryBytesMax: 0 },
    memoryBytes: activations === 'kept' ? Infinity : rowBytes(config, 'recomputed', tokens, undefined, precision) + 1,
    log: silentLog,
  });
  const session = await engine.open(
    { from: null, lora: { rank: 8, alpha: 16, seed: 1 }, resetOptimizer: false, headTokensMax: null },
    new AbortController().signal,
  );
  globalThis.gc!();
  process.stdout.write('ready\n');
  let line = '';
  for (let step = 0; step < Number(flags.steps); step++) {
    const [started, processors] = [performance.now(), process.cpuUsage()];
    await session.forwardBackward([wholeRow(tokens, config.vocab)], BENCH_LOSS);
    await session.optimStep(OPTIMIZER);
    const { user, system } = process.cpuUsage(processors);
    line = `${performance.now() - started} ${(user + system) / 1e3}\n`;
  }
  process.stdout.write(line);
  await session.close();
  await engine.close();
}

const anonymousBytes = (pid: number): number =>
  1024 * Number(/RssAnon:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);

async function measure(directory: string, tokens: string, kind: Kind) {
  const script = fileURLToPath(import.meta.url);
  const own = Object.entries({ shape: flags.shape, lengths: tokens, steps: flags.steps, ...kind, directory });
  const args = own.flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(process.execPath, [...process.execArgv, '--expose-gc', script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let before = 0;
  let peak = 0;
  let times = '';
  const watch = setInterval(() => {
    if (before > 0) peak = Math.max(peak, anonymousBytes(child.pid!) - before);
  }, 20);
  for await (const line of createInterface(child.stdout)) {
    if (line === 'ready') before = anonymousBytes(child.pid!);
    else times = line;
  }
  clearInterval(watch);
  const [elapsedMs, processorMs] = times.split(' ').map(Number) as [number, number];
  return { peak, elapsedMs, processorMs };
}

if (flags.directory) {
  await train(flags.directory, Number(flags.lengths), kinds[0]!);
} else {
  const directory = await makeModelDirectory(config);
  for (const tokens of flags.lengths.split(',')) {
    for (const kind of kinds) {
      const { activations, precision } = kind;
      const { peak, elapsedMs, processorMs } = await measure(directory, tokens, kind);
      const estimated = rowBytes(config, activations, Number(tokens), undefined, precision);
      const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(2).padStart(6);
      process.stdout.write(
        `${flags.shape}, ${precision}, row of ${tokens.padStart(5)}, ${activations}: ${gigabytes(peak)} GB, estimated ${gigabytes(estimated)} GB ` +
          `(${(estimated / peak).toFixed(2)}x); ${((1e3 * Number(tokens)) / elapsedMs).toFixed(1)} tokens/s, ` +
          `${(processorMs / Number(tokens)).toFixed(2)} ms of processors per token\n`,
      );
    }
  }
  await rm(directory, { recursive: true, force: true });
}
