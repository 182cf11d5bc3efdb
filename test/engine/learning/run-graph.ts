// Runs a training graph once over weights held here, for tests of single gradients.
import { createRandom } from '#base/random';
import type { LossProgram } from '#engine/loss-program';
import { openSession } from '#engine/onnx/graph/session';
import { allocateFusedWeights } from '#engine/onnx/learning/fused-weights';
import { fusedParameters } from '#engine/onnx/weights/fused-parameters';
import { linearLayers, loraParameters, LORA_TARGETS, type LoraShape } from '#model-files/lora';
import { buildTrainGraph, gradientName, type Activations } from '#engine/onnx/learning/train-graph';
import { lossFeeds, rowFeeds, type Feeds } from '#engine/onnx/learning/train-feeds';
import type { DecoderConfig } from '#model-files/decoder-config';
import type { TrainingRow } from '#engine/training-engine';

export const TINY_LORA: LoraShape = { rank: 3, alpha: 6, rankStabilized: false, targets: LORA_TARGETS };

export interface GraphRun {
  readonly loss: number;
  readonly metrics: (name: string) => number;
  /** By parameter name. */
  readonly gradients: ReadonlyMap<string, Float32Array>;
}

export interface OpenGraph {
  /** The trained tensors by name; change them in place. */
  readonly trained: ReadonlyMap<string, Float32Array>;
  run(rows: readonly TrainingRow[]): Promise<GraphRun>;
  close(): Promise<void>;
}

/** Random weights, norms around 1, adapters with nonzero B. `lora` null trains the base weights. */
export async function openGraph(
  config: DecoderConfig,
  lora: LoraShape | null,
  loss: LossProgram,
  activations: Activations = 'kept',
): Promise<OpenGraph> {
  const random = createRandom(5);
  const { tensors, views } = allocateFusedWeights(config);
  for (const [name, view] of views) {
    const offset = name.includes('norm') ? 1 : 0;
    view.forEach((_, i) => (view[i] = offset + (random.next() - 0.5) * 0.6));
  }
  const feeds: Feeds = {};
  for (const { name, shape } of fusedParameters(config)) feeds[name] = { data: tensors.get(name)!, dims: shape };
  const trained = new Map(lora === null ? tensors : []);
  for (const { name, shape } of lora === null ? [] : loraParameters(linearLayers(config), lora)) {
    const data = Float32Array.from({ length: shape[0] * shape[1] }, () => (random.next() - 0.5) * 0.6);
    trained.set(name, data);
    feeds[name] = { data, dims: shape };
  }
  const session = await openSession(buildTrainGraph(config, lora, loss, activations), { threads: 1 });
  return {
    trained,
    async run(rows) {
      const results = await session.run({ ...rowFeeds(rows, 5, 4), ...lossFeeds(rows, loss), ...feeds });
      return {
        loss: results['loss']![0]!,
        metrics: (name) => results[`metric.${name}`]![0]!,
        gradients: new Map([...trained.keys()].map((name) => [name, results[gradientName(name)]!])),
      };
    },
    close: () => session.close(),
  };
}
