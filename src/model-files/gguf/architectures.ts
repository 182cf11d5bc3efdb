// Maps GGUF's architectures to the families of config.json, and their metadata and tensors to its values. Keys are those of llama.cpp
// (gguf-py/gguf/constants.py), and mean what its graphs do with them.
import { isNumber, LAYERS_MAX } from '../config-json.ts';
import type { GgufTensor } from './gguf-header.ts';
import { findLlama3Scaling } from './llama3-factors.ts';
import type { Metadata } from './metadata.ts';

export interface Architecture {
  /** `model_type` of config.json. */
  readonly modelType: string;
  /** Rows of queries and keys are stored as pairs that are rotated together, not as halves. */
  readonly interleaved: boolean;
  /** Layers may route tokens to experts. */
  readonly experts?: true;
  /** llama.cpp uses the embedding as head, whatever the file contains. */
  readonly alwaysTied?: true;
  /** Some values of a head may not be rotated. */
  readonly rotatesPart?: true;
  /** Values of config.json in addition to those that all architectures have. */
  config(metadata: Metadata, model: GgufParts): Record<string, unknown>;
}

/** Parts of the file other than metadata that determine config.json. */
export interface GgufParts {
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  /** Null: the model has none. */
  readonly ropeFactors: RopeFactors | null;
}

/** A divisor for each frequency, up to the original number of positions and beyond it. */
export interface RopeFactors {
  readonly short: readonly number[];
  readonly long: readonly number[];
}

const biases = (_: Metadata, { tensors }: GgufParts) => ({
  attention_bias: tensors.has('blk.0.attn_q.bias'),
  mlp_bias: tensors.has('blk.0.ffn_up.bias'),
});

interface Windows {
  readonly size: number | null;
  readonly period: number;
}

const WINDOW = 'attention.sliding_window';
const WINDOW_PATTERN = `${WINDOW}_pattern`;

/**
 * Which layers have a window: those that the file lists, or all but the last of each period; without a size, none. `usual`: what llama.cpp
 * assumes where the file says nothing.
 */
function windows(metadata: Metadata, usual: Windows) {
  const size = metadata.own(WINDOW) ?? usual.size ?? 0;
  const listed = metadata.flags(`${metadata.architecture}.${WINDOW_PATTERN}`);
  const period = listed === null ? (metadata.own(WINDOW_PATTERN) ?? usual.period) : 0;
  const isLocal = (layer: number) =>
    size > 0 && (listed === null ? period === 0 || layer % period < period - 1 : listed[layer] === true);
  return {
    sliding_window: size > 0 ? size : null,
    layer_types: Array.from({ length: Math.min(metadata.needed('block_count'), LAYERS_MAX) }, (_, layer) =>
      isLocal(layer) ? 'sliding_attention' : 'full_attention',
    ),
  };
}

const gemma = (metadata: Metadata, largestLayers: number, usual: Windows) => ({
  hidden_activation: 'gelu_pytorch_tanh',
  ...windows(metadata, usual),
  // Like llama.cpp, recognizes the one model size with a different scale by its number of layers.
  query_pre_attn_scalar:
    metadata.needed('block_count') === largestLayers
      ? metadata.needed('embedding_length') / metadata.needed('attention.head_count')
      : headDim(metadata),
});

/** By which vLLM knows a family; Transformers needs only its name. */
const CLASSES: Readonly<Record<string, string>> = {
  llama: 'LlamaForCausalLM',
  mixtral: 'MixtralForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
  qwen3_moe: 'Qwen3MoeForCausalLM',
  olmo2: 'Olmo2ForCausalLM',
  olmo3: 'Olmo3ForCausalLM',
  smollm3: 'SmolLM3ForCausalLM',
  granite: 'GraniteForCausalLM',
  gemma2: 'Gemma2ForCausalLM',
  gemma3_text: 'Gemma3ForCausalLM',
  phi3: 'Phi3ForCausalLM',
};

const hasExperts = (metadata: Metadata): boolean => (metadata.own('expert_count') ?? 0) > 0;

const mixtral = (metadata: Metadata) => ({
  model_type: 'mixtral',
  num_local_experts: metadata.needed('expert_count'),
  num_experts_per_tok: metadata.needed('expert_used_count'),
});

export const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  llama: {
    modelType: 'llama', // Mixtral if it has experts
    interleaved: true,
    experts: true,
    config: (metadata, parts) => ({ ...biases(metadata, parts), ...(hasExperts(metadata) && mixtral(metadata)) }),
  },
  qwen2: { modelType: 'qwen2', interleaved: false, config: () => ({}) },
  qwen3: { modelType: 'qwen3', interleaved: false, config: biases },
  qwen3moe: {
    modelType: 'qwen3_moe',
    interleaved: false,
    experts: true,
    // Fixed by llama.cpp's graph: experts in all layers, weights divided by their sum.
    config: (metadata, parts) => ({
      ...biases(metadata, parts),
      num_experts: metadata.needed('expert_count'),
      num_experts_per_tok: metadata.needed('expert_used_count'),
      moe_intermediate_size:
        metadata.own('expert_feed_forward_length') ??
        metadata.needed('feed_forward_length') / metadata.needed('expert_used_count'),
      norm_topk_prob: true,
      decoder_sparse_step: 1,
      mlp_only_layers: [],
    }),
  },
  olmo2: {
    modelType: 'olmo2', // OLMo 3 if it has windows
    interleaved: false,
    config: (metadata, parts) => ({
      ...biases(metadata, parts),
      ...((metadata.own(WINDOW) ?? 0) > 0 && {
        model_type: 'olmo3',
        ...windows(metadata, { size: null, period: 4 }),
      }),
    }),
  },
  smollm3: { modelType: 'smollm3', interleaved: true, config: () => ({ no_rope_layer_interval: 4 }) }, // as in llama.cpp's graph
  granite: {
    modelType: 'granite',
    interleaved: true,
    config: (metadata, parts) => ({
      ...biases(metadata, parts),
      attention_multiplier: metadata.own('attention.scale') ?? headDim(metadata) ** -0.5,
      embedding_multiplier: metadata.own('embedding_scale') ?? 1,
      residual_multiplier: metadata.own('residual_scale') ?? 1,
      logits_scaling: metadata.needed('logit_scale'),
    }),
  },
  gemma2: {
    modelType: 'gemma2',
    interleaved: false,
    alwaysTied: true,
    config: (metadata) => ({
      ...gemma(metadata, 46, { size: 4096, period: 2 }),
      attn_logit_softcapping: metadata.own('attn_logit_softcapping') ?? 50,
      final_logit_softcapping: metadata.own('final_logit_softcapping') ?? 30,
    }),
  },
  gemma3: {
    modelType: 'gemma3_text',
    interleaved: false,
    config: (metadata) => ({
      ...gemma(metadata, 62, { size: null, period: 6 }),
      final_logit_softcapping: metadata.own('final_logit_softcapping') || null,
      rope_local_base_freq: metadata.own('rope.freq_base_swa') ?? 10_000,
      rope_theta: metadata.own('rope.freq_base') ?? 1_000_000,
    }),
  },
  phi3: {
    modelType: 'phi3',
    interleaved: false,
    rotatesPart: true,
    config: (metadata) => ({
      partial_rotary_factor: metadata.needed('rope.dimension_count') / headDim(metadata),
      sliding_window: metadata.own('attention.sliding_window') || null,
      original_max_position_embeddings: metadata.own('rope.scaling.original_context_length'),
    }),
  },
};

const headDim = (metadata: Metadata): number =>
  metadata.own('attention.key_length') ?? metadata.needed('embedding_length') / metadata.needed('attention.head_count');

const baseOf = (metadata: Metadata): number => metadata.own('rope.freq_base') ?? 10_000;

/** The contents of config.json. Throws `bad_model_files` for unsupported architectures. */
export function configOf(metadata: Metadata, parts: GgufParts): Record<string, unknown> {
  const architecture = architectureOf(metadata);
  if (hasExperts(metadata) && !architecture.experts)
    throw metadata.refuse(
      `its layers route tokens to experts, which is not supported for architecture ${metadata.architecture}`,
    );
  refuseOtherGraphs(metadata, architecture);
  const embedding = parts.tensors.get('token_embd.weight');
  if (!embedding) throw metadata.refuse('it has no tensor token_embd.weight');
  const config: Record<string, unknown> = {
    model_type: architecture.modelType,
    hidden_size: metadata.needed('embedding_length'),
    intermediate_size: metadata.needed('feed_forward_length'),
    num_hidden_layers: metadata.needed('block_count'),
    num_attention_heads: metadata.needed('attention.head_count'),
    num_key_value_heads: metadata.own('attention.head_count_kv') ?? metadata.needed('attention.head_count'),
    head_dim: headDim(metadata),
    max_position_embeddings: metadata.needed('context_length'),
    rms_norm_eps: metadata.needed('attention.layer_norm_rms_epsilon'),
    rope_theta: baseOf(metadata),
    rope_scaling: ropeScaling(metadata, parts),
    tie_word_embeddings: !parts.tensors.has('output.weight'),
    vocab_size: embedding.shape[0]!,
    dtype: 'float32',
    pad_token_id: null, // else Transformers takes the family's own, which may lie beyond the vocabulary
    ...architecture.config(metadata, parts),
  };
  return { architectures: [CLASSES[config['model_type'] as string]], ...config };
}

/** What llama.cpp would compute otherwise than the family does. */
function refuseOtherGraphs(metadata: Metadata, { modelType, rotatesPart }: Architecture): void {
  const isOff = (key: string) => metadata.flag(`${metadata.architecture}.${key}`) === false;
  if (isOff('attention.causal'))
    throw metadata.refuse('its tokens also attend to later ones (attention.causal), which is not supported');
  // For Granite, the key says whether positions are rotated at all.
  if (modelType === 'granite' && isOff('rope.scaling.finetuned'))
    throw metadata.refuse(
      'its layers have no rotary positions (rope.scaling.finetuned), which is not supported for this architecture',
    );
  const rotated = metadata.own('rope.dimension_count') ?? headDim(metadata);
  if (rotatesPart !== true && rotated !== headDim(metadata))
    throw metadata.refuse(
      `it rotates ${rotated} of the ${headDim(metadata)} values of a head (rope.dimension_count), which is not supported for this architecture`,
    );
  const [all, local] = ['rope.freq_base', 'rope.freq_base_swa'].map((key) => metadata.own(key));
  if (modelType !== 'gemma3_text' && local !== null && local !== all)
    throw metadata.refuse(
      'layers with a window have another base of rotary positions (rope.freq_base_swa), which is not supported for this architecture',
    );
}

function architectureOf(metadata: Metadata): Architecture {
  const { architecture } = metadata;
  if (Object.hasOwn(ARCHITECTURES, architecture)) return ARCHITECTURES[architecture]!;
  const type = metadata.text('general.type');
  if (type === 'adapter') throw metadata.refuse('it is an adapter, not a model');
  throw metadata.refuse(
    `architecture ${JSON.stringify(architecture)} is not supported; supported are ${Object.keys(ARCHITECTURES).join(', ')}`,
  );
}

/** GGUF keeps only factors per frequency of Llama 3's scaling and of LongRoPE. What is not Llama 3's is returned in LongRoPE's form. */
function ropeScaling(metadata: Metadata, { ropeFactors }: GgufParts): Record<string, unknown> | null {
  const context = metadata.needed('context_length');
  const original = metadata.own('rope.scaling.original_context_length') ?? context;
  if (ropeFactors !== null) {
    const attention = metadata.own('rope.scaling.attn_factor') ?? 1;
    return (
      (attention === 1 ? llama3Scaling(metadata, ropeFactors) : null) ?? {
        rope_type: 'longrope',
        short_factor: ropeFactors.short,
        long_factor: ropeFactors.long,
        original_max_position_embeddings: original,
        attention_factor: attention,
      }
    );
  }
  const type = metadata.ownText('rope.scaling.type') ?? 'none';
  const factor = metadata.own('rope.scaling.factor') ?? metadata.own('rope.scale_linear');
  if (type === 'yarn') {
    const given = Object.entries({
      attention_factor: metadata.own('rope.scaling.yarn_attn_factor'),
      beta_fast: metadata.own('rope.scaling.yarn_beta_fast'),
      beta_slow: metadata.own('rope.scaling.yarn_beta_slow'),
    }).filter(([, value]) => value !== null);
    return { rope_type: 'yarn', factor, original_max_position_embeddings: original, ...Object.fromEntries(given) };
  }
  if (type !== 'none' && type !== 'linear' && type !== 'longrope')
    throw metadata.refuse(`rope scaling ${JSON.stringify(type)} is not supported`);
  return isNumber(factor) && factor !== 1 && factor !== 0 ? { rope_type: 'linear', factor } : null;
}

function llama3Scaling(metadata: Metadata, { short, long }: RopeFactors): Record<string, unknown> | null {
  const scaling = short === long ? findLlama3Scaling(short, baseOf(metadata)) : null;
  return (
    scaling && {
      rope_type: 'llama3',
      factor: scaling.factor,
      low_freq_factor: scaling.lowFrequencyFactor,
      high_freq_factor: scaling.highFrequencyFactor,
      original_max_position_embeddings: scaling.originalMaxPositions,
    }
  );
}
