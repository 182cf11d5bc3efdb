// The weights of a decoder as training feeds them: projections that read the same input lie one after another in one
// tensor, and each Hugging Face tensor is a view into it. So a fused matmul needs no copy, and saving needs no splitting.
import { invariant } from '#base/invariant';
import { FUSED_LINEARS, type FusedLinear } from '#model-files/block';
import type { DecoderConfig } from '#model-files/decoder-config';
import {
  decoderParameters,
  layerPrefix,
  type DecoderWeights,
  type ParameterSpec,
} from '#model-files/decoder-parameters';

/** A tensor that the graph takes as an input; `parts` are its Hugging Face tensors, stacked along axis 0. */
export interface FusedSpec extends ParameterSpec {
  readonly parts: readonly ParameterSpec[];
}

export const fusedWeightName = (layer: number, linear: FusedLinear): string => `${layerPrefix(layer)}.${linear}.weight`;
export const fusedBiasName = (layer: number, linear: FusedLinear): string => `${layerPrefix(layer)}.${linear}.bias`;

export function fusedParameters(config: DecoderConfig): readonly FusedSpec[] {
  const byName = new Map(decoderParameters(config).map((spec) => [spec.name, spec]));
  const fused: FusedSpec[] = [];
  const take = (name: string, partNames: readonly string[]): void => {
    const parts = partNames.map((part) => byName.get(part)!);
    partNames.forEach((part) => byName.delete(part));
    const rows = parts.reduce((sum, { shape }) => sum + shape[0]!, 0);
    fused.push({ name, shape: [rows, ...parts[0]!.shape.slice(1)], parts });
  };
  for (let layer = 0; layer < config.layers; layer++) {
    for (const linear of FUSED_LINEARS) {
      const modules = config.linears[linear];
      const parts = (kind: string) => modules.map(({ module }) => `${layerPrefix(layer)}.${module}.${kind}`);
      take(fusedWeightName(layer, linear), parts('weight'));
      if (modules[0]!.bias) take(fusedBiasName(layer, linear), parts('bias'));
    }
  }
  for (const name of [...byName.keys()]) take(name, [name]);
  return fused;
}

export interface FusedWeights {
  /** By fused name. */
  readonly tensors: ReadonlyMap<string, Float32Array>;
  /** By Hugging Face name: views into `tensors`. */
  readonly views: DecoderWeights;
}

export function allocateFusedWeights(config: DecoderConfig): FusedWeights {
  const tensors = new Map<string, Float32Array>();
  const views = new Map<string, Float32Array>();
  for (const { name, shape, parts } of fusedParameters(config)) {
    const whole = new Float32Array(sizeOf(shape));
    tensors.set(name, whole);
    let at = 0;
    for (const part of parts) {
      const size = sizeOf(part.shape);
      views.set(part.name, whole.subarray(at, at + size));
      at += size;
    }
    invariant(at === whole.length, `${name}: parts of ${at} for ${whole.length}`);
  }
  return { tensors, views };
}

/** From weights as they were loaded. Their map is emptied on the way: at no time does the model lie in memory twice. */
export function takeFusedTensors(config: DecoderConfig, weights: Map<string, Float32Array>): Map<string, Float32Array> {
  const tensors = new Map<string, Float32Array>();
  for (const { name, shape, parts } of fusedParameters(config)) {
    const sources = parts.map((part) => weights.get(part.name)!);
    parts.forEach((part) => weights.delete(part.name));
    tensors.set(name, sources.length === 1 ? sources[0]! : concatenate(sources, sizeOf(shape)));
  }
  return tensors;
}

function concatenate(parts: readonly Float32Array[], size: number): Float32Array {
  const whole = new Float32Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  invariant(at === size, `parts of ${at} for ${size}`);
  return whole;
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
