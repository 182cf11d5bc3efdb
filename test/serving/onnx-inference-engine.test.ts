import { expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { cacheBytesPerToken } from '#engine/onnx/serving/kv-cache';
import {
  bitsOf,
  collect,
  inferenceEngineContract,
  randomPrompt,
  request,
  sampling,
  TEST_LIMITS,
} from '../contract/inference-engine.ts';
import { createRecordingLog } from './recording-log.ts';
import { writeTinyModel } from './tiny-model.ts';

inferenceEngineContract('the embedded engine in this process', ({ directory }, limits) =>
  openOnnxInferenceEngine({ modelDirectory: directory, threads: 2, limits, log: silentLog }),
);

test('a cache that is too small preempts, and a chunked prompt that lost its place begins anew', async () => {
  const model = await writeTinyModel('llama', 3);
  const log = createRecordingLog();
  const bytesPerToken = cacheBytesPerToken(model.config);
  const limits = { ...TEST_LIMITS, cacheBytes: 512 * bytesPerToken, prefillTokensPerDecode: 32 };
  const engine = await openOnnxInferenceEngine({ modelDirectory: model.directory, threads: 1, limits, log });
  const grower = request({ promptTokens: randomPrompt(60, 1), sampling: sampling({ maxTokens: 100 }) });
  const long = request({ promptTokens: randomPrompt(250, 2), sampling: sampling({ maxTokens: 20 }) });
  const alone: unknown[] = [];
  for (const one of [grower, long]) alone.push((await collect(engine, one)).map(bitsOf));
  expect(log.lines).toEqual([]);
  const crowd = [grower, grower, grower, long, long];
  const answers = await Promise.all(crowd.map((one) => collect(engine, one)));
  await engine.close();
  await model.remove();
  answers.forEach((choices, i) => expect(choices.map(bitsOf)).toEqual(alone[i < 3 ? 0 : 1]));
  expect(log.lines.some(({ event }) => event === 'sequence.preempted')).toBe(true);
});

test('sequences of all lengths decode together, with the bits that each has alone', async () => {
  const model = await writeTinyModel('qwen3', 5, 1024);
  const adapter = await model.writeAdapter('one', { seed: 4 });
  const engine = await openOnnxInferenceEngine({
    modelDirectory: model.directory,
    threads: 2,
    limits: { ...TEST_LIMITS, contextLength: 1024, cacheBytes: 32_000 * cacheBytesPerToken(model.config) },
    log: silentLog,
  });
  // Five capacity classes, which is more than one call takes; the first sequences grow from class to class meanwhile.
  const asked = [10, 55, 120, 200, 250, 400, 800, 30].map((length, i) =>
    request({
      promptTokens: randomPrompt(length, i),
      n: 1 + (i % 2),
      adapter: i % 3 === 0 ? adapter : null,
      sampling: sampling({ seed: i, maxTokens: 80 }),
    }),
  );
  const alone: unknown[] = [];
  for (const one of asked) alone.push((await collect(engine, one)).map(bitsOf));
  const together = await Promise.all(asked.map((one) => collect(engine, one)));
  await engine.close();
  await model.remove();
  expect(together.map((choices) => choices.map(bitsOf))).toEqual(alone);
});

test('weights that overflow end the request with an error, and leave nothing behind for the next one', async () => {
  const model = await writeTinyModel();
  const poison = await model.writeAdapter('poison', { seed: 1, scale: 1e38 });
  const engine = await openOnnxInferenceEngine({
    modelDirectory: model.directory,
    threads: 1,
    limits: TEST_LIMITS,
    log: silentLog,
  });
  const clean = request({ n: 3, sampling: sampling({ maxTokens: 40 }) });
  const before = (await collect(engine, clean)).map(bitsOf);
  const [together, poisoned] = await Promise.allSettled([
    collect(engine, clean),
    collect(engine, request({ n: 3, adapter: poison })),
  ]);
  expect(poisoned).toMatchObject({ status: 'rejected', reason: { code: 'engine_failed' } });
  expect(together.status === 'fulfilled' && together.value.map(bitsOf)).toEqual(before);
  expect((await collect(engine, clean)).map(bitsOf)).toEqual(before);
  expect(engine.status()).toMatchObject({ running: 0, waiting: 0 });
  await engine.close();
  await model.remove();
});
