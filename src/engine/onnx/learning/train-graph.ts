// The graph of one training batch: decoder over packed rows, log-probabilities of the trained tokens only, a loss
// program, and the gradient of every trained parameter. Frozen weights are constants that stay in their files (weights/), so
// that all graphs and the sampler's process share their pages, in float32 or in 8 bits (frozen-matrix.ts); trained ones are inputs.
//
// Inputs                                          Outputs
//   tokens        int64 [batch, seq]                logprobs          [trained]
//   positions     int64 [batch, seq]                loss              [1]
//   predict_from  int64 [trained], of batch · seq   metric.NAME       [1]
//   targets       int64 [trained]                   gradient.NAME     as the parameter
//   head_chunk    int64 [], tokens whose logits are in memory at once
//   query_block   int64 [], tokens whose scores of attention are in memory at once
//   keys          int64 [keys], mask [pairs], key_starts and mask_starts int64 [blocks + 1]: what each such block attends to
//                 (attention-mask.ts)
//   loss.NAME     [trained]; membership [sequences, trained]
//   every trained parameter: LoRA's by its PEFT name, base weights by their fused names
import type { FusedLinear } from '#model-files/block';
import type { DecoderConfig } from '#model-files/decoder-config';
import { EMBEDDING_WEIGHT, HEAD_MODULE, HEAD_WEIGHT, layerPrefix, routerName } from '#model-files/decoder-parameters';
import { adaptedLinears, loraAName, loraBName, loraScale, type LoraShape, type LoraTarget } from '#model-files/lora';
import type { TrainingPrecision } from '../../capabilities.ts';
import type { LossProgram } from '../../loss-program.ts';
import { gradients } from '../graph/autodiff.ts';
import { Graph, type Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';
import { checkpoint } from '../graph/checkpoint.ts';
import { decoderForward, scaledBy, type DecoderBinding } from '../models/decoder.ts';
import { multiplyRowsTogether, type ExpertWeights } from '../models/experts.ts';
import { BLOCK_SIZE, ZERO_POINT } from '../models/quantize.ts';
import { rowAttention, type RowContext } from '../models/row-attention.ts';
import {
  expertWeightName,
  expertWeightShape,
  fusedBiasName,
  fusedWeightName,
  type ExpertLinearName,
} from '../weights/fused-parameters.ts';
import type { Weights } from '../weights/weights.ts';
import { blocksMatrix, plainMatrix, type FrozenMatrix } from './frozen-matrix.ts';
import { lowerLoss } from './lower-loss.ts';
import { tokenHead, type TokenHead } from './token-head.ts';

/** What is trained: the base weights themselves (null), or an adapter of this shape over frozen ones. */
export type TrainedPart = LoraShape | null;

/** Activations for the backward pass: kept from the forward pass, or recomputed from each half layer's input. */
export type Activations = 'kept' | 'recomputed';

export const gradientName = (parameter: string): string => `gradient.${parameter}`;
export const metricName = (metric: string): string => `metric.${metric}`;

/** The frozen base weights: those of `trainingLayout(config, precision)`. */
export interface FrozenBase {
  readonly weights: Weights;
  readonly precision: TrainingPrecision;
}

/** `loss` null: log-probabilities only. `frozen` null: base weights are inputs. */
export function buildTrainGraph(
  config: DecoderConfig,
  lora: TrainedPart,
  loss: LossProgram | null,
  activations: Activations,
  frozen: FrozenBase | null = null,
): Graph {
  const g = new Graph();
  const parameters = createParameterInputs(g, lora, frozen);
  const states = forward(g, config, lora, parameters, activations);
  const tokens = tokenValues(g, config, lora, parameters, states, loss !== null);
  g.output('logprobs', tokens.logprob);
  if (loss === null) return g;
  const lowered = lowerLoss(g, loss, tokens);
  g.output('loss', lowered.loss);
  for (const [name, value] of lowered.metrics) g.output(metricName(name), value);
  const grads = gradients(g, lowered.loss, parameters.trained);
  parameters.trained.forEach(({ name }, i) => g.output(gradientName(name), grads[i]!));
  return g;
}

interface ParameterInputs {
  base(name: string, shape: readonly number[]): Value;
  /** Rounded weights have a head separate from the embedding, even if it is tied. */
  readonly areRounded: boolean;
  /** The matrix of a linear layer or the head, by the name of its weight. */
  matrix(name: string, shape: readonly [number, number]): FrozenMatrix;
  adapter(name: string, shape: readonly number[]): Value;
  readonly trained: readonly Value[];
}

function createParameterInputs(g: Graph, lora: TrainedPart, frozen: FrozenBase | null): ParameterInputs {
  const known = new Map<string, Value>();
  const trained: Value[] = [];
  const parameter = (name: string, shape: readonly number[], isTrained: boolean): Value => {
    let value = known.get(name);
    if (!value) {
      value = g.input(name, 'float32', shape);
      known.set(name, value);
      if (isTrained) trained.push(value);
    }
    return value;
  };
  const base = (name: string, shape: readonly number[]): Value =>
    frozen ? g.stored(frozen.weights.get(name)) : parameter(name, shape, lora === null);
  return {
    base,
    areRounded: frozen !== null && frozen.precision !== 'float32',
    matrix: (name, shape) =>
      frozen?.precision === 'int8' ? roundedMatrix(g, frozen.weights, name, shape) : plainMatrix(base(name, shape)),
    adapter: (name, shape) => parameter(name, shape, true),
    trained,
  };
}

function roundedMatrix(g: Graph, weights: Weights, name: string, shape: readonly [number, number]): FrozenMatrix {
  const scales = weights.get(`${name}.scales`);
  const count = scales.shape[0]!;
  const codes = { ...weights.get(`${name}.packed`), shape: [count, BLOCK_SIZE] };
  const zeroPoints = {
    name: `zero_points.${count}`,
    dtype: 'uint8',
    shape: [count],
    data: new Uint8Array(count).fill(ZERO_POINT),
  } as const;
  return blocksMatrix({ codes: g.stored(codes), scales: g.stored(scales), zeroPoints: g.stored(zeroPoints) }, shape);
}

/** `[tokens, hidden]` */
function forward(
  g: Graph,
  config: DecoderConfig,
  lora: TrainedPart,
  parameters: ParameterInputs,
  activations: Activations,
): Value {
  const tokens = g.input('tokens', 'int64', ['batch', 'seq']);
  const positions = g.input('positions', 'int64', ['batch', 'seq']);
  const row: RowContext = {
    positions,
    block: g.input('query_block', 'int64', []),
    keys: g.input('keys', 'int64', ['keys']),
    mask: g.input('mask', 'float32', ['pairs']),
    keyStarts: g.input('key_starts', 'int64', ['starts']),
    maskStarts: g.input('mask_starts', 'int64', ['starts']),
  };

  const bind = (g: Graph): DecoderBinding => ({
    weight: (name, shape) => parameters.base(name, shape),
    linear: (layer, fused, x, next) => next(g, adaptedLinear(g, config, lora, parameters, layer, fused, x)),
    experts: (layer) => frozenExperts(g, config, parameters, layer),
    attend: (layer, q, k, v) => rowAttention(g, config, config.attention[layer]!.window, [q, k, v], row),
  });
  const inputs = { tokens: ops.reshape(g, tokens, ['tokens']), positions };
  return activations === 'kept'
    ? decoderForward(g, config, inputs, bind)
    : decoderForward(g, config, inputs, bind, (x, half) => checkpoint(g, x, half));
}

/** x `[tokens, in]` → `[tokens, out]` */
function adaptedLinear(
  g: Graph,
  config: DecoderConfig,
  lora: TrainedPart,
  parameters: ParameterInputs,
  layer: number,
  fused: FusedLinear,
  x: Value,
): Value {
  const parts = config.linears[fused];
  const inFeatures = parts[0]!.inFeatures;
  const outFeatures = parts.reduce((sum, p) => sum + p.outFeatures, 0);

  /** x · (scale · BA)ᵀ; null if the module has no adapter. */
  const adapted = (module: string, outFeatures: number): Value | null => {
    const adapter = adapterOf(lora, parameters, `${layerPrefix(layer)}.${module}`, inFeatures, outFeatures);
    if (adapter === null) return null;
    const down = ops.matmul(g, x, adapter.a, { transposeB: true }); // [tokens, rank]
    return ops.matmul(g, down, adapter.b, { transposeB: true, alpha: adapter.scale });
  };

  let y = parameters.matrix(fusedWeightName(layer, fused), [outFeatures, inFeatures]).multiply(g, x);
  if (parts[0]!.bias) y = ops.add(g, y, parameters.base(fusedBiasName(layer, fused), [outFeatures]));
  const deltas = adaptedLinears(config).includes(fused) ? parts.map((p) => adapted(p.module, p.outFeatures)) : [];
  if (deltas.every((delta) => delta === null)) return y;
  const filled = deltas.map((delta, i) => delta ?? zeroColumns(g, x, parts[i]!.outFeatures));
  return ops.add(g, y, filled.length === 1 ? filled[0]! : ops.concat(g, filled, -1));
}

/** Neither experts nor router are trained. */
function frozenExperts(g: Graph, config: DecoderConfig, parameters: ParameterInputs, layer: number): ExpertWeights {
  const experts = config.experts!;
  const stacked = (linear: ExpertLinearName) => ({
    stacked: [parameters.base(expertWeightName(layer, linear), expertWeightShape(config, experts, linear))],
    multiply: multiplyRowsTogether,
  });
  const router = parameters.base(routerName(experts, layer), [experts.count, config.hidden]);
  const route = (x: Value): Value => ops.matmul(g, x, router, { transposeB: true });
  return { route, gateUp: stacked('gate_up'), down: stacked('down') };
}

/** A `[rank, in]` and B `[out, rank]` of a module; null if it has no adapter. */
function adapterOf(
  lora: TrainedPart,
  parameters: ParameterInputs,
  path: string,
  inFeatures: number,
  outFeatures: number,
): { readonly a: Value; readonly b: Value; readonly scale: number } | null {
  if (lora === null || !lora.targets.includes(path.slice(path.lastIndexOf('.') + 1) as LoraTarget)) return null;
  const a = parameters.adapter(loraAName(path), [lora.rank, inFeatures]);
  const b = parameters.adapter(loraBName(path), [outFeatures, lora.rank]);
  return { a, b, scale: loraScale(lora) };
}

/** Zeros `[tokens, width]` */
function zeroColumns(g: Graph, x: Value, width: number): Value {
  const rows = ops.gather(g, ops.shapeOf(g, x), g.integers(0));
  const target = ops.concat(g, [rows, g.integers(width)], 0, 2);
  return g.node('ConstantOfShape', [target], [{ dtype: 'float32', shape: [x.shape[0]!, width] }])[0]!;
}

function tokenValues(
  g: Graph,
  config: DecoderConfig,
  lora: TrainedPart,
  parameters: ParameterInputs,
  states: Value,
  differentiable: boolean,
): TokenHead {
  const { hidden, vocab } = config;
  const predictFrom = g.input('predict_from', 'int64', ['trained']);
  const targets = g.input('targets', 'int64', ['trained']);
  const headIsEmbedding = config.tiedEmbeddings && !parameters.areRounded;
  const head = parameters.matrix(headIsEmbedding ? EMBEDDING_WEIGHT : HEAD_WEIGHT, [vocab, hidden]);

  const chunk = g.input('head_chunk', 'int64', []);
  const scaled = scaledBy(g, ops.gather(g, states, predictFrom), config.multipliers.logits);
  const terms = [{ states: scaled, head }];
  const adapter = adapterOf(lora, parameters, HEAD_MODULE, hidden, vocab);
  if (adapter) {
    const down = ops.matmul(g, scaled, adapter.a, { transposeB: true, alpha: adapter.scale }); // [trained, rank]
    terms.push({ states: down, head: plainMatrix(adapter.b) });
  }
  return tokenHead(g, { terms, targets, chunk, softCap: config.softCaps.logits }, differentiable);
}
