// `npm run bench:memory [-- --shape 135m]`: the peak of a training step's memory beside the weights, per row length, with
// the estimate that rows are planned by. One child per length: a process's peak does not come down.
import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { trainingMemoryShare } from '#engine/onnx/training-memory';
import { bytesOf } from '#training/row-budget';
import { makeModelDirectory } from './model-directory.ts';
import { SHAPES } from './shapes.ts';
import { BENCH_LOSS, OPTIMIZER, wholeRow } from './training.ts';

const { values: flags } = parseArgs({
  options: {
    shape: { type: 'string', default: '135m' },
    lengths: { type: 'string', default: '128,256,512,1024,2048' },
    directory: { type: 'string' },
    tokens: { type: 'string' },
  },
});
const config = SHAPES[flags.shape];
if (!config) throw new Error(`unknown --shape ${flags.shape}`);

/** In a child: one step over a row, in bytes. */
async function measure(directory: string, tokens: number): Promise<{ measured: number; estimated: number }> {
  const engine = await openOnnxTrainingEngine({
    modelDirectory: directory,
    threads: 2,
    memoryBytes: trainingMemoryShare(1),
    log: silentLog,
  });
  const session = await engine.open(
    { from: null, lora: { rank: 8, alpha: 16, seed: 1 }, resetOptimizer: false, headTokensMax: null },
    new AbortController().signal,
  );
  const before = process.memoryUsage().rss;
  await session.forwardBackward(wholeRow(tokens, config!.vocab), BENCH_LOSS);
  await session.optimStep(OPTIMIZER);
  const measured = process.resourceUsage().maxRSS * 1024 - before;
  const estimated = bytesOf(tokens, engine.limits.memory);
  await session.close();
  await engine.close();
  return { measured, estimated };
}

if (flags.directory && flags.tokens) {
  process.stdout.write(JSON.stringify(await measure(flags.directory, Number(flags.tokens))));
} else {
  const directory = await makeModelDirectory(config);
  for (const tokens of flags.lengths.split(',')) {
    const child = spawnSync(
      process.execPath,
      [
        ...process.execArgv,
        fileURLToPath(import.meta.url),
        '--shape',
        flags.shape,
        '--directory',
        directory,
        '--tokens',
        tokens,
      ],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const { measured, estimated } = JSON.parse(child.stdout) as { measured: number; estimated: number };
    const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(2).padStart(6);
    process.stdout.write(
      `${flags.shape} row of ${tokens.padStart(5)}: ${gigabytes(measured)} GB, estimated ${gigabytes(estimated)} GB (${(estimated / measured).toFixed(2)}x)\n`,
    );
  }
  await rm(directory, { recursive: true, force: true });
}
