import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { plainRow, TINY_CONFIGS } from '../../../../test/learning/tiny-decoders.ts';
import type { LossProgram } from '../../loss-program.ts';
import type { TrainingEngine, TrainingSession } from '../../training-engine.ts';
import { openFullTraining } from './full-training.ts';
import { createOnnxTrainingEngine } from './onnx-training-engine.ts';

const LORA = { rank: 4, alpha: 8, seed: 3 };
const ADAMW = { learningRate: 0.01, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.1, maxGradNorm: 1 };
const ROW = plainRow([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], {});
const OTHER_ROW = plainRow([2, 7, 1, 8, 2, 8], {});
const never = new AbortController().signal;

const crossEntropy: LossProgram = {
  name: 'cross-entropy',
  perToken: { op: 'neg', x: { op: 'logprob' } },
  metrics: { entropy: { op: 'entropy' } },
};
const withInputs: LossProgram = {
  name: 'weighted',
  perToken: { op: 'mul', x: { op: 'input', name: 'weights' }, y: { op: 'logprob' } },
  metrics: {},
};

let scratch: string;
let engine: TrainingEngine;
let session: TrainingSession | undefined;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'training-engine-'));
  const model = newDirectory('tiny');
  await writeFile(join(model, 'config.json'), JSON.stringify(TINY_CONFIGS.qwen3));
  const fresh = await openFullTraining({ directory: model, seed: 1, threads: 1 });
  await fresh.save(model, 'F32');
  await fresh.close();
  engine = await createOnnxTrainingEngine({ modelDirectory: model, threads: 1, maxRowLength: 32, log: silentLog });
});
afterEach(async () => {
  await session?.close();
  session = undefined;
});
afterAll(async () => {
  await engine.close();
  await rm(scratch, { recursive: true });
});

let directories = 0;
function newDirectory(name = `${directories++}`): string {
  const directory = join(scratch, name);
  mkdirSync(directory);
  return directory;
}

async function open(from: string | null = null, options: { resetOptimizer?: boolean } = {}): Promise<TrainingSession> {
  await session?.close();
  session = await engine.open({ from, lora: LORA, ...options }, never);
  return session;
}

async function train(target: TrainingSession, steps: number): Promise<number[]> {
  const losses: number[] = [];
  for (let step = 0; step < steps; step++) {
    losses.push((await target.forwardBackward(ROW, crossEntropy)).loss);
    await target.optimStep(ADAMW);
  }
  return losses;
}

async function saved(target: TrainingSession): Promise<{ directory: string; bytes: Buffer[] }> {
  const directory = newDirectory();
  await target.save(directory, { resumable: true });
  const files = ['adapter_config.json', 'adapter_model.safetensors', 'optimizer.safetensors'];
  return { directory, bytes: await Promise.all(files.map((name) => readFile(join(directory, name)))) };
}

test('a fresh adapter changes nothing; training lowers the loss', async () => {
  const losses = await train(await open(), 25);
  expect(Math.abs(losses[0]! - Math.log(19))).toBeLessThan(0.2);
  // The base is random with a small head: its logits cannot grow far.
  expect(losses.at(-1)!).toBeLessThan(losses[0]! - 0.2);
});

test('the loss is minus the mean of the log-probabilities, the entropy that of the distribution', async () => {
  const target = await open();
  const logprobs = await target.logprobs(ROW);
  const { loss, metrics } = await target.forwardBackward(ROW, crossEntropy);
  expect(loss).toBeCloseTo(-logprobs.reduce((a, b) => a + b, 0) / logprobs.length, 5);
  expect(metrics['entropy']!).toBeGreaterThan(2.8);
  expect(metrics['entropy']!).toBeLessThan(Math.log(19) + 1e-5);
});

test('the same work from the same seed makes the same bytes', async () => {
  const runs: Buffer[][] = [];
  for (let run = 0; run < 2; run++) {
    const target = await open();
    await train(target, 3);
    runs.push((await saved(target)).bytes);
  }
  expect(runs[0]).toEqual(runs[1]);
});

test('a session that resumes from a directory ends in the same bytes as one that never stopped', async () => {
  const straight = await open();
  await train(straight, 4);
  const { bytes } = await saved(straight);

  const first = await open();
  await train(first, 2);
  const { directory } = await saved(first);
  const second = await open(directory);
  await train(second, 2);
  expect((await saved(second)).bytes).toEqual(bytes);
});

test('what was saved and loaded saves as the same bytes', async () => {
  const target = await open();
  await train(target, 2);
  const { directory, bytes } = await saved(target);
  expect((await saved(await open(directory))).bytes).toEqual(bytes);
});

test('resetOptimizer keeps the weights and forgets the moments', async () => {
  const target = await open();
  await train(target, 2);
  const { directory, bytes } = await saved(target);
  const reset = (await saved(await open(directory, { resetOptimizer: true }))).bytes;
  expect(reset[1]).toEqual(bytes[1]);
  expect(reset[2]).not.toEqual(bytes[2]);
});

test('without resumable only the PEFT files are written', async () => {
  const target = await open();
  const directory = newDirectory();
  await target.save(directory, { resumable: false });
  await readFile(join(directory, 'adapter_config.json'));
  await readFile(join(directory, 'adapter_model.safetensors'));
  await expect(readFile(join(directory, 'optimizer.safetensors'))).rejects.toThrow('ENOENT');
});

test('gradients of rows add up until the step, which clears them', async () => {
  const target = await open();
  const normOf = async (rows: readonly (typeof ROW)[]): Promise<number> => {
    for (const row of rows) await target.forwardBackward(row, crossEntropy);
    return (await target.optimStep({ ...ADAMW, learningRate: 0 })).gradNorm;
  };
  const once = await normOf([ROW]);
  expect(once).toBeGreaterThan(0);
  expect(await normOf([ROW, ROW])).toBeCloseTo(2 * once, 5);
  expect(await normOf([ROW])).toBe(once);
  expect(await normOf([OTHER_ROW])).not.toBe(once);
  expect(await normOf([])).toBe(0);
});

test('a row without targets has no loss and no gradient', async () => {
  const target = await open();
  const none = new Int32Array(0);
  const row = { ...ROW, predictFrom: none, targets: none, sequenceIds: none };
  expect(await target.forwardBackward(row, crossEntropy)).toEqual({ loss: 0, metrics: { entropy: 0 } });
  expect(await target.logprobs(row)).toEqual(new Float32Array(0));
  expect((await target.optimStep(ADAMW)).gradNorm).toBe(0);
});

test('programs of one name and different constants are different programs', async () => {
  const target = await open();
  const scaled = (value: number): LossProgram => ({
    name: 'scaled',
    perToken: { op: 'mul', x: { op: 'constant', value }, y: { op: 'logprob' } },
    metrics: {},
  });
  const one = (await target.forwardBackward(ROW, scaled(1))).loss;
  expect((await target.forwardBackward(ROW, scaled(3))).loss).toBeCloseTo(3 * one, 4);
});

test('more programs than fit in the cache all work', async () => {
  const target = await open();
  for (let value = 1; value <= 9; value++) {
    const perToken = { op: 'mul', x: { op: 'constant', value }, y: { op: 'logprob' } } as const;
    const { loss } = await target.forwardBackward(OTHER_ROW, { name: 'many', perToken, metrics: {} });
    expect(loss / value).toBeCloseTo(-Math.log(19), 0);
  }
});

test('gradients that are not finite are refused and do not touch the adapter', async () => {
  const target = await open();
  const before = (await saved(target)).bytes[1];
  const weights = new Float32Array(ROW.targets.length).fill(NaN);
  await target.forwardBackward({ ...ROW, inputs: { weights } }, withInputs);
  await expect(target.optimStep(ADAMW)).rejects.toMatchObject({ code: 'engine_failed' });
  expect((await saved(target)).bytes[1]).toEqual(before);
  expect((await target.optimStep({ ...ADAMW, learningRate: 0 })).gradNorm).toBe(0);
});

test('a row without the inputs of its loss, or longer than fits, is refused', async () => {
  const target = await open();
  await expect(target.forwardBackward(ROW, withInputs)).rejects.toMatchObject({
    code: 'invalid_request',
    message: 'Loss weighted needs input weights for 11 trained tokens, the row has nothing.',
  });
  const long = plainRow(
    Array.from({ length: 33 }, () => 1),
    {},
  );
  await expect(target.logprobs(long)).rejects.toMatchObject({ code: 'invalid_request' });
  expect(engine.maxRowLength).toBe(32);
});

test('one session at a time; closing it makes room', async () => {
  const target = await open();
  expect(engine.status().busy).toBe(true);
  await expect(engine.open({ from: null, lora: LORA }, never)).rejects.toMatchObject({ code: 'engine_unavailable' });
  await target.close();
  await target.close();
  expect(engine.status().busy).toBe(false);
  await open();
});

test('an opening that fails or is cancelled leaves room for the next', async () => {
  const missing = engine.open({ from: join(scratch, 'nowhere'), lora: LORA }, never);
  await expect(missing).rejects.toMatchObject({ code: 'bad_model_files' });
  const cancelled = engine.open({ from: null, lora: LORA }, AbortSignal.abort());
  await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
  await open();
});
