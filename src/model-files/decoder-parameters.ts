// The tensors of a decoder by their Hugging Face names: which exist, and in which shape. Readers check every shape first,
// so that later code can rely on them.
import { AppError } from '#domain/errors';
import { ATTENTION_LINEARS, FUSED_LINEARS, type Experts, type FusedLinear } from './block.ts';
import type { DecoderConfig } from './decoder-config.ts';
import type { TensorSource } from './safetensors.ts';

export interface ParameterSpec {
  readonly name: string;
  readonly shape: readonly number[];
}

/** The output head: `[vocab, hidden]`, without bias. With tied weights its weight is the embedding's. */
export const HEAD_MODULE = 'lm_head';
export const HEAD_WEIGHT = `${HEAD_MODULE}.weight`;
export const EMBEDDING_WEIGHT = 'model.embed_tokens.weight';

export const layerPrefix = (layer: number): string => `model.layers.${layer}`;

export const routerName = ({ router }: Experts, layer: number): string => `${layerPrefix(layer)}.${router}.weight`;

export const expertLinearName = (
  { module, names }: Experts,
  layer: number,
  expert: number,
  linear: keyof Experts['names'],
): string => `${layerPrefix(layer)}.${module}.${expert}.${names[linear]}.weight`;

/** A layer with experts has no dense MLP. */
export const layerLinears = ({ experts }: DecoderConfig, layer: number): readonly FusedLinear[] =>
  experts?.layers[layer] ? ATTENTION_LINEARS : FUSED_LINEARS;

export function decoderParameters(config: DecoderConfig): readonly ParameterSpec[] {
  const { hidden, layers, vocab, linears, norms, experts, tiedEmbeddings } = config;
  const specs: ParameterSpec[] = [{ name: EMBEDDING_WEIGHT, shape: [vocab, hidden] }];
  for (let layer = 0; layer < layers; layer++) {
    const prefix = layerPrefix(layer);
    for (const norm of [norms.attentionInput, norms.attentionOutput, norms.mlpInput, norms.mlpOutput]) {
      if (norm !== null) specs.push({ name: `${prefix}.${norm}.weight`, shape: [hidden] });
    }
    for (const { module, inFeatures, outFeatures, bias } of layerLinears(config, layer).flatMap(
      (linear) => linears[linear],
    )) {
      specs.push({ name: `${prefix}.${module}.weight`, shape: [outFeatures, inFeatures] });
      if (bias) specs.push({ name: `${prefix}.${module}.bias`, shape: [outFeatures] });
    }
    if (experts?.layers[layer]) specs.push(...expertParameters(experts, hidden, layer));
    specs.push(...queryKeyNorms(config, prefix));
  }
  specs.push({ name: 'model.norm.weight', shape: [hidden] });
  if (!tiedEmbeddings) specs.push({ name: HEAD_WEIGHT, shape: [vocab, hidden] });
  return specs;
}

function expertParameters(experts: Experts, hidden: number, layer: number): ParameterSpec[] {
  const { count, intermediate } = experts;
  const specs: ParameterSpec[] = [{ name: routerName(experts, layer), shape: [count, hidden] }];
  for (let expert = 0; expert < count; expert++) {
    for (const linear of ['gate', 'up', 'down'] as const) {
      const shape = linear === 'down' ? [hidden, intermediate] : [intermediate, hidden];
      specs.push({ name: expertLinearName(experts, layer, expert, linear), shape });
    }
  }
  return specs;
}

function queryKeyNorms({ norms, heads, kvHeads, headDim }: DecoderConfig, prefix: string): ParameterSpec[] {
  if (norms.queryKey === null) return [];
  const size = (count: number) => (norms.queryKey === 'head' ? headDim : count * headDim);
  return [
    { name: `${prefix}.self_attn.q_norm.weight`, shape: [size(heads)] },
    { name: `${prefix}.self_attn.k_norm.weight`, shape: [size(kvHeads)] },
  ];
}

/** Throws `bad_model_files` that names the first tensor that is missing or has another shape. */
export function checkParameters(source: TensorSource, parameters: readonly ParameterSpec[]): void {
  for (const { name, shape } of parameters) {
    if (!source.has(name))
      throw new AppError('bad_model_files', `The weights have no tensor ${name}, which config.json calls for.`);
    const found = source.shape(name);
    if (found.length !== shape.length || found.some((size, i) => size !== shape[i])) {
      throw new AppError(
        'bad_model_files',
        `${name}: config.json calls for [${shape.join(', ')}], the weights have [${found.join(', ')}].`,
      );
    }
  }
}
