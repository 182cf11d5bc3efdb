// Keys and values in float16: the whole engine contract, nearly the same answers, and no infinity for a number that is too large.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { silentLog } from '#base/log';
import type { KVCacheDtype } from '#engine/capabilities';
import { onnxCapabilities } from '#engine/onnx/onnx-backend';
import { fuseAdapters } from '#engine/onnx/serving/fused-adapters';
import { openModelRunner } from '#engine/onnx/serving/model-runner';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { decoderParameters } from '#model-files/decoder-parameters';
import { openSafetensors, writeSafetensors } from '#model-files/safetensors';
import { readTextModel } from '#text/text-model';
import {
  collect,
  inferenceEngineContract,
  randomPrompt,
  request,
  sampling,
  tokensOf,
} from '../../support/contract/inference-engine.ts';
import { limitsOf, TEST_LIMITS } from '../../support/serving/test-limits.ts';
import { writeTinyModel, type TinyModel } from '../../support/serving/tiny-model.ts';

const starter = fileURLToPath(new URL('../../../models/starter', import.meta.url));
const open = (kvCacheDtype: KVCacheDtype, modelDirectory = starter, limits = TEST_LIMITS) =>
  openOnnxInferenceEngine({ modelDirectory, kvCacheDtype, threads: 2, limits, log: silentLog });

inferenceEngineContract('the embedded engine with a cache in 16 bits', {
  capabilities: onnxCapabilities('float32', 'float16'),
  open: ({ directory }, queue) => open('float16', directory, limitsOf(queue)),
});

test('jobs measure how far the trainer is from a sampler whose keys and values are rounded', () => {
  expect(onnxCapabilities('float32', 'float32').exactLogprobs).toBe(true);
  expect(onnxCapabilities('float32', 'float16')).toMatchObject({ exactLogprobs: false, exactReplay: true });
});

test('answers are those of float32 with few exceptions, and their logprobs show the rounding, and only a little', async () => {
  const text = await readTextModel(starter);
  const asked = Array.from({ length: 50 }, (_, i) => {
    const messages = [{ role: 'user', content: `What is ${i} + ${(i * 7) % 50}?` }];
    const promptTokens = text.tokenizer.encode(text.chatTemplate!.render({ messages, addGenerationPrompt: true }));
    return request({
      promptTokens,
      sampling: sampling({ temperature: 0, maxTokens: 6, stopTokenIds: text.eosTokenIds }),
    });
  });
  const answers = async (dtype: KVCacheDtype) => {
    const engine = await open(dtype);
    const events = (await Promise.all(asked.map((one) => collect(engine, one)))).map(([choice]) => choice!);
    await engine.close();
    return events;
  };
  const [exact, rounded] = [await answers('float32'), await answers('float16')];
  const same = asked.filter((_, i) => tokensOf(rounded[i]!).join() === tokensOf(exact[i]!).join());
  expect(same.length).toBeGreaterThanOrEqual(48);
  const gaps = asked.map((_, i) => Math.abs(rounded[i]![0]!.logprob - exact[i]![0]!.logprob));
  expect(Math.max(...gaps)).toBeGreaterThan(0);
  expect(Math.max(...gaps)).toBeLessThan(0.05);
});

/** All logprobs of a prompt's tokens, with the second half read after the first. */
async function halves(model: TinyModel, dtype: KVCacheDtype, prefillChunk: number): Promise<number[]> {
  const engine = await open(dtype, model.directory, { ...TEST_LIMITS, prefillChunk });
  const asked = request({
    promptTokens: randomPrompt(128, 4),
    sampling: sampling({ promptLogprobs: 0, maxTokens: 1 }),
  });
  const [events] = await collect(engine, asked);
  await engine.close();
  return events![0]!.prompt!.logprobs!.slice(1).map((ranked) => ranked![0]!.logprob);
}
const farthest = (a: readonly number[], b: readonly number[]) => Math.max(...a.map((x, i) => Math.abs(x - b[i]!)));

test('a token reads its own chunk with the same rounding as later tokens', async () => {
  const model = await writeTinyModel('llama');
  const [whole, chunks] = [await halves(model, 'float16', 128), await halves(model, 'float16', 64)];
  const exact = await halves(model, 'float32', 128);
  await model.remove();
  const byRounding = farthest(whole, exact);
  expect(byRounding).toBeGreaterThan(1e-5);
  expect(farthest(whole, chunks)).toBeLessThan(byRounding / 5);
  expect(farthest(whole.slice(0, 20), exact.slice(0, 20))).toBeGreaterThan(1e-5); // also in the first chunk, which has no cache yet
});

test('values that float16 does not have become its largest, and the answer stays a number', async () => {
  const model = await writeTinyModel('llama');
  const path = join(model.directory, 'model.safetensors');
  const source = await openSafetensors(path);
  const factorOf = (name: string) => (name.includes('v_proj') ? 1e6 : name.includes('o_proj') ? 1e-6 : 1);
  const tensors = [];
  for (const { name, shape } of decoderParameters(model.config))
    tensors.push({
      name,
      shape,
      dtype: 'F32' as const,
      data: (await source.read(name)).map((x) => x * factorOf(name)),
    });
  await source.close();
  await writeSafetensors(path, tensors);
  const options = {
    modelDirectory: model.directory,
    threads: 1,
    precision: 'float32',
    contextLength: 64,
    weights: {},
  } as const;
  const runner = await openModelRunner({ ...options, kvCacheDtype: 'float16' });
  const input = { tokens: randomPrompt(20, 1), start: 0, past: null, adapterId: null, allLogits: true };
  const { computed, logits } = await runner.prefill(input, fuseAdapters(runner.config, []));
  const sizes = (computed.data as Uint16Array).map((bits) => bits & 0x7fff);
  expect(sizes.reduce((largest, size) => Math.max(largest, size), 0)).toBe(0x7bff); // 65,504; infinity would be 0x7c00
  expect(logits.every(Number.isFinite)).toBe(true);
  await runner.close();
  await model.remove();
});
