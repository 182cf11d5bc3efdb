// One LoRA step (forward, backward, AdamW) of our engine: rank 8 on all linear layers; a plain row, or a group.
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { trainingMemoryShare } from '#engine/onnx/machine-memory';
import type { LossProgram } from '#engine/loss-program';
import type { TrainingRow } from '#engine/training-engine';
import { createRandom } from '#base/random';
import { packRows, type Datum } from '#training/packing';

export interface TrainingTimes {
  readonly name: string;
  readonly stepMs: readonly number[];
}

export const BENCH_LOSS: LossProgram = {
  name: 'bench-cross-entropy',
  perToken: { op: 'neg', x: { op: 'logprob' } },
  metrics: {},
};
export const OPTIMIZER = {
  learningRate: 1e-4,
  beta1: 0.9,
  beta2: 0.99,
  epsilon: 1e-8,
  weightDecay: 0.1,
  maxGradNorm: 0.1,
};

/** A step over one row; `loss` reads the row's fields. */
export async function timeTraining(
  modelDirectory: string,
  row: TrainingRow,
  loss: LossProgram,
  steps: number,
  threads: number,
): Promise<TrainingTimes> {
  const engine = await openOnnxTrainingEngine({
    modelDirectory,
    threads,
    memoryBytes: trainingMemoryShare(1),
    log: silentLog,
  });
  const lora = { rank: 8, alpha: 16, seed: 1 };
  const session = await engine.open(
    { from: null, lora, resetOptimizer: false, headTokensMax: null },
    new AbortController().signal,
  );
  const stepMs: number[] = [];
  for (let step = 0; step < steps; step++) {
    const started = performance.now();
    await session.forwardBackward([row], loss);
    await session.optimStep(OPTIMIZER);
    stepMs.push(performance.now() - started);
  }
  await session.close();
  await engine.close();
  return { name: 'whetstone, float32', stepMs };
}

/** A group as a job packs it: every completion after one prompt, only completions trained. */
export function groupRow(size: number, prompt: number, completion: number, vocab: number): TrainingRow {
  const token = (i: number) => (i * 7919 + 11) % vocab;
  const context = Array.from({ length: prompt }, (_, i) => token(i));
  const data = Array.from({ length: size }, (_, k): Datum => {
    const trained = Uint8Array.from({ length: prompt + completion }, (_, i) => (i < prompt ? 0 : 1));
    const tokens = [...context, ...Array.from({ length: completion }, (_, i) => token(1000 * (k + 1) + i))];
    return {
      tokens: Int32Array.from(tokens),
      trained,
      logprobs: new Float32Array(tokens.length).fill(NaN),
      advantage: (2 * k) / (size - 1) - 1,
      weight: 1,
    };
  });
  const [packed] = packRows([data.map((datum) => [datum])], Infinity, createRandom(1));
  return packed!.row;
}

export function wholeRow(length: number, vocab: number): TrainingRow {
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
