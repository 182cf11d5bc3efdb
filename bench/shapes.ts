// Model shapes for benchmarks, with random weights: speed does not depend on the values.
import { parseDecoderConfig, type DecoderConfig } from '#model-files/decoder-config';

const shape = (sizes: Readonly<Record<string, unknown>>): DecoderConfig =>
  parseDecoderConfig({
    model_type: 'qwen3',
    hidden_size: 1024,
    num_hidden_layers: 28,
    num_attention_heads: 16,
    num_key_value_heads: 8,
    head_dim: 128,
    intermediate_size: 3072,
    vocab_size: 151_936,
    max_position_embeddings: 2048,
    rope_theta: 1_000_000,
    tie_word_embeddings: true,
    ...sizes,
  });

export const SHAPES: Readonly<Record<string, DecoderConfig>> = {
  'qwen3-0.6b': shape({}),
  'qwen3-1.7b': shape({ hidden_size: 2048, intermediate_size: 6144 }),
  /** Llama 3.2 1B's sizes in Qwen3's architecture. */
  '1b': shape({
    hidden_size: 2048,
    num_hidden_layers: 16,
    num_attention_heads: 32,
    head_dim: 64,
    intermediate_size: 8192,
    vocab_size: 128_256,
    rope_theta: 500_000,
  }),
  /** SmolLM2-135M's sizes in Qwen3's architecture. */
  '135m': shape({
    hidden_size: 576,
    num_hidden_layers: 30,
    num_attention_heads: 9,
    num_key_value_heads: 3,
    head_dim: 64,
    intermediate_size: 1536,
    vocab_size: 49_152,
    rope_theta: 100_000,
  }),
  /** Half as many experts as Qwen3-30B-A3B, each of them small. */
  'moe-80m': shape({
    model_type: 'qwen3_moe',
    hidden_size: 512,
    num_hidden_layers: 6,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    head_dim: 64,
    num_experts: 64,
    num_experts_per_tok: 8,
    moe_intermediate_size: 128,
    norm_topk_prob: true,
    vocab_size: 16_384,
  }),
  /** For a quick look. */
  '20m': shape({
    hidden_size: 384,
    num_hidden_layers: 6,
    num_attention_heads: 6,
    num_key_value_heads: 2,
    head_dim: 64,
    intermediate_size: 1024,
    vocab_size: 16_384,
    rope_theta: 10_000,
  }),
};
