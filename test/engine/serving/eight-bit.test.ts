// 8-bit serving with the starter model: nearly the same answers, and bit-identical in any batch. And the whole engine contract,
// with the tiny model.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import type { ServingPrecision } from '#engine/capabilities';
import type { InferenceEngine } from '#engine/inference-engine';
import { onnxCapabilities } from '#engine/onnx/onnx-backend';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { readTextModel } from '#text/text-model';
import {
  bitsOf,
  collect,
  inferenceEngineContract,
  request,
  sampling,
  tokensOf,
} from '../../support/contract/inference-engine.ts';
import { limitsOf, TEST_LIMITS } from '../../support/serving/test-limits.ts';

const modelDirectory = fileURLToPath(new URL('../../../models/starter', import.meta.url));
const text = await readTextModel(modelDirectory);
const open = (precision: ServingPrecision, directory = modelDirectory, limits = TEST_LIMITS) =>
  openOnnxInferenceEngine({ modelDirectory: directory, precision, threads: 2, limits, log: silentLog });

const ask = (i: number, temperature: number) => {
  const messages = [{ role: 'user', content: `What is ${i % 50} + ${(i * 7) % 50}?` }];
  const promptTokens = text.tokenizer.encode(text.chatTemplate!.render({ messages, addGenerationPrompt: true }));
  return request({
    promptTokens,
    sampling: sampling({ seed: i, temperature, maxTokens: 6, stopTokenIds: text.eosTokenIds }),
  });
};

let float32: InferenceEngine;
beforeAll(async () => void (float32 = await open('float32')));
afterAll(() => float32.close());

describe.each(['int8', 'w8a8'] as const)('%s', (precision) => {
  inferenceEngineContract('the embedded engine', {
    capabilities: onnxCapabilities(precision),
    open: ({ directory }, queue) => open(precision, directory, limitsOf(queue)),
  });

  let engine: InferenceEngine;
  beforeAll(async () => void (engine = await open(precision)));
  afterAll(() => engine.close());

  test('greedy answers are those of float32, with few exceptions', async () => {
    const asked = Array.from({ length: 100 }, (_, i) => ask(i, 0));
    const answers = async (engine: InferenceEngine) =>
      (await Promise.all(asked.map((one) => collect(engine, one)))).map(([events]) => tokensOf(events!).join());
    const [rounded, exact] = [await answers(engine), await answers(float32)];
    expect(rounded.filter((answer, i) => answer === exact[i]).length).toBeGreaterThanOrEqual(95);
  });

  test('logprobs show that the weights are rounded, and only a little', async () => {
    const [[a], [b]] = [await collect(engine, ask(3, 0)), await collect(float32, ask(3, 0))];
    const difference = Math.abs(a![0]!.logprob - b![0]!.logprob);
    expect(difference).toBeGreaterThan(0);
    expect(difference).toBeLessThan(0.2);
  });

  test.each([2, 9, 32])('a batch of %i returns the same bits as one by one', async (count) => {
    const asked = Array.from({ length: count }, (_, i) => ask(i, 1));
    const together = await Promise.all(asked.map((one) => collect(engine, one)));
    for (const [i, one] of asked.entries()) {
      expect(bitsOf(together[i]![0]!)).toEqual(bitsOf((await collect(engine, one))[0]!));
    }
  });
});
