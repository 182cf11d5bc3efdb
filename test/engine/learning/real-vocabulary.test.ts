// Log-probabilities over a vocabulary of 152k entries, like Qwen's: float32 errors show in sums of so many terms.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { createRandom } from '#base/random';
import { PLAIN_SAMPLING } from '#domain/sampling';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { parseDecoderConfig } from '#model-files/decoder-config';
import { decoderParameters } from '#model-files/decoder-parameters';
import { DEFAULT_INFERENCE_LIMITS } from '#engine/onnx/serving/inference-limits';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { writeSafetensors } from '#model-files/safetensors';
import { PLAIN_REQUEST, type TokenEvent } from '#engine/inference-engine';
import { aSession } from '../../support/learning/a-session.ts';
import { sharedPromptRow } from '../../support/learning/packed-row.ts';
import { rowLogprobs } from '../../support/learning/one-row.ts';

const CONFIG = {
  model_type: 'qwen3',
  vocab_size: 151_936,
  hidden_size: 16,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 8,
  intermediate_size: 16,
  max_position_embeddings: 128,
  tie_word_embeddings: true,
};
const PROMPT = [3, 141_592, 65_358, 97_932];
const signal = () => AbortSignal.timeout(60_000);

let modelDirectory: string;
let sampled: TokenEvent[];

beforeAll(async () => {
  modelDirectory = await writeModel();
  const limits = { ...DEFAULT_INFERENCE_LIMITS, cacheBytes: 2 ** 20 };
  const sampler = await openOnnxInferenceEngine({ modelDirectory, threads: 1, limits, log: silentLog });
  const sampling = { ...PLAIN_SAMPLING, seed: 1, maxTokens: 4, topLogprobs: -1 };
  const request = { ...PLAIN_REQUEST, requestId: 'whole', promptTokens: PROMPT, adapter: null, sampling, n: 1 };
  sampled = [];
  for await (const event of sampler.generate(request, signal())) sampled.push(event);
  await sampler.close();
}, 60_000);
afterAll(() => rm(modelDirectory, { recursive: true, force: true }));

test('the sampler’s probabilities of all tokens add up to 1', () => {
  for (const { topLogprobs } of sampled) {
    expect(topLogprobs.length).toBe(CONFIG.vocab_size);
    const sum = topLogprobs.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0);
    expect(Math.abs(Math.log(sum))).toBeLessThan(1e-5);
  }
});

test('the trainer computes the sampler’s log-probabilities', async () => {
  const trainer = await openOnnxTrainingEngine({ modelDirectory, threads: 1, memoryBytes: 4e9, log: silentLog });
  const session = await trainer.open(aSession({ lora: { rank: 1, alpha: 1, seed: 1 } }), signal());
  const trained = await rowLogprobs(session, sharedPromptRow(PROMPT, [sampled.map(({ tokenId }) => tokenId)]));
  expect(trained.length).toBe(4);
  sampled.forEach(({ logprob }, i) => expect(Math.abs(logprob - trained[i]!)).toBeLessThan(1e-5));
  await session.close();
  await trainer.close();
}, 60_000);

/** Random weights; the embedding gives logits with a deviation of about 3. */
async function writeModel(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-vocabulary-'));
  const random = createRandom(1);
  const tensors = decoderParameters(parseDecoderConfig(CONFIG)).map(({ name, shape }) => ({
    name,
    shape,
    dtype: 'F32' as const,
    data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () =>
      name.includes('norm') ? 1 : (random.next() - 0.5) * 2.6,
    ),
  }));
  await writeFile(join(directory, 'config.json'), JSON.stringify(CONFIG));
  await writeSafetensors(join(directory, 'model.safetensors'), tensors);
  return directory;
}
