// The tensors of a decoder by their Hugging Face names: which exist, in which shape, and how projections pair up in fused
// linears. Loading checks every shape, so that what follows can trust them.
import { AppError } from '#domain/errors';
import type { TensorSource } from '../weights/safetensors.ts';
import type { DecoderConfig } from './config.ts';

export interface ParameterSpec {
  readonly name: string;
  readonly shape: readonly number[];
}

/** Linears that read the same input run as one matmul. */
export const FUSED_LINEARS = ['qkv', 'o', 'gate_up', 'down'] as const;
export type FusedLinear = (typeof FUSED_LINEARS)[number];

export interface Projection {
  /** `self_attn.q_proj` */
  readonly module: string;
  readonly inFeatures: number;
  readonly outFeatures: number;
  readonly bias: boolean;
}

export function projections(config: DecoderConfig, linear: FusedLinear): readonly Projection[] {
  const { hidden, heads, kvHeads, headDim, intermediate, qkvBias, outputBias } = config;
  const make = (module: string, inFeatures: number, outFeatures: number, bias: boolean) => ({ module, inFeatures, outFeatures, bias });
  switch (linear) {
    case 'qkv':
      return [
        make('self_attn.q_proj', hidden, heads * headDim, qkvBias),
        make('self_attn.k_proj', hidden, kvHeads * headDim, qkvBias),
        make('self_attn.v_proj', hidden, kvHeads * headDim, qkvBias),
      ];
    case 'o':
      return [make('self_attn.o_proj', heads * headDim, hidden, outputBias)];
    case 'gate_up':
      return [make('mlp.gate_proj', hidden, intermediate, false), make('mlp.up_proj', hidden, intermediate, false)];
    case 'down':
      return [make('mlp.down_proj', intermediate, hidden, false)];
  }
}

export const layerPrefix = (layer: number): string => `model.layers.${layer}`;

/** In the order of computation. */
export function decoderParameters(config: DecoderConfig): readonly ParameterSpec[] {
  const { hidden, headDim, layers, vocab, queryKeyNorm, tiedEmbeddings } = config;
  const specs: ParameterSpec[] = [{ name: 'model.embed_tokens.weight', shape: [vocab, hidden] }];
  for (let layer = 0; layer < layers; layer++) {
    const prefix = layerPrefix(layer);
    specs.push({ name: `${prefix}.input_layernorm.weight`, shape: [hidden] });
    for (const linear of FUSED_LINEARS) {
      if (linear === 'gate_up') specs.push({ name: `${prefix}.post_attention_layernorm.weight`, shape: [hidden] });
      for (const { module, inFeatures, outFeatures, bias } of projections(config, linear)) {
        specs.push({ name: `${prefix}.${module}.weight`, shape: [outFeatures, inFeatures] });
        if (bias) specs.push({ name: `${prefix}.${module}.bias`, shape: [outFeatures] });
      }
    }
    if (queryKeyNorm) {
      specs.push({ name: `${prefix}.self_attn.q_norm.weight`, shape: [headDim] });
      specs.push({ name: `${prefix}.self_attn.k_norm.weight`, shape: [headDim] });
    }
  }
  specs.push({ name: 'model.norm.weight', shape: [hidden] });
  if (!tiedEmbeddings) specs.push({ name: 'lm_head.weight', shape: [vocab, hidden] });
  return specs;
}

/** Float32 weights by name, in Hugging Face's orientation (`[out, in]`). */
export type DecoderWeights = ReadonlyMap<string, Float32Array>;

export async function loadDecoderWeights(config: DecoderConfig, source: TensorSource): Promise<DecoderWeights> {
  const weights = new Map<string, Float32Array>();
  for (const { name, shape } of decoderParameters(config)) {
    if (!source.has(name)) throw new AppError('bad_model_files', `The weights have no tensor ${name}, which config.json calls for.`);
    const found = source.shape(name);
    if (found.length !== shape.length || found.some((size, i) => size !== shape[i])) {
      throw new AppError('bad_model_files', `${name}: config.json calls for [${shape.join(', ')}], the weights have [${found.join(', ')}].`);
    }
    weights.set(name, await source.read(name));
  }
  return weights;
}

/** `[Σ out, in]` of a fused linear: the projections' rows one after another. */
export function fusedWeight(config: DecoderConfig, weights: DecoderWeights, layer: number, linear: FusedLinear): Float32Array {
  return concatenate(projections(config, linear).map(({ module }) => weights.get(`${layerPrefix(layer)}.${module}.weight`)!));
}

/** `[Σ out]`, or null for linears without bias. */
export function fusedBias(config: DecoderConfig, weights: DecoderWeights, layer: number, linear: FusedLinear): Float32Array | null {
  const parts = projections(config, linear);
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
