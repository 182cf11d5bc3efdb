// 8-bit serving with the starter model: nearly the same answers, and still the same bits whoever shares the batch.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import type { InferenceEngine } from '#engine/inference-engine';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { readTextModel } from '#text/text-model';
import { bitsOf, collect, request, sampling, tokensOf } from '../contract/inference-engine.ts';
import { TEST_LIMITS } from './test-limits.ts';

const modelDirectory = fileURLToPath(new URL('../../models/starter', import.meta.url));
const text = await readTextModel(modelDirectory);
const open = (precision: 'float32' | 'int8') =>
  openOnnxInferenceEngine({ modelDirectory, precision, threads: 2, limits: TEST_LIMITS, log: silentLog });

let int8: InferenceEngine;
let float32: InferenceEngine;
beforeAll(async () => {
  [int8, float32] = [await open('int8'), await open('float32')];
});
afterAll(async () => {
  await int8.close();
  await float32.close();
});

const ask = (i: number, temperature: number) => {
  const messages = [{ role: 'user', content: `What is ${i % 50} + ${(i * 7) % 50}?` }];
  const promptTokens = text.tokenizer.encode(text.chatTemplate!.render({ messages, addGenerationPrompt: true }));
  return request({
    promptTokens,
    sampling: sampling({ seed: i, temperature, maxTokens: 6, stopTokenIds: text.eosTokenIds }),
  });
};

test('greedy answers are those of float32, with few exceptions', async () => {
  const asked = Array.from({ length: 100 }, (_, i) => ask(i, 0));
  const answers = async (engine: InferenceEngine) =>
    (await Promise.all(asked.map((one) => collect(engine, one)))).map(([events]) => tokensOf(events!).join());
  const [rounded, exact] = [await answers(int8), await answers(float32)];
  expect(rounded.filter((answer, i) => answer === exact[i]).length).toBeGreaterThanOrEqual(95);
});

test('logprobs show that the weights are rounded, and only a little', async () => {
  const [[a], [b]] = [await collect(int8, ask(3, 0)), await collect(float32, ask(3, 0))];
  const difference = Math.abs(a![0]!.logprob - b![0]!.logprob);
  expect(difference).toBeGreaterThan(0);
  expect(difference).toBeLessThan(0.2);
});

test.each([2, 9, 32])('a batch of %i gives the very bits of one by one', async (count) => {
  const asked = Array.from({ length: count }, (_, i) => ask(i, 1));
  const together = await Promise.all(asked.map((one) => collect(int8, one)));
  for (const [i, one] of asked.entries()) {
    expect(bitsOf(together[i]![0]!)).toEqual(bitsOf((await collect(int8, one))[0]!));
  }
});
