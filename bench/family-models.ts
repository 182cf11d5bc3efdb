// The smallest published model of each family, with the sizes in its config.json on the Hub: the models of benchmarks at real sizes, with
// random weights. In order of parameter count.

export interface FamilyModel {
  readonly name: string;
  /** config.json */
  readonly config: Readonly<Record<string, unknown>> & { readonly model_type: string };
}

const sizes = (
  hidden_size: number,
  intermediate_size: number,
  num_hidden_layers: number,
  [num_attention_heads, num_key_value_heads, head_dim]: readonly [number, number, number],
  vocab_size: number,
  max_position_embeddings: number,
) => ({
  hidden_size,
  intermediate_size,
  num_hidden_layers,
  num_attention_heads,
  num_key_value_heads,
  head_dim,
  vocab_size,
  max_position_embeddings,
});

/** The short factors of Phi-4-mini, one for each rotated pair of values. */
const PHI_FACTORS = Array<number>(48).fill(1);

export const FAMILY_MODELS: readonly FamilyModel[] = [
  {
    name: 'SmolLM2-135M',
    config: {
      model_type: 'llama',
      ...sizes(576, 1536, 30, [9, 3, 64], 49_152, 8192),
      rope_theta: 100_000,
      rms_norm_eps: 1e-5,
      tie_word_embeddings: true,
    },
  },
  {
    name: 'Gemma 3 270M',
    config: {
      model_type: 'gemma3_text',
      ...sizes(640, 2048, 18, [4, 1, 256], 262_144, 32_768),
      sliding_window: 512,
      rope_theta: 1_000_000,
      rope_local_base_freq: 10_000,
      query_pre_attn_scalar: 256,
    },
  },
  {
    name: 'Qwen2.5-0.5B',
    config: {
      model_type: 'qwen2',
      ...sizes(896, 4864, 24, [14, 2, 64], 151_936, 32_768),
      rope_theta: 1_000_000,
      tie_word_embeddings: true,
    },
  },
  {
    name: 'Qwen3-0.6B',
    config: {
      model_type: 'qwen3',
      ...sizes(1024, 3072, 28, [16, 8, 128], 151_936, 40_960),
      rope_theta: 1_000_000,
      tie_word_embeddings: true,
    },
  },
  {
    name: 'Llama-3.2-1B',
    config: {
      model_type: 'llama',
      ...sizes(2048, 8192, 16, [32, 8, 64], 128_256, 131_072),
      rope_theta: 500_000,
      rms_norm_eps: 1e-5,
      rope_scaling: {
        rope_type: 'llama3',
        factor: 32,
        low_freq_factor: 1,
        high_freq_factor: 4,
        original_max_position_embeddings: 8192,
      },
      tie_word_embeddings: true,
    },
  },
  {
    name: 'OLMo-2-1B',
    config: { model_type: 'olmo2', ...sizes(2048, 8192, 16, [16, 16, 128], 100_352, 4096), rope_theta: 500_000 },
  },
  {
    name: 'Granite-3.3-2B',
    config: {
      model_type: 'granite',
      ...sizes(2048, 8192, 40, [32, 8, 64], 49_159, 131_072),
      rope_theta: 10_000_000,
      embedding_multiplier: 12,
      attention_multiplier: 0.015_625,
      residual_multiplier: 0.22,
      logits_scaling: 8,
      tie_word_embeddings: true,
    },
  },
  {
    name: 'Gemma-2-2B',
    config: { model_type: 'gemma2', ...sizes(2304, 9216, 26, [8, 4, 256], 256_000, 8192), query_pre_attn_scalar: 256 },
  },
  {
    name: 'SmolLM3-3B',
    config: {
      model_type: 'smollm3',
      ...sizes(2048, 11_008, 36, [16, 4, 128], 128_256, 65_536),
      rope_theta: 5_000_000,
    },
  },
  {
    name: 'Phi-4-mini',
    config: {
      model_type: 'phi3',
      ...sizes(3072, 8192, 32, [24, 8, 128], 200_064, 131_072),
      partial_rotary_factor: 0.75,
      original_max_position_embeddings: 4096,
      rope_scaling: { type: 'longrope', short_factor: PHI_FACTORS, long_factor: PHI_FACTORS },
      tie_word_embeddings: true,
    },
  },
  {
    name: 'Mistral-7B',
    config: { model_type: 'mistral', ...sizes(4096, 14_336, 32, [32, 8, 128], 32_768, 32_768), rope_theta: 1_000_000 },
  },
  {
    name: 'OLMo-3-7B',
    config: {
      model_type: 'olmo3',
      ...sizes(4096, 11_008, 32, [32, 32, 128], 100_278, 65_536),
      sliding_window: 4096,
      rope_scaling: { rope_type: 'yarn', factor: 8, original_max_position_embeddings: 8192 },
    },
  },
  {
    name: 'Qwen3-30B-A3B',
    config: {
      model_type: 'qwen3_moe',
      ...sizes(2048, 6144, 48, [32, 4, 128], 151_936, 40_960),
      num_experts: 128,
      num_experts_per_tok: 8,
      moe_intermediate_size: 768,
      norm_topk_prob: true,
      rope_theta: 1_000_000,
    },
  },
  {
    name: 'Mixtral-8x7B',
    config: {
      model_type: 'mixtral',
      ...sizes(4096, 14_336, 32, [32, 8, 128], 32_000, 32_768),
      num_local_experts: 8,
      num_experts_per_tok: 2,
    },
  },
];
