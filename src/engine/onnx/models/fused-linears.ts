// Weights and biases of linears that run as one matmul: those of the projections, one after another.
import type { FusedLinear } from '#model-files/block';
import type { DecoderConfig } from '#model-files/decoder-config';
import { layerPrefix, type DecoderWeights } from '#model-files/decoder-parameters';

/** `[Σ out, in]` of a fused linear: the projections' rows one after another. */
export function fusedWeight(
  config: DecoderConfig,
  weights: DecoderWeights,
  layer: number,
  linear: FusedLinear,
): Float32Array {
  return concatenate(
    config.linears[linear].map(({ module }) => weights.get(`${layerPrefix(layer)}.${module}.weight`)!),
  );
}

/** `[Σ out]`, or null for linears without bias. */
export function fusedBias(
  config: DecoderConfig,
  weights: DecoderWeights,
  layer: number,
  linear: FusedLinear,
): Float32Array | null {
  const parts = config.linears[linear];
  if (!parts[0]!.bias) return null;
  return concatenate(parts.map(({ module }) => weights.get(`${layerPrefix(layer)}.${module}.bias`)!));
}

function concatenate(parts: readonly Float32Array[]): Float32Array {
  if (parts.length === 1) return parts[0]!;
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
