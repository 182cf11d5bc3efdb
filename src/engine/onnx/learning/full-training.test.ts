import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { plainRow, TINY_CONFIGS } from '../../../../test/support/learning/tiny-decoders.ts';
import { normalizeWeights, openFullTraining, weightedCrossEntropy } from './full-training.ts';

const ADAMW = { learningRate: 0.01, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.1, maxGradNorm: 1 };

/** The alphabet, from two starting points: each token determines the next. */
const counting = (start: number) =>
  plainRow(
    Array.from({ length: 12 }, (_, i) => (start + i) % 19),
    { weights: Array.from({ length: 11 }, () => 1) },
  );
const ROWS = normalizeWeights([counting(0), counting(7)]);

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'full-training-'));
  await writeFile(join(directory, 'config.json'), JSON.stringify(TINY_CONFIGS.qwen3));
});
afterEach(() => rm(directory, { recursive: true }));

test('a random model starts near uniform and learns to count', async () => {
  const session = await openFullTraining({ directory, seed: 1, threads: 1 });
  const losses: number[] = [];
  for (let step = 0; step < 60; step++) {
    losses.push((await session.forwardBackward(ROWS, weightedCrossEntropy)).loss);
    await session.optimStep(ADAMW);
  }
  expect(Math.abs(losses[0]! - Math.log(19))).toBeLessThan(0.1);
  expect(losses.at(-1)!).toBeLessThan(0.1);
  const logprobs = await session.logprobs(ROWS);
  expect(logprobs.length).toBe(22);
  await session.close();
});

test('two half batches leave the same gradients as one whole batch', async () => {
  const norms: number[] = [];
  for (const batches of [[ROWS], ROWS.map((row) => [row])]) {
    const session = await openFullTraining({ directory, seed: 1, threads: 1 });
    for (const batch of batches) await session.forwardBackward(batch, weightedCrossEntropy);
    norms.push((await session.optimStep(ADAMW)).gradNorm);
    await session.close();
  }
  expect(Math.abs(norms[0]! - norms[1]!)).toBeLessThan(1e-5);
});

test('a run that is saved and resumed ends in the same bytes as one that never stopped', async () => {
  const train = async (session: Awaited<ReturnType<typeof openFullTraining>>, steps: number) => {
    for (let step = 0; step < steps; step++) {
      await session.forwardBackward(ROWS, weightedCrossEntropy);
      await session.optimStep(ADAMW);
    }
  };
  const weights = () => readFile(join(directory, 'model.safetensors'));
  const straight = await openFullTraining({ directory, seed: 3, threads: 1 });
  await train(straight, 4);
  await straight.save(directory, 'F32');
  await straight.close();
  const expected = await weights();

  const first = await openFullTraining({ directory, seed: 3, threads: 1 });
  await train(first, 2);
  await first.save(directory, 'F32');
  await first.saveOptimizer(directory);
  await first.close();
  expect((await weights()).equals(expected)).toBe(false);
  const second = await openFullTraining({ directory, seed: 99, threads: 1, resume: true });
  await train(second, 2);
  await second.save(directory, 'F32');
  await second.close();
  expect((await weights()).equals(expected)).toBe(true);
});
