// Which tensors a decoder's graphs read: projections of one input are stacked in one tensor, so that they run as one
// matmul. The sampler and the trainer use the same names, so they can read them from one file.
import type { Experts, FusedLinear } from '#model-files/block';
import type { DecoderConfig } from '#model-files/decoder-config';
import {
  decoderParameters,
  expertLinearName,
  layerLinears,
  layerPrefix,
  type ParameterSpec,
} from '#model-files/decoder-parameters';

/** `parts` are its Hugging Face tensors, stacked along axis 0. */
export interface FusedSpec extends ParameterSpec {
  readonly parts: readonly ParameterSpec[];
}

export const fusedWeightName = (layer: number, linear: FusedLinear): string => `${layerPrefix(layer)}.${linear}.weight`;
export const fusedBiasName = (layer: number, linear: FusedLinear): string => `${layerPrefix(layer)}.${linear}.bias`;

/** gate and up of one expert are adjacent. */
export const EXPERT_LINEARS = ['gate_up', 'down'] as const satisfies readonly FusedLinear[];
export type ExpertLinearName = (typeof EXPERT_LINEARS)[number];

export const expertWeightName = (layer: number, linear: ExpertLinearName): string =>
  `${layerPrefix(layer)}.experts.${linear}.weight`;

/**
 * `[experts, 1, 1, out, in]`: the ones prevent ONNX Runtime from making one large product of an expert's rows, `[rows, 1, in]`; its
 * sums would depend on the number of rows (docs/decisions/0001).
 */
export function expertWeightShape({ hidden }: DecoderConfig, experts: Experts, linear: ExpertLinearName): number[] {
  const { count, intermediate } = experts;
  return linear === 'down' ? [count, 1, 1, hidden, intermediate] : [count, 1, 1, 2 * intermediate, hidden];
}

export function fusedParameters(config: DecoderConfig): readonly FusedSpec[] {
  const byName = new Map(decoderParameters(config).map((spec) => [spec.name, spec]));
  const fused: FusedSpec[] = [];
  const take = (name: string, partNames: readonly string[], whole?: readonly number[]): void => {
    const parts = partNames.map((part) => byName.get(part)!);
    partNames.forEach((part) => byName.delete(part));
    const rows = parts.reduce((sum, { shape }) => sum + shape[0]!, 0);
    fused.push({ name, shape: whole ?? [rows, ...parts[0]!.shape.slice(1)], parts });
  };
  for (let layer = 0; layer < config.layers; layer++) {
    for (const linear of layerLinears(config, layer)) {
      const modules = config.linears[linear];
      const parts = (kind: string) => modules.map(({ module }) => `${layerPrefix(layer)}.${module}.${kind}`);
      take(fusedWeightName(layer, linear), parts('weight'));
      if (modules[0]!.bias) take(fusedBiasName(layer, linear), parts('bias'));
    }
    const { experts } = config;
    if (!experts?.layers[layer]) continue;
    for (const linear of EXPERT_LINEARS)
      take(
        expertWeightName(layer, linear),
        expertParts(experts, layer, linear),
        expertWeightShape(config, experts, linear),
      );
  }
  for (const name of [...byName.keys()]) take(name, [name]);
  return fused;
}

function expertParts(experts: Experts, layer: number, linear: ExpertLinearName): string[] {
  const stacked = linear === 'down' ? (['down'] as const) : (['gate', 'up'] as const);
  return Array.from({ length: experts.count }, (_, expert) =>
    stacked.map((name) => expertLinearName(experts, layer, expert, name)),
  ).flat();
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
