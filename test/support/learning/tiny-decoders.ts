// Decoders small enough to check number by number: one per family, each with the family's special features.
import { createRandom, type Random } from '#base/random';
import { parseDecoderConfig, type DecoderConfig } from '#model-files/decoder-config';
import type { TrainingRow } from '#engine/training-engine';

const SIZES = {
  hidden_size: 16,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 24,
  vocab_size: 19,
  max_position_embeddings: 64,
  rms_norm_eps: 1e-6,
};

/** config.json by family. */
export const TINY_CONFIGS = {
  llama: { ...SIZES, model_type: 'llama', head_dim: 4, tie_word_embeddings: false },
  qwen2: { ...SIZES, model_type: 'qwen2', tie_word_embeddings: true },
  qwen3: { ...SIZES, model_type: 'qwen3', head_dim: 8, tie_word_embeddings: true },
} as const;

export type TinyFamily = keyof typeof TINY_CONFIGS;
export const TINY_FAMILIES = Object.keys(TINY_CONFIGS) as TinyFamily[];
export const tinyConfig = (family: TinyFamily): DecoderConfig => parseDecoderConfig(TINY_CONFIGS[family]);

/** A row of one segment; every token after the first is a target. */
export function plainRow(tokens: readonly number[], inputs: Readonly<Record<string, readonly number[]>>): TrainingRow {
  const trained = tokens.length - 1;
  return {
    tokens: Int32Array.from(tokens),
    positions: Int32Array.from(tokens, (_, i) => i),
    segments: new Int32Array(tokens.length),
    parents: Int32Array.of(-1),
    predictFrom: Int32Array.from({ length: trained }, (_, i) => i),
    targets: Int32Array.from(tokens.slice(1)),
    sequenceIds: new Int32Array(trained),
    inputs: Object.fromEntries(Object.entries(inputs).map(([name, values]) => [name, Float32Array.from(values)])),
  };
}

export const randomTokens = (count: number, random: Random, vocab = SIZES.vocab_size): number[] =>
  Array.from({ length: count }, () => random.integer(vocab));

/** A row of random tokens whose targets all weigh the same, 1 in total. */
export function randomRow(length: number, seed: number): TrainingRow {
  const weights = Array.from({ length: length - 1 }, () => 1 / (length - 1));
  return plainRow(randomTokens(length, createRandom(seed)), { weights });
}
