// One LoRA step (forward, backward, AdamW) of our engine: rank 8 on all linear layers, every token of the row trained.
import { silentLog } from '#base/log';
import { createOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { LossProgram } from '#engine/loss-program';
import type { TrainingRow } from '#engine/training-engine';
import type { DecoderConfig } from '#engine/onnx/models/config';

export interface TrainingTimes {
  readonly name: string;
  readonly stepMs: readonly number[];
}

const CROSS_ENTROPY: LossProgram = {
  name: 'bench-cross-entropy',
  perToken: { op: 'neg', x: { op: 'logprob' } },
  metrics: {},
};
const OPTIMIZER = { learningRate: 1e-4, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.1, maxGradNorm: 0.1 };

export async function timeTraining(
  modelDirectory: string,
  config: DecoderConfig,
  tokens: number,
  steps: number,
  threads: number,
): Promise<TrainingTimes> {
  const engine = await createOnnxTrainingEngine({ modelDirectory, threads, log: silentLog });
  const session = await engine.open(
    { from: null, lora: { rank: 8, alpha: 16, seed: 1 } },
    new AbortController().signal,
  );
  const row = wholeRow(tokens, config.vocab);
  const stepMs: number[] = [];
  for (let step = 0; step < steps; step++) {
    const started = performance.now();
    await session.forwardBackward(row, CROSS_ENTROPY);
    await session.optimStep(OPTIMIZER);
    stepMs.push(performance.now() - started);
  }
  await session.close();
  await engine.close();
  return { name: 'whetstone, float32', stepMs };
}

function wholeRow(length: number, vocab: number): TrainingRow {
  const tokens = Int32Array.from({ length }, (_, i) => (i * 7919) % vocab);
  return {
    tokens,
    positions: Int32Array.from({ length }, (_, i) => i),
    segments: new Int32Array(length),
    parents: Int32Array.of(-1),
    predictFrom: Int32Array.from({ length: length - 1 }, (_, i) => i),
    targets: tokens.slice(1),
    sequenceIds: new Int32Array(length - 1),
    inputs: {},
  };
}
