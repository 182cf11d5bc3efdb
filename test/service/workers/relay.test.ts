// A worker whose engine is a separate process, as with `whetstone workers run`: the worker forwards its output unparsed, and
// clients must not notice.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { INFERENCE_TIMINGS, openInferenceEngine } from '#engine/onnx/open-engines';
import type { InferenceEngine } from '#engine/inference-engine';
import { bitsOf, collect, request, sampling } from '../../support/contract/inference-engine.ts';
import { createRecordingLog, pidOf } from '../../support/serving/recording-log.ts';
import { TEST_LIMITS } from '../../support/serving/test-limits.ts';
import { writeTinyModel, type TinyModel } from '../../support/serving/tiny-model.ts';
import { openWorkerLab, type WorkerLab } from '../../support/workers/worker-lab.ts';

/** A guard against hanging. */
const SOON = { timeout: 60_000 };
const signal = () => AbortSignal.timeout(SOON.timeout);
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let model: TinyModel;
let engine: InferenceEngine;
let lab: WorkerLab;
const log = createRecordingLog();

beforeAll(async () => {
  model = await writeTinyModel();
  const options = { modelDirectory: model.directory, threads: 1, limits: TEST_LIMITS, timings: INFERENCE_TIMINGS, log };
  engine = await openInferenceEngine(options);
  lab = await openWorkerLab(model.directory);
  await lab.connect({ inference: engine, training: null });
});
afterAll(async () => {
  await lab.close();
  await engine.close();
  await model.remove();
});

const long = () => request({ sampling: sampling({ maxTokens: 400 }) });

test('every number arrives as the engine computed it', async () => {
  const asked = request({ n: 3, sampling: sampling({ maxTokens: 30, topLogprobs: 2, promptLogprobs: 1 }) });
  const choices = await collect(lab.inference, asked);
  expect(choices).toHaveLength(3);
  expect(choices.map(bitsOf)).toEqual((await collect(engine, asked)).map(bitsOf));
});

test('many concurrent streams are told apart', async () => {
  const each = Array.from({ length: 12 }, (_, seed) => request({ sampling: sampling({ seed, maxTokens: 40 }) }));
  const together = await Promise.all(each.map((asked) => collect(lab.inference, asked)));
  for (const [i, asked] of each.entries()) {
    expect(together[i]!.map(bitsOf)).toEqual((await collect(engine, asked)).map(bitsOf));
  }
});

test('a connection that breaks between tokens changes none of them', async () => {
  const expected = (await collect(engine, long())).flat().map(({ tokenId }) => tokenId);
  const tokens: number[] = [];
  for await (const { tokenId } of lab.inference.generate(long(), signal())) {
    tokens.push(tokenId);
    if (tokens.length === 3) lab.breakConnections();
  }
  expect(tokens).toEqual(expected);
});

test('a client that leaves frees its slot', async () => {
  for await (const _ of lab.inference.generate(long(), signal())) break;
  await vi.waitFor(() => expect(engine.status()).toMatchObject({ running: 0, waiting: 0 }), SOON);
  expect(await collect(lab.inference, request())).toHaveLength(1);
});

test('a killed engine ends its streams at once with the cause, and is back for the next request', async () => {
  const killed = async () => {
    for await (const _ of lab.inference.generate(long(), signal())) process.kill(pidOf(log), 'SIGKILL');
  };
  await expect(killed()).rejects.toMatchObject({
    code: 'engine_unavailable',
    message: expect.stringContaining('was killed by SIGKILL') as string,
  });
  expect(lab.workers.list()).toMatchObject([{ state: 'connected' }]);
  expect(await collect(lab.inference, request())).toHaveLength(1);
});
