import { expect, test } from 'vitest';
import { AppError } from '#domain/errors';
import { parseDecoderConfig } from './config.ts';
import { decoderParameters } from './parameters.ts';

const QWEN3 = {
  model_type: 'qwen3',
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 32,
  intermediate_size: 96,
  vocab_size: 300,
  max_position_embeddings: 128,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  tie_word_embeddings: true,
};

test('sizes come from config.json, head_dim apart from hidden / heads', () => {
  expect(parseDecoderConfig(QWEN3)).toMatchObject({ family: 'qwen3', headDim: 32, kvHeads: 2, queryKeyNorm: true, qkvBias: false });
  expect(parseDecoderConfig({ ...QWEN3, model_type: 'llama', head_dim: undefined }).headDim).toBe(16);
});

test('rope settings are read from where Transformers 4 and 5 write them', () => {
  const llama3 = { rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 64 };
  const before5 = parseDecoderConfig({ ...QWEN3, rope_theta: 5e5, rope_scaling: llama3 });
  const since5 = parseDecoderConfig({ ...QWEN3, rope_theta: undefined, rope_parameters: { rope_theta: 5e5, ...llama3 } });
  expect(since5).toEqual(before5);
  expect(since5.ropeScaling).toMatchObject({ kind: 'llama3', factor: 8, originalMaxPositions: 64 });
});

test.each([
  ['an unknown family, naming the known ones', { model_type: 'mamba' }, /mamba.*llama, qwen2, qwen3/],
  ['an unknown rope scaling', { rope_scaling: { rope_type: 'yarn', factor: 4 } }, /yarn/],
  ['sliding windows', { use_sliding_window: true }, /use_sliding_window/],
  ['another activation', { hidden_act: 'gelu' }, /gelu/],
  ['heads that do not divide', { num_key_value_heads: 3 }, /4 is not a multiple of num_key_value_heads 3/],
  ['a missing size', { intermediate_size: undefined }, /intermediate_size must be a positive number/],
])('refuses %s', (_, change, message) => {
  expect(() => parseDecoderConfig({ ...QWEN3, ...change })).toThrow(AppError);
  expect(() => parseDecoderConfig({ ...QWEN3, ...change })).toThrow(message);
});

test('parameters carry the names of Hugging Face checkpoints; biases and head only where the family has them', () => {
  const names = (change: object) => decoderParameters(parseDecoderConfig({ ...QWEN3, ...change })).map(({ name }) => name);
  expect(names({})).toContain('model.layers.1.self_attn.q_norm.weight');
  expect(names({})).not.toContain('lm_head.weight');
  expect(names({ model_type: 'qwen2' })).toContain('model.layers.0.self_attn.v_proj.bias');
  expect(names({ model_type: 'qwen2' })).not.toContain('model.layers.0.self_attn.o_proj.bias');
  expect(names({ tie_word_embeddings: false })).toContain('lm_head.weight');
});
