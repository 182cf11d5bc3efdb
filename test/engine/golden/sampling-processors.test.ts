// Penalties, biases, bad words, minimum lengths, min_p, top_k and top_p do to the same logits what Transformers' processors do;
// and greedy generation, plain and with processors, returns the tokens and log-probabilities of its `generate`.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { PLAIN_SAMPLING, type SamplingParams } from '#domain/sampling';
import { PLAIN_REQUEST, type InferenceEngine, type TokenEvent } from '#engine/inference-engine';
import { DEFAULT_INFERENCE_LIMITS } from '#engine/onnx/serving/inference-limits';
import { createLogitsProcessors } from '#engine/onnx/serving/logits-processors';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { pickCandidates } from '#engine/onnx/serving/sampler';
import { FAMILIES, fixturePath, readFixture, type FamilyName } from '../../support/golden/fixture.ts';

interface Expected {
  readonly tolerance: { readonly processors: number; readonly probabilities: number; readonly logprobs: number };
  readonly logits: readonly number[];
  readonly prompt: readonly number[];
  readonly completion: readonly number[];
  readonly processors: Readonly<Record<string, { params: Partial<SamplingParams>; logits: (number | null)[] }>>;
  readonly warpers: Readonly<Record<string, { params: Partial<SamplingParams>; probabilities: number[] }>>;
  readonly generate: Readonly<
    Record<FamilyName, { prompt: number[]; params: Partial<SamplingParams>; tokens: number[]; logprobs: number[] }[]>
  >;
}

const expected = readFixture<Expected>('sampling.json');
const paramsOf = (overrides: Partial<SamplingParams>): SamplingParams => ({
  ...PLAIN_SAMPLING,
  maxTokens: 24,
  ...overrides,
});

test.each(Object.keys(expected.processors))('%s returns the logits of Transformers', (name) => {
  const { params, logits } = expected.processors[name]!;
  const shaped = Float32Array.from(expected.logits);
  const sequence = { tokens: [...expected.prompt, ...expected.completion], promptTokenCount: expected.prompt.length };
  for (const process of createLogitsProcessors(paramsOf(params))) process(shaped, sequence);
  shaped.forEach((logit, id) => {
    const wanted = logits[id] ?? -Infinity;
    if (wanted === -Infinity) expect(logit, `token ${id}`).toBe(-Infinity);
    else
      expect(Math.abs(logit - wanted), `token ${id}`).toBeLessThanOrEqual(
        expected.tolerance.processors * Math.max(1, Math.abs(wanted)),
      );
  });
});

test.each(Object.keys(expected.warpers))('%s draws with the probabilities of Transformers', (name) => {
  const { params, probabilities } = expected.warpers[name]!;
  const logits = Float32Array.from(expected.logits);
  const { temperature, ...rest } = paramsOf(params);
  const row = { logits, logsumexp: 0, blocks: null };
  const largest = logits.indexOf(Math.max(...logits));
  const { cut, lastId, best } = pickCandidates(row, largest, { temperature, ...rest }, temperature);
  const weights = Array.from(logits, (logit, id) =>
    logit > cut || (logit === cut && id <= lastId) ? Math.exp((logit - best) / temperature) : 0,
  );
  const total = weights.reduce((a, b) => a + b);
  weights.forEach((weight, id) => {
    expect(Math.abs(weight / total - probabilities[id]!), `token ${id}`).toBeLessThan(expected.tolerance.probabilities);
  });
});

describe.each(FAMILIES)('%s', (family) => {
  let engine: InferenceEngine;
  beforeAll(async () => {
    const limits = { ...DEFAULT_INFERENCE_LIMITS, prefillChunk: 16, cacheBytes: 32 * 2 ** 20 };
    engine = await openOnnxInferenceEngine({
      modelDirectory: fixturePath(`${family}/model`),
      threads: 1,
      limits,
      log: silentLog,
    });
  });
  afterAll(() => engine.close());

  test.each([0, 1, 2, 3])('greedy generation %i is that of Transformers', async (run) => {
    const { prompt, params, tokens, logprobs } = expected.generate[family][run]!;
    const sampling = paramsOf({ temperature: 0, stopTokenIds: params.endTokenIds ?? [], ...params });
    const request = { ...PLAIN_REQUEST, requestId: 'golden', promptTokens: prompt, adapter: null, n: 1, sampling };
    const events: TokenEvent[] = [];
    for await (const event of engine.generate(request, AbortSignal.timeout(30_000))) events.push(event);
    expect(events.map(({ tokenId }) => tokenId)).toEqual(tokens);
    events.forEach(({ logprob }, i) => {
      expect(Math.abs(logprob - logprobs[i]!)).toBeLessThan(expected.tolerance.logprobs);
    });
  });
});
