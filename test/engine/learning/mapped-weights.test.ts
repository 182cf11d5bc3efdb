// Engines of large models map their weights from a file, those of small ones hold them in memory: the numbers are the same.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import type { WeightsPlace } from '#engine/onnx/weights/weights';
import { bitsOf, collect, randomPrompt, request } from '../../support/contract/inference-engine.ts';
import { TEST_LIMITS } from '../../support/serving/test-limits.ts';
import { writeTinyModel } from '../../support/serving/tiny-model.ts';
import { aSession } from '../../support/learning/a-session.ts';
import { plainRow } from '../../support/learning/tiny-decoders.ts';
import { trainRow } from '../../support/learning/one-row.ts';

async function openModel(family: 'qwen3' | 'llama' | 'gemma2') {
  const model = await writeTinyModel(family);
  const directory = await mkdtemp(join(tmpdir(), 'mapped-weights-'));
  onTestFinished(async () => {
    await model.remove();
    await rm(directory, { recursive: true });
  });
  const places: readonly WeightsPlace[] = [{ inMemoryBytesMax: Infinity }, { inMemoryBytesMax: 0, directory }];
  return { modelDirectory: model.directory, directory, places };
}

test.each([
  ['qwen3', 'float32'],
  ['qwen3', 'int8'],
  ['qwen3', 'w8a8'],
  ['llama', 'float32'],
  ['llama', 'int8'],
  ['gemma2', 'float32'],
] as const)('%s in %s samples the same bits', async (family, precision) => {
  const { modelDirectory, places } = await openModel(family);
  const answers = [];
  for (const weights of places) {
    const engine = await openOnnxInferenceEngine({
      modelDirectory,
      precision,
      threads: 2,
      limits: TEST_LIMITS,
      weights,
      log: silentLog,
    });
    const [choice] = await collect(engine, request({ promptTokens: randomPrompt(20, 3) }));
    answers.push(bitsOf(choice!));
    await engine.close();
  }
  expect(answers[1]).toEqual(answers[0]);
});

test.each([
  ['qwen3', 'float32'],
  ['llama', 'float32'],
  ['gemma2', 'float32'],
  ['qwen3', 'int8'],
  ['llama', 'int8'],
] as const)('an adapter of %s over %s is trained to the same bytes', async (family, precision) => {
  const { modelDirectory, directory, places } = await openModel(family);
  const row = plainRow(randomPrompt(40, 1), {});
  const loss = { name: 'likelihood', perToken: { op: 'neg', x: { op: 'logprob' } }, metrics: {} } as const;
  const optimizer = { learningRate: 0.01, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 1 };
  const saved = [];
  for (const [i, weights] of places.entries()) {
    const engine = await openOnnxTrainingEngine({
      modelDirectory,
      precision,
      threads: 1,
      memoryBytes: 4e9,
      weights,
      log: silentLog,
    });
    const session = await engine.open(aSession({ lora: { rank: 4, alpha: 8, seed: 3 } }), AbortSignal.timeout(60_000));
    for (let step = 0; step < 2; step++) {
      await trainRow(session, row, loss);
      await session.optimStep(optimizer);
    }
    const adapter = await mkdtemp(join(directory, `adapter-${i}-`));
    await session.save(adapter, { resumable: false });
    saved.push(await readFile(join(adapter, 'adapter_model.safetensors')));
    await session.close();
    await engine.close();
  }
  expect(saved[1]!.equals(saved[0]!)).toBe(true);
});
