// Training of every weight of a decoder, from random numbers to a Hugging Face directory: how the starter model is made.
// In-process and for scripts; jobs train adapters through onnx-training-engine.ts.
import { copyFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createRandom, type Random } from '#base/random';
import { AppError } from '#domain/errors';
import { readDecoderConfig, type DecoderConfig } from '#model-files/decoder-config';
import { checkParameters, decoderParameters } from '#model-files/decoder-parameters';
import { openSafetensors, writeSafetensors, type StoredDtype } from '#model-files/safetensors';
import type { LossProgram } from '../../loss-program.ts';
import type { ForwardBackwardResult, OptimizerParams, TrainingRow } from '../../training-engine.ts';
import { applyAdamw, clipCoefficient, createAdamwState, globalNorm } from './adamw.ts';
import { fusedParameters, sizeOf } from '../weights/fused-parameters.ts';
import { allocateFusedWeights, type FusedWeights } from './fused-weights.ts';
import { createGradientSums } from './gradient-sums.ts';
import { findOptimizerFile, writeOptimizerFile } from './optimizer-file.ts';
import { headChunk, lossFeeds, rowFeeds, trainedCount, type Feeds } from './train-feeds.ts';
import { createTrainingGraphRunner } from './training-graph-runner.ts';

export interface FullTrainingOptions {
  /** Contains config.json; with `resume` also what `save` and `saveOptimizer` wrote. */
  readonly directory: string;
  readonly seed: number;
  readonly threads: number;
  readonly resume?: boolean;
}

export interface FullTrainingSession {
  readonly config: DecoderConfig;
  readonly parameterCount: number;
  /** Adds the gradients of one batch to those not yet applied. Rows of equal length need no padding. */
  forwardBackward(rows: readonly TrainingRow[], loss: LossProgram): Promise<ForwardBackwardResult>;
  /** Log-probabilities of the targets of all rows, row by row. */
  logprobs(rows: readonly TrainingRow[]): Promise<Float32Array>;
  /** AdamW. Weight decay applies to matrices only: norms and biases are not pulled to zero. */
  optimStep(params: OptimizerParams): Promise<{ gradNorm: number }>;
  /** Writes config.json and model.safetensors into an existing directory. */
  save(directory: string, dtype: StoredDtype): Promise<void>;
  saveOptimizer(directory: string): Promise<void>;
  close(): Promise<void>;
}

/** Σ weight · cross-entropy: the mean if the weights of the batch add up to 1 (normalizeWeights). */
export const weightedCrossEntropy: LossProgram = {
  name: 'weighted-cross-entropy',
  perToken: { op: 'neg', x: { op: 'mul', x: { op: 'logprob' }, y: { op: 'input', name: 'weights' } } },
  denominator: 'one',
  metrics: {},
};

/** Scales `inputs.weights` of all rows together so that they add up to 1. */
export function normalizeWeights(rows: readonly TrainingRow[]): TrainingRow[] {
  let total = 0;
  for (const { inputs } of rows) for (const weight of inputs['weights']!) total += weight;
  return rows.map((row) => ({
    ...row,
    inputs: { ...row.inputs, weights: row.inputs['weights']!.map((weight) => weight / total) },
  }));
}

export async function openFullTraining(options: FullTrainingOptions): Promise<FullTrainingSession> {
  const { directory, seed, threads, resume = false } = options;
  const config = await readDecoderConfig(directory);
  if (config.experts)
    throw new AppError(
      'invalid_request',
      `All weights of ${config.family} cannot be trained, because its experts have no gradient in this engine.`,
    );
  const specs = fusedParameters(config);
  const { tensors, views } = allocateFusedWeights(config);
  if (resume) await readWeights(config, directory, views);
  else initializeWeights(config, views, createRandom(seed));
  const optimizer = (resume ? await findOptimizerFile(directory, specs) : null) ?? createAdamwState(tensors);
  const sums = createGradientSums(tensors, null);
  const isMatrix = new Map(specs.map(({ name, shape }) => [name, shape.length > 1]));
  const weightFeeds: Feeds = Object.fromEntries(
    specs.map(({ name, shape }) => [name, { data: tensors.get(name)!, dims: shape }]),
  );

  const graphs = createTrainingGraphRunner(config, { threads, memoryPattern: true, idleMs: 0, frozen: null });
  const chunk = headChunk(config.vocab, null);

  return {
    config,
    parameterCount: specs.reduce((sum, { shape }) => sum + sizeOf(shape), 0),

    async forwardBackward(rows, loss) {
      const feeds = { ...rowFeeds(rows, chunk), ...lossFeeds(rows, loss), ...weightFeeds };
      return sums.add(await graphs.run(null, loss, 'kept', feeds), loss);
    },

    async logprobs(rows) {
      if (trainedCount(rows) === 0) return new Float32Array(0);
      return (await graphs.run(null, null, 'kept', { ...rowFeeds(rows, chunk), ...weightFeeds }))['logprobs']!;
    },

    async optimStep(params) {
      const gradNorm = globalNorm(sums.gradients);
      const scale = clipCoefficient(gradNorm, params.maxGradNorm);
      applyAdamw(tensors, sums.gradients, optimizer, params, scale, (name) => isMatrix.get(name)!);
      sums.clear();
      return { gradNorm };
    },

    async save(target, dtype) {
      const stored = decoderParameters(config).map(({ name, shape }) => ({
        name,
        shape,
        data: views.get(name)!,
        dtype,
      }));
      if (resolve(target) !== resolve(directory)) {
        await copyFile(join(directory, 'config.json'), join(target, 'config.json'));
      }
      await writeSafetensors(join(target, 'model.safetensors'), stored);
    },

    saveOptimizer: (target) => writeOptimizerFile(target, optimizer, specs),

    close: () => graphs.close(),
  };
}

async function readWeights(config: DecoderConfig, directory: string, views: FusedWeights['views']): Promise<void> {
  const source = await openSafetensors(directory);
  try {
    checkParameters(source, decoderParameters(config));
    for (const [name, view] of views) view.set(await source.read(name));
  } finally {
    await source.close();
  }
}

/**
 * Matrices from N(0, 2 / (5 · hidden)), "small init" (arXiv:1910.05895); those that write to the residual stream are divided by
 * √(2 · layers) as in GPT-2; embeddings from N(0, 0.02²), so that a tied head starts near uniform; norms 1, biases 0.
 */
function initializeWeights(config: DecoderConfig, views: FusedWeights['views'], random: Random): void {
  const deviation = Math.sqrt(2 / (5 * config.hidden));
  for (const { name, shape } of decoderParameters(config)) {
    const tensor = views.get(name)!;
    if (name.endsWith('.bias')) continue;
    if (shape.length === 1) {
      tensor.fill(config.norms.plusOne ? 0 : 1);
    } else if (/embed_tokens|lm_head/.test(name)) {
      fillNormal(tensor, 0.02, random);
    } else {
      const writesResidual = /o_proj|down_proj/.test(name);
      fillNormal(tensor, writesResidual ? deviation / Math.sqrt(2 * config.layers) : deviation, random);
    }
  }
}

/** Box–Muller. */
function fillNormal(tensor: Float32Array, deviation: number, random: Random): void {
  for (let i = 0; i < tensor.length; i++) {
    const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
    tensor[i] = deviation * radius * Math.cos(2 * Math.PI * random.next());
  }
}
