// Invariant 5 of the architecture: the trainer computes the log-probability that the sampler reported for a token.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { PLAIN_SAMPLING } from '#domain/sampling';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { DEFAULT_INFERENCE_LIMITS } from '#engine/onnx/serving/inference-limits';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { PLAIN_REQUEST, type AdapterRef, type InferenceEngine, type TokenEvent } from '#engine/inference-engine';
import { aSession } from '../../support/learning/a-session.ts';
import { FAMILIES, openModelFixture } from '../../support/golden/fixture.ts';
import { sharedPromptRow } from '../../support/learning/packed-row.ts';
import { rowLogprobs, trainRow } from '../../support/learning/one-row.ts';

const CHOICES = 4;
const LIMITS = { ...DEFAULT_INFERENCE_LIMITS, prefillChunk: 16, cacheBytes: 32 * 2 ** 20 };
const ADAMW = { learningRate: 0.02, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 1 };
const signal = () => AbortSignal.timeout(30_000);

test.each(FAMILIES.flatMap((family) => [false, true].map((unembed) => ({ family, unembed }))))(
  '$family: sampled log-probabilities are those of the trainer, through three checkpoints (head adapted: $unembed)',
  async ({ family, unembed }) => {
    const { model: modelDirectory, expected } = await openModelFixture(family);
    const prompt = expected.sequences.forty;
    const scratch = await mkdtemp(join(tmpdir(), 'agreement-'));
    const trainer = await openOnnxTrainingEngine({ modelDirectory, threads: 1, memoryBytes: 4e9, log: silentLog });
    const sampler = await openOnnxInferenceEngine({ modelDirectory, threads: 1, limits: LIMITS, log: silentLog });
    const session = await trainer.open(aSession({ lora: { rank: 4, alpha: 16, seed: 5, unembed } }), signal());
    let first: number[] | null = null;
    for (let step = 0; step < 3; step++) {
      const adapter = { id: `step${step}`, directory: await mkdtemp(join(scratch, 'step-')) };
      await session.save(adapter.directory, { resumable: false });
      const choices = await sample(sampler, adapter, prompt);
      const row = sharedPromptRow(
        prompt,
        choices.map((events) => events.map(({ tokenId }) => tokenId)),
      );
      const sampled = choices.flat().map(({ logprob }) => logprob);
      const trained = await rowLogprobs(session, row);
      expect(trained.length).toBe(sampled.length);
      sampled.forEach((logprob, i) => expect(Math.abs(logprob - trained[i]!)).toBeLessThan(1e-4));

      if (step === 0) first = sampled;
      else expect(sampled).not.toEqual(first); // the adapter changed what is sampled
      await trainRow(session, row, { name: 'nll', perToken: { op: 'neg', x: { op: 'logprob' } }, metrics: {} });
      await session.optimStep(ADAMW);
    }
    await session.close();
    await Promise.all([trainer.close(), sampler.close()]);
    await rm(scratch, { recursive: true });
  },
);

async function sample(
  engine: InferenceEngine,
  adapter: AdapterRef,
  prompt: readonly number[],
): Promise<TokenEvent[][]> {
  const choices: TokenEvent[][] = Array.from({ length: CHOICES }, () => []);
  const stream = engine.generate(
    {
      ...PLAIN_REQUEST,
      requestId: adapter.id,
      promptTokens: prompt,
      adapter,
      sampling: { ...PLAIN_SAMPLING, seed: 1, maxTokens: 12 },
      n: CHOICES,
    },
    signal(),
  );
  for await (const event of stream) choices[event.choiceIndex]!.push(event);
  return choices;
}
