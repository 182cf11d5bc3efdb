// Activations recomputed for the backward pass are the same numbers: gradients do not depend on what was kept.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#base/log';
import { createRandom } from '#base/random';
import { weightedCrossEntropy } from '#engine/onnx/learning/full-training';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { activationsFor, rowBytes } from '#engine/onnx/learning/row-memory';
import { readDecoderConfig } from '#model-files/decoder-config';
import { FAMILIES, fixturePath, WITH_EXPERTS, type FamilyName } from '../../support/golden/fixture.ts';
import { aSession } from '../../support/learning/a-session.ts';
import { openGraph, TINY_LORA } from './run-graph.ts';
import { plainRow, randomRow, randomTokens } from '../../support/learning/tiny-decoders.ts';
import { trainRow } from '../../support/learning/one-row.ts';

const crossEntropy = { name: 'ce', perToken: { op: 'neg', x: { op: 'logprob' } }, metrics: {} } as const;
const OPTIMIZER = { learningRate: 1e-3, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 1 };
const row = randomRow(11, 3);

async function gradientsOf(family: FamilyName, lora: typeof TINY_LORA | null, activations: 'kept' | 'recomputed') {
  const graph = await openGraph(
    await readDecoderConfig(fixturePath(`${family}/model`)),
    lora,
    weightedCrossEntropy,
    activations,
  );
  const run = await graph.run([row]);
  await graph.close();
  return run;
}

test.each(FAMILIES)('%s: recomputed activations give the gradients of kept ones, bit for bit', async (family) => {
  for (const lora of WITH_EXPERTS.includes(family) ? [TINY_LORA] : [TINY_LORA, null]) {
    const kept = await gradientsOf(family, lora, 'kept');
    const recomputed = await gradientsOf(family, lora, 'recomputed');
    expect(recomputed.loss).toBe(kept.loss);
    for (const [name, gradient] of kept.gradients) {
      expect(recomputed.gradients.get(name)!, name).toEqual(gradient);
      if (!name.includes('embed'))
        expect(
          gradient.some((x) => x !== 0),
          name,
        ).toBe(true);
    }
  }
});

const TOKENS = 40;

/** What a trainer with so much memory saves after three steps. */
async function trainedBy(modelDirectory: string, vocab: number, memoryBytes: number): Promise<Buffer> {
  const engine = await openOnnxTrainingEngine({ modelDirectory, memoryBytes, threads: 2, log: silentLog });
  const session = await engine.open(aSession(), AbortSignal.timeout(60_000));
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-recomputed-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const rowOf = (tokens: number) => plainRow(randomTokens(tokens, createRandom(tokens), vocab), {});
  for (const row of [rowOf(TOKENS), rowOf(9), rowOf(TOKENS)]) {
    await trainRow(session, row, crossEntropy);
    await session.optimStep(OPTIMIZER);
  }
  await session.save(directory, { resumable: true });
  await session.close();
  await engine.close();
  const files = ['adapter_model.safetensors', 'optimizer.safetensors'];
  return Buffer.concat(await Promise.all(files.map((file) => readFile(join(directory, file)))));
}

test.each(FAMILIES)('%s: a trainer with little memory makes the bytes of one with much', async (family) => {
  const directory = fixturePath(`${family}/model`);
  const config = await readDecoderConfig(directory);
  const [little, much] = [rowBytes(config, 'recomputed', TOKENS) + 1, 2e9] as const;
  expect([little, much].map((bytes) => activationsFor(config, bytes, TOKENS))).toEqual(['recomputed', 'kept']);
  const [recomputed, kept] = [
    await trainedBy(directory, config.vocab, little),
    await trainedBy(directory, config.vocab, much),
  ];
  expect(recomputed.equals(kept)).toBe(true);
});
