// Which tensors a decoder's graphs read: projections of one input lie one after another in one tensor, so that they run as one
// matmul. The sampler and the trainer call them by the same names, which is why they can read them from one file.
import { FUSED_LINEARS, type FusedLinear } from '#model-files/block';
import type { DecoderConfig } from '#model-files/decoder-config';
import { decoderParameters, layerPrefix, type ParameterSpec } from '#model-files/decoder-parameters';

/** `parts` are its Hugging Face tensors, stacked along axis 0. */
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

export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
