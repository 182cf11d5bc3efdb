import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { SERVING_PRECISIONS } from '#engine/capabilities';
import type { AdapterRef, InferenceEngine, TokenEvent } from '#engine/inference-engine';
import type { InferenceLimits } from '#engine/onnx/serving/inference-limits';
import { onnxCapabilities } from '#engine/onnx/onnx-backend';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { cacheBytesPerToken } from '#engine/onnx/serving/kv-cache';
import {
  bitsOf,
  collect,
  collectLate,
  inferenceEngineContract,
  randomPrompt,
  request,
  sampling,
  tokensOf,
} from '../../support/contract/inference-engine.ts';
import { skipUnless } from '../../support/skipping.ts';
import { createRecordingLog } from '../../support/serving/recording-log.ts';
import { limitsOf, TEST_LIMITS } from '../../support/serving/test-limits.ts';
import { writeTinyModel, type TinyModel } from '../../support/serving/tiny-model.ts';

inferenceEngineContract('the embedded engine in this process', {
  capabilities: onnxCapabilities('float32'),
  open: ({ directory }, queue) => {
    const limits = limitsOf(queue);
    return openOnnxInferenceEngine({ modelDirectory: directory, threads: 2, limits, log: silentLog });
  },
});

test('a cache that is too small preempts, and a chunked prompt that lost its place starts over', async () => {
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

test('a payer that fills the batch makes room for another, and gets the same answer as alone', async () => {
  const model = await writeTinyModel('llama', 3);
  const log = createRecordingLog();
  const limits = { ...TEST_LIMITS, maxRunning: 8 };
  const engine = await openOnnxInferenceEngine({ modelDirectory: model.directory, threads: 1, limits, log });
  const ask = (payer: string, n: number, seed: number, maxTokens: number) =>
    request({ payer, n, promptTokens: randomPrompt(40, seed), sampling: sampling({ seed, maxTokens }) });
  const crowd = [1, 2, 3].map((seed) => ask('greedy', 8, seed, 120));
  const modest = ask('modest', 2, 9, 10);
  const alone: unknown[] = [];
  for (const one of [...crowd, modest]) alone.push((await collect(engine, one)).map(bitsOf));

  let ended = 0;
  const answers = crowd.map((one) => collect(engine, one).finally(() => ended++));
  while (engine.status().running < limits.maxRunning) await new Promise(setImmediate);
  const answer = await collect(engine, modest);
  expect(ended, 'requests that the other one had to wait for').toBe(0);
  const together = [...(await Promise.all(answers)), answer];
  await engine.close();
  await model.remove();
  expect(together.map((choices) => choices.map(bitsOf))).toEqual(alone);
  expect(log.lines.filter(({ event }) => event === 'sequence.preempted')).toHaveLength(2);
});

test('a stream that is not being read gives up its slots, and continues with the same bits when it is read', async () => {
  const model = await writeTinyModel('qwen3', 5, 1024);
  const log = createRecordingLog();
  const limits = { ...TEST_LIMITS, contextLength: 1024, maxRunning: 4, unreadMs: 1 };
  const engine = await openOnnxInferenceEngine({ modelDirectory: model.directory, threads: 1, limits, log });
  const long = request({ n: 4, sampling: sampling({ seed: 1, maxTokens: 400 }) });
  const short = request({ n: 4, sampling: sampling({ seed: 2, maxTokens: 5 }) });
  const alone = (await collect(engine, long)).map(bitsOf);

  // Of the same payer, whose request would wait for all of them.
  const late = await collectLate(engine, long, () => collect(engine, short));
  expect(log.lines.filter(({ event }) => event === 'sequence.preempted')).toHaveLength(4);
  expect(late.map(bitsOf)).toEqual(alone);
  await engine.close();
  await model.remove();
});

// Gemma 2 has windows, soft-caps and another activation.
test.each(['qwen3', 'gemma2'] as const)(
  '%s: sequences of all lengths decode together, with the bits that each has alone',
  async (family) => {
    const model = await writeTinyModel(family, 5, 1024);
    const adapter = await model.writeAdapter('one', { seed: 4 });
    const engine = await openOnnxInferenceEngine({
      modelDirectory: model.directory,
      threads: 2,
      limits: { ...TEST_LIMITS, contextLength: 1024, cacheBytes: 32_000 * cacheBytesPerToken(model.config) },
      log: silentLog,
    });
    // Five capacity classes, more than one call takes; meanwhile the first sequences grow from class to class.
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
  },
);

test('weights that overflow end the request with an error, and do not affect the next one', async () => {
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

describe.each(
  SERVING_PRECISIONS.flatMap((precision) =>
    (['float32', 'float16'] as const).map((kvCacheDtype) => ({ precision, kvCacheDtype })),
  ),
)('the embedded engine in $precision, cache in $kvCacheDtype', ({ precision, kvCacheDtype }) => {
  let model: TinyModel;
  let engine: InferenceEngine;
  let adapters: AdapterRef[];
  const open = (limits: InferenceLimits) =>
    openOnnxInferenceEngine({
      modelDirectory: model.directory,
      precision,
      kvCacheDtype,
      threads: 2,
      limits,
      log: silentLog,
    });

  beforeAll(async () => {
    model = await writeTinyModel();
    adapters = [
      await model.writeAdapter('first', { seed: 1, rank: 8 }),
      await model.writeAdapter('second', { seed: 2, rank: 3 }),
    ];
    engine = await open(TEST_LIMITS);
  });
  afterAll(async () => {
    await engine.close();
    await model.remove();
  });

  const isExact = precision === 'float32' && kvCacheDtype === 'float32';
  test(
    'chunked prefill returns the same as the whole prompt at once',
    skipUnless(isExact, 'rounded numbers depend on the order of sums, and so on the chunks of a prompt'),
    async () => {
      const whole = await open({ ...TEST_LIMITS, prefillChunk: 512 });
      const asked = request({
        promptTokens: randomPrompt(300, 4),
        adapter: adapters[0]!,
        sampling: sampling({ temperature: 0 }),
      });
      const [[chunked], [atOnce]] = await Promise.all([collect(engine, asked), collect(whole, asked)]);
      await whole.close();
      expect(tokensOf(chunked!)).toEqual(tokensOf(atOnce!));
      chunked!.forEach((event, i) => expect(Math.abs(event.logprob - atOnce![i]!.logprob)).toBeLessThan(1e-5));
    },
  );

  test('preempted sequences continue with the same bits', async () => {
    // Room for about two sequences of 256 tokens: eight that grow to 200 have to be preempted.
    const bytesPerToken = 2 * 2 * 16 * 2 * (kvCacheDtype === 'float32' ? 4 : 2);
    const tight = await open({ ...TEST_LIMITS, cacheBytes: bytesPerToken * 512 });
    const asked = Array.from({ length: 8 }, (_, i) =>
      request({ promptTokens: randomPrompt(50, i), n: 1 + (i % 3), sampling: sampling({ seed: i, maxTokens: 150 }) }),
    );
    const crowded = await Promise.all(asked.map((one) => collect(tight, one)));
    const calm = await Promise.all(asked.map((one) => collect(engine, one)));
    await tight.close();
    crowded.forEach((choices, i) => expect(choices.map(bitsOf)).toEqual(calm[i]!.map(bitsOf)));
  });

  test('the cache keeps a whole prompt, or its first chunks of 32', async () => {
    const prompt = randomPrompt(150, 21);
    const asked = (promptTokens: number[], cacheScope = 'fresh', adapter = adapters[0]!) =>
      request({ promptTokens, cacheScope, adapter, n: 2, sampling: sampling({ maxTokens: 20 }) });
    const cached = (choices: TokenEvent[][]) =>
      choices.flat().find(({ prompt: told }) => told)!.prompt!.cachedTokenCount;
    const first = await collect(engine, asked(prompt));
    const again = await collect(engine, asked(prompt));
    expect(again.map(bitsOf)).toEqual(first.map(bitsOf));
    expect([cached(first), cached(again)]).toEqual([0, 150]);

    const longer = [...prompt.slice(0, 140), ...randomPrompt(30, 22)];
    const behindPrefix = await collect(engine, asked(longer));
    const alone = await collect(engine, asked(longer, 'another'));
    expect(behindPrefix.map(bitsOf)).toEqual(alone.map(bitsOf));
    expect([cached(behindPrefix), cached(alone)]).toEqual([128, 0]); // whole chunks of 32
    expect(cached(await collect(engine, asked(prompt, 'fresh', adapters[1])))).toBe(0);
  });
});
