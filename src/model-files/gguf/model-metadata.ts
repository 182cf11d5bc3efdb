// DecoderConfig → metadata and extra tensors with which llama.cpp computes the same, or a refusal that names what its graphs lack.
import { AppError } from '#domain/errors';
import type { Rope, RopeScaling } from '../block.ts';
import type { ConfigJson } from '../config-json.ts';
import type { DecoderConfig } from '../decoder-config.ts';
import { ARCHITECTURES } from './architectures.ts';
import { llama3Factors } from './llama3-factors.ts';
import type { TypedValue } from './write-gguf.ts';

export const u32 = (value: number): TypedValue => ({ type: 'u32', value });
export const f32 = (value: number): TypedValue => ({ type: 'f32', value });
export const text = (value: string): TypedValue => ({ type: 'string', value });

export interface ModelMetadata {
  readonly architecture: string;
  readonly values: Readonly<Record<string, TypedValue>>;
  /** Name → values: rope factors, F32. */
  readonly tensors: ReadonlyMap<string, readonly number[]>;
}

export function refuseGguf(what: string): AppError {
  return new AppError(
    'invalid_request',
    `Cannot write GGUF: ${what}. Export in Hugging Face layout, without --format gguf.`,
  );
}

/** Families that llama.cpp has no name of their own for. */
const OTHER_NAMES: Readonly<Record<string, string>> = { mistral: 'llama', mixtral: 'llama', olmo3: 'olmo2' };

/** Throws `invalid_request` for families without a graph in llama.cpp. */
export function ggufArchitecture({ family }: DecoderConfig): string {
  if (Object.hasOwn(OTHER_NAMES, family)) return OTHER_NAMES[family]!;
  const found = Object.entries(ARCHITECTURES).find(([, { modelType }]) => modelType === family);
  if (!found) throw refuseGguf(`llama.cpp does not support models of family ${family}`);
  return found[0];
}

/** `json` is config.json, for values that the embedded engine does not use. */
export function modelMetadata(config: DecoderConfig, json: ConfigJson): ModelMetadata {
  const architecture = ggufArchitecture(config);
  const rope = (config.attention.find(({ window }) => window === null) ?? config.attention[0]!).rope!;
  checkLayers(config, architecture, rope);
  checkExperts(config);
  const values: Record<string, TypedValue | null> = {
    context_length: u32(config.maxPositions),
    embedding_length: u32(config.hidden),
    block_count: u32(config.layers),
    feed_forward_length: u32(config.intermediate),
    'attention.head_count': u32(config.heads),
    'attention.head_count_kv': u32(config.kvHeads),
    'attention.key_length': u32(config.headDim),
    'attention.value_length': u32(config.headDim),
    'attention.layer_norm_rms_epsilon': f32(config.normEpsilon),
    vocab_size: u32(config.vocab),
    'rope.dimension_count': u32(rope.dim),
    'rope.freq_base': f32(rope.theta),
    ...ownValues(config, architecture),
    ...expertValues(config, architecture),
  };
  const scaling = ropeScaling(rope.scaling, rope.theta, rope.dim, architecture, json);
  const own = Object.entries({ ...values, ...scaling.values }).filter(
    (entry): entry is [string, TypedValue] => entry[1] !== null,
  );
  return {
    architecture,
    values: Object.fromEntries(own.map(([key, value]) => [`${architecture}.${key}`, value])),
    tensors: scaling.tensors,
  };
}

function ownValues(config: DecoderConfig, architecture: string): Record<string, TypedValue | null> {
  const { multipliers, softCaps, attention } = config;
  const local = attention.find((layer) => layer.window !== null);
  const window = local?.window ?? null;
  const localTheta = local?.rope?.theta ?? null;
  switch (architecture) {
    case 'granite':
      return {
        'attention.scale': f32(multipliers.attention),
        embedding_scale: f32(multipliers.embedding),
        residual_scale: f32(multipliers.residual),
        logit_scale: f32(1 / multipliers.logits),
      };
    case 'gemma2':
      return {
        'attention.sliding_window': window === null ? null : u32(window),
        attn_logit_softcapping: f32(softCaps.attention!),
        final_logit_softcapping: f32(softCaps.logits!),
      };
    case 'gemma3':
      return {
        'attention.sliding_window': window === null ? null : u32(window),
        'rope.freq_base_swa': localTheta === null ? null : f32(localTheta),
        final_logit_softcapping: softCaps.logits === null ? null : f32(softCaps.logits),
      };
    case 'olmo2':
      return window === null
        ? {}
        : { 'attention.sliding_window': u32(window), 'attention.sliding_window_pattern': windowPattern(attention) };
    case 'phi3':
      return { 'attention.sliding_window': u32(window ?? 0) };
    default:
      return {};
  }
}

const windowPattern = (attention: DecoderConfig['attention']): TypedValue => ({
  type: 'bool',
  value: attention.map(({ window }) => window !== null),
});

function expertValues({ experts }: DecoderConfig, architecture: string): Record<string, TypedValue | null> {
  if (experts === null) return {};
  return {
    expert_count: u32(experts.count),
    expert_used_count: u32(experts.perToken),
    expert_feed_forward_length: architecture === 'qwen3moe' ? u32(experts.intermediate) : null,
  };
}

/** llama.cpp's graphs fix these properties of experts. */
function checkExperts({ experts }: DecoderConfig): void {
  if (experts === null) return;
  const dense = experts.layers.indexOf(false);
  if (dense !== -1) throw refuseGguf(`llama.cpp requires experts in all layers, and layer ${dense} has none`);
  if (!experts.normalized)
    throw refuseGguf('llama.cpp divides the weights of experts by their sum, the model does not (norm_topk_prob)');
}

/** Whether a layer with a window rotates as there: without scaling in these two, and in OLMo by the same base as the others. */
function rotatesAsThere(local: Rope, global: Rope, architecture: string): boolean {
  if (architecture === 'gemma3') return local.scaling === null;
  return architecture !== 'olmo2' || (local.scaling === null && local.theta === global.theta);
}

/** Properties that llama.cpp's graphs fix for all models of an architecture. */
function checkLayers(config: DecoderConfig, architecture: string, global: Rope): void {
  const { attention, multipliers, softCaps, heads, hidden, headDim, layers } = config;
  const activation = architecture.startsWith('gemma') ? 'gelu_tanh' : 'silu';
  if (config.activation !== activation)
    throw refuseGguf(
      `llama.cpp computes this architecture with the activation ${activation}, this model has ${config.activation}`,
    );
  if (architecture === 'gemma2' && (softCaps.attention === null || softCaps.logits === null))
    throw refuseGguf('llama.cpp always caps the scores and logits of Gemma 2, and this model does not');
  const isLocal: Readonly<Record<string, (layer: number) => boolean>> = {
    gemma2: (layer) => layer % 2 === 0,
    gemma3: (layer) => (layer + 1) % 6 !== 0,
    phi3: () => attention[0]!.window !== null,
  };
  attention.forEach(({ window, rope }, layer) => {
    if (architecture !== 'olmo2' && (window !== null) !== (isLocal[architecture]?.(layer) ?? false))
      // olmo2: in the file
      throw refuseGguf(`llama.cpp does not support the attention window of layer ${layer}`);
    if (window !== null && rope !== null && !rotatesAsThere(rope, global, architecture))
      throw refuseGguf(`llama.cpp does not support the rotary positions of layer ${layer}, which has a window`);
    if ((rope === null) !== (architecture === 'smollm3' && (layer + 1) % 4 === 0))
      throw refuseGguf(`llama.cpp and this model differ in whether layer ${layer} has rotary positions`);
  });
  if (architecture === 'granite') return;
  const isLargest = (architecture === 'gemma2' && layers === 46) || (architecture === 'gemma3' && layers === 62);
  const scale = (isLargest ? hidden / heads : headDim) ** -0.5;
  if (Math.abs(multipliers.attention / scale - 1) > 1e-6)
    throw refuseGguf(`llama.cpp multiplies attention scores by ${scale}, this model by ${multipliers.attention}`);
}

/** Architectures whose graphs divide the frequencies of positions by factors of the file. */
const READS_FACTORS = ['llama', 'granite', 'phi3'];

interface Scaling {
  readonly values: Readonly<Record<string, TypedValue>>;
  readonly tensors: ReadonlyMap<string, readonly number[]>;
}

function ropeScaling(
  scaling: RopeScaling | null,
  theta: number,
  dim: number,
  architecture: string,
  json: ConfigJson,
): Scaling {
  if (scaling === null) return { values: {}, tensors: new Map() };
  if ((scaling.kind === 'llama3' || scaling.kind === 'longrope') && !READS_FACTORS.includes(architecture))
    throw refuseGguf(`llama.cpp does not support rope scaling by ${scaling.kind} for architecture ${architecture}`);
  const typed = (type: string, values: Record<string, TypedValue>, tensors: [string, readonly number[]][] = []) => ({
    values: { 'rope.scaling.type': text(type), ...values },
    tensors: new Map(tensors),
  });
  switch (scaling.kind) {
    case 'linear':
      return typed('linear', { 'rope.scaling.factor': f32(scaling.factor) });
    case 'yarn':
      if (!isUsualYarn(scaling))
        throw refuseGguf(
          'llama.cpp does not support yarn with this beta_fast, beta_slow, attention_factor or truncate',
        );
      return typed('yarn', {
        'rope.scaling.factor': f32(scaling.factor),
        'rope.scaling.original_context_length': u32(scaling.originalMaxPositions),
      });
    case 'llama3':
      return { values: {}, tensors: new Map([['rope_freqs.weight', llama3Factors(scaling, theta, dim)]]) };
    case 'longrope': {
      const { factors, originalMaxPositions, attentionFactor } = scaling;
      if (architecture !== 'phi3')
        return {
          values: attentionFactor === 1 ? {} : { 'rope.scaling.attn_factor': f32(attentionFactor) },
          tensors: new Map([['rope_freqs.weight', factors]]),
        };
      const gathered = (json['rope_parameters'] ?? json['rope_scaling']) as { long_factor?: readonly number[] };
      return typed(
        'longrope',
        {
          'rope.scaling.original_context_length': u32(originalMaxPositions),
          'rope.scaling.attn_factor': f32(attentionFactor),
        },
        [
          ['rope_factors_long.weight', gathered.long_factor ?? factors],
          ['rope_factors_short.weight', factors],
        ],
      );
    }
  }
}

const isUsualYarn = ({
  factor,
  betaFast,
  betaSlow,
  truncate,
  attentionFactor,
}: RopeScaling & { kind: 'yarn' }): boolean =>
  betaFast === 32 && betaSlow === 1 && truncate && Math.abs(attentionFactor / (1 + 0.1 * Math.log(factor)) - 1) < 1e-6;
