// The sampler that serves, including adapter loading, compared with Transformers and PEFT: greedy tokens after prompts of several
// lengths, in one batch with and without the adapter, and their log-probabilities.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PLAIN_SAMPLING } from '#domain/sampling';
import { silentLog } from '#base/log';
import { PLAIN_REQUEST, type AdapterRef, type InferenceEngine, type TokenEvent } from '#engine/inference-engine';
import { DEFAULT_INFERENCE_LIMITS } from '#engine/onnx/serving/inference-limits';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { FAMILIES, openModelFixture, readFixture, SEQUENCES, type ModelFixture } from '../../support/golden/fixture.ts';

const TOP = 8;
const GREEDY_ONE_TOKEN = {
  ...PLAIN_SAMPLING,
  temperature: 0,
  maxTokens: 1,
  topLogprobs: TOP,
};

describe.each(FAMILIES)('%s', (family) => {
  let fixture: ModelFixture;
  let engine: InferenceEngine;
  let vocab: number;
  beforeAll(async () => {
    fixture = await openModelFixture(family);
    vocab = readFixture<{ vocab_size: number }>(`${family}/model/config.json`).vocab_size;
    const limits = { ...DEFAULT_INFERENCE_LIMITS, cacheBytes: 2 ** 24, prefillChunk: 16 }; // 40 tokens: three chunks
    engine = await openOnnxInferenceEngine({ modelDirectory: fixture.model, threads: 1, limits, log: silentLog });
  });
  afterAll(() => engine.close());

  test('the most likely next tokens and their log-probabilities are those of Transformers and PEFT', async () => {
    const peft: AdapterRef = { id: 'peft', directory: fixture.adapter };
    const cases = SEQUENCES.flatMap((name) =>
      ([null, peft] as const).map((adapter) => ({
        name,
        adapter,
        key: `${adapter ? 'adapter' : 'base'}.logits.${name}`,
      })),
    );
    const events = await Promise.all(cases.map(({ name, adapter }) => nextToken(name, adapter)));
    events.forEach(({ tokenId, logprob, topLogprobs }, i) => {
      const { key } = cases[i]!;
      const expected = lastLogprobs(fixture.tensors.get(key)!, vocab);
      const best = [...expected.keys()].sort((a, b) => expected[b]! - expected[a]!).slice(0, TOP);
      expect(tokenId, key).toBe(best[0]);
      expect(
        topLogprobs.map((top) => top.tokenId),
        key,
      ).toEqual(best);
      for (const found of [{ tokenId, logprob }, ...topLogprobs]) {
        const distance = Math.abs(found.logprob - expected[found.tokenId]!);
        expect(distance, `${key}, token ${found.tokenId}`).toBeLessThan(fixture.expected.tolerance.logprobs);
      }
    });
  });

  async function nextToken(name: (typeof SEQUENCES)[number], adapter: AdapterRef | null): Promise<TokenEvent> {
    const promptTokens = fixture.expected.sequences[name];
    const requestId = `${name}-${adapter?.id ?? 'base'}`;
    const request = { ...PLAIN_REQUEST, requestId, promptTokens, adapter, sampling: GREEDY_ONE_TOKEN, n: 1 };
    const events: TokenEvent[] = [];
    for await (const event of engine.generate(request, AbortSignal.timeout(30_000))) events.push(event);
    expect(events).toHaveLength(1);
    return events[0]!;
  }
});

/** Log-softmax of the last row of `[seq, vocab]`, in double precision. */
function lastLogprobs(logits: Float32Array, vocab: number): number[] {
  const row = [...logits.subarray(-vocab)];
  const largest = Math.max(...row);
  const logSumExp = largest + Math.log(row.reduce((sum, x) => sum + Math.exp(x - largest), 0));
  return row.map((x) => x - logSumExp);
}
