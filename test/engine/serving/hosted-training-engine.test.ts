import { mkdtemp, readFile, rm, mkdir } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { TRAINER_NICE } from '#engine/backend';
import type { LossProgram } from '#engine/loss-program';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { onnxCapabilities } from '#engine/onnx/onnx-backend';
import { openInferenceEngine, openTrainingEngine } from '#engine/onnx/open-engines';
import type { TrainingEngine, TrainingSession } from '#engine/training-engine';
import { aSession } from '../../support/learning/a-session.ts';
import { collect, randomPrompt, request, sampling, tokensOf } from '../../support/contract/inference-engine.ts';
import { trainingEngineContract } from '../../support/contract/training-engine.ts';
import { plainRow } from '../../support/learning/tiny-decoders.ts';
import { createRecordingLog, pidOf } from '../../support/serving/recording-log.ts';
import { TEST_LIMITS } from '../../support/serving/test-limits.ts';
import { writeTinyModel, type TinyModel } from '../../support/serving/tiny-model.ts';
import { rowLogprobs, trainRow } from '../../support/learning/one-row.ts';

trainingEngineContract('the embedded engine in a child process', {
  capabilities: onnxCapabilities('float32'),
  open: (options) => openTrainingEngine({ ...options, memoryBytes: 4e9, log: silentLog }),
});

const LORA = { rank: 4, alpha: 8, seed: 3 };
const ADAMW = { learningRate: 0.01, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.1, maxGradNorm: 1 };
const crossEntropy: LossProgram = { name: 'cross-entropy', perToken: { op: 'neg', x: { op: 'logprob' } }, metrics: {} };
const row = plainRow(randomPrompt(40, 2), {});
const never = new AbortController().signal;

let model: TinyModel;
let scratch: string;
let engine: TrainingEngine;
const log = createRecordingLog();

beforeAll(async () => {
  model = await writeTinyModel();
  scratch = await mkdtemp(join(tmpdir(), 'whetstone-training-'));
  const options = {
    modelDirectory: model.directory,
    threads: 1,
    memoryBytes: 4e9,
    rowLengthMax: 64,
    baseModelName: 'tiny',
  };
  engine = await openTrainingEngine({ ...options, log });
});
afterAll(async () => {
  await engine.close();
  await model.remove();
  await rm(scratch, { recursive: true });
});

/** Three optimiser steps, then the bytes of the adapter. */
async function train(session: TrainingSession, name: string): Promise<Buffer> {
  for (let step = 0; step < 3; step++) {
    await trainRow(session, row, crossEntropy);
    await session.optimStep(ADAMW);
  }
  const directory = join(scratch, name);
  await mkdir(directory);
  await session.save(directory, { resumable: false });
  await session.close();
  return readFile(join(directory, 'adapter_model.safetensors'));
}

const open = (on: TrainingEngine) => on.open(aSession({ lora: LORA }), never);

test('training in a child returns the same bytes as in this process, and reports when it is busy', async () => {
  const inProcess = await openOnnxTrainingEngine({
    modelDirectory: model.directory,
    threads: 1,
    memoryBytes: 4e9,
    rowLengthMax: 64,
    baseModelName: 'tiny',
    log: silentLog,
  });
  const expected = await train(await open(inProcess), 'in-process');
  await inProcess.close();

  expect(engine.limits.rowLengthMax).toBe(64);
  const session = await open(engine);
  expect(engine.status()).toMatchObject({ ready: true, busy: true });
  expect(await train(session, 'hosted')).toEqual(expected);
  expect(engine.status()).toMatchObject({ busy: false, restarts: 0 });
});

test('the child yields the CPU to the process that answers requests', () => {
  expect(getPriority(pidOf(log))).toBe(TRAINER_NICE);
});

test('after kill -9 the session fails with the cause, and a replay ends with the same bytes', async () => {
  const undisturbed = await train(await open(engine), 'undisturbed');
  const session = await open(engine);
  await trainRow(session, row, crossEntropy);
  const running = session.optimStep(ADAMW).then(() => trainRow(session, row, crossEntropy));
  process.kill(pidOf(log), 'SIGKILL');
  await expect(running).rejects.toMatchObject({
    code: 'engine_unavailable',
    message: expect.stringContaining('SIGKILL') as string,
    end: { how: 'was killed by SIGKILL', byOthers: process.platform === 'linux' }, // elsewhere it may have been killed for its memory
  });
  await expect(rowLogprobs(session, row)).rejects.toMatchObject({ code: 'engine_unavailable' });
  await session.close();
  expect(await train(await open(engine), 'replayed')).toEqual(undisturbed);
  expect(engine.status()).toMatchObject({ restarts: 1, lastFailure: 'was killed by SIGKILL' });
});

test('errors keep their code on the way out of the child', async () => {
  await expect(engine.open(aSession({ from: '/nonexistent', lora: LORA }), never)).rejects.toMatchObject({
    code: 'bad_model_files',
  });
  const session = await open(engine);
  await expect(rowLogprobs(session, plainRow(randomPrompt(65, 1), {}))).rejects.toMatchObject({
    code: 'invalid_request',
  });
  await session.close();
});

test('a cancelled open leaves the engine free', async () => {
  const controller = new AbortController();
  const opening = engine.open(aSession({ lora: LORA }), controller.signal);
  controller.abort();
  await expect(opening).rejects.toMatchObject({ code: 'cancelled' });
  const session = await open(engine);
  await session.close();
});

test('sampler and trainer agree on the logprobs of sampled tokens to 1e-4, also through a trained adapter', async () => {
  await train(await open(engine), 'trained');
  const adapter = { id: 'trained', directory: join(scratch, 'trained') };
  const sampler = await openInferenceEngine({
    modelDirectory: model.directory,
    threads: 1,
    limits: TEST_LIMITS,
    log: silentLog,
  });
  const promptTokens = randomPrompt(20, 9);
  const [events] = await collect(sampler, request({ promptTokens, adapter, sampling: sampling({ maxTokens: 40 }) }));
  await sampler.close();

  const session = await engine.open(aSession({ from: adapter.directory, lora: LORA }), never);
  const logprobs = await rowLogprobs(session, plainRow([...promptTokens, ...tokensOf(events!)], {}));
  await session.close();
  const trained = logprobs.slice(promptTokens.length - 1);
  events!.forEach((event, i) => expect(Math.abs(event.logprob - trained[i]!)).toBeLessThan(1e-4));
});
