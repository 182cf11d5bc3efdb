import { expect, test } from 'vitest';
import { AppError } from '#domain/errors';
import { parseDecoderConfig } from './decoder-config.ts';
import { decoderParameters } from './decoder-parameters.ts';

const SIZES = {
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 32,
  intermediate_size: 96,
  vocab_size: 300,
  max_position_embeddings: 128,
  rms_norm_eps: 1e-6,
};
const QWEN3 = { ...SIZES, model_type: 'qwen3', rope_theta: 10_000, tie_word_embeddings: true };

const QWEN3_MOE = { model_type: 'qwen3_moe', num_experts: 8, num_experts_per_tok: 2, moe_intermediate_size: 24 };
const GEMMA2 = { model_type: 'gemma2', query_pre_attn_scalar: 16 };
const PHI3 = { model_type: 'phi3', partial_rotary_factor: 0.5, original_max_position_embeddings: 128 };

test('sizes come from config.json, head_dim apart from hidden / heads', () => {
  expect(parseDecoderConfig(QWEN3)).toMatchObject({
    family: 'qwen3',
    headDim: 32,
    kvHeads: 2,
    norms: { queryKey: 'head' },
  });
  expect(parseDecoderConfig({ ...QWEN3, model_type: 'llama', head_dim: undefined }).headDim).toBe(16);
});

test('rope settings are read from where Transformers 4 and 5 write them', () => {
  const llama3 = {
    rope_type: 'llama3',
    factor: 8,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 64,
  };
  const before5 = parseDecoderConfig({ ...QWEN3, rope_theta: 5e5, rope_scaling: llama3 });
  const since5 = parseDecoderConfig({
    ...QWEN3,
    rope_theta: undefined,
    rope_parameters: { rope_theta: 5e5, ...llama3 },
  });
  expect(since5).toEqual(before5);
  expect(since5.attention[1]!.rope).toMatchObject({ theta: 5e5, dim: 32 });
  expect(since5.attention[1]!.rope!.scaling).toMatchObject({ kind: 'llama3', factor: 8, originalMaxPositions: 64 });
});

test.each([
  ['an unknown family, naming the known ones', { model_type: 'mamba' }, /mamba.*llama, qwen2, qwen3/],
  [
    'a family that is not here, with the reason',
    { model_type: 'qwen2_moe' },
    /qwen2_moe.*it has a shared expert.*supported are .*qwen3_moe/,
  ],
  ['layers of a kind that it does not know', { ...GEMMA2, layer_types: ['chunked_attention'] }, /layer_types must be/],
  ['LongRoPE without its factors', { ...PHI3, rope_scaling: { type: 'longrope' } }, /short_factor of 8 numbers/],
  ['an unknown rope scaling', { rope_scaling: { rope_type: 'mrope' } }, /mrope/],
  ['sliding windows', { use_sliding_window: true }, /use_sliding_window/],
  ['another activation', { hidden_act: 'gelu' }, /gelu/],
  ['heads that do not divide', { num_key_value_heads: 3 }, /4 is not a multiple of num_key_value_heads 3/],
  [
    'more experts per token than there are',
    { ...QWEN3_MOE, num_experts_per_tok: 9 },
    /num_experts_per_tok must be .* num_experts \(8\), got 9/,
  ],
  ['experts that nobody counts', { ...QWEN3_MOE, num_experts: undefined }, /num_experts must be a positive number/],
  [
    'dense layers that are no list',
    { ...QWEN3_MOE, mlp_only_layers: 1 },
    /mlp_only_layers must be a list of layers, got 1/,
  ],
  ['a missing size', { intermediate_size: undefined }, /intermediate_size must be a positive number/],
])('refuses %s', (_, change, message) => {
  expect(() => parseDecoderConfig({ ...QWEN3, ...change })).toThrow(AppError);
  expect(() => parseDecoderConfig({ ...QWEN3, ...change })).toThrow(message);
});

test('settings that config.json leaves out default as in Transformers', () => {
  const gemma2 = parseDecoderConfig({ ...SIZES, ...GEMMA2 });
  expect(gemma2.attention.map(({ window }) => window)).toEqual([4096, null]);
  expect(gemma2).toMatchObject({ tiedEmbeddings: true, softCaps: { attention: 50, logits: 30 } });
  const gemma3 = parseDecoderConfig({
    ...SIZES,
    model_type: 'gemma3_text',
    num_hidden_layers: 7,
  });
  expect(gemma3.attention.map(({ window }) => window)).toEqual([4096, 4096, 4096, 4096, 4096, null, 4096]);
  expect(gemma3.attention.slice(4, 6).map(({ rope }) => rope!.theta)).toEqual([10_000, 1_000_000]);
  const smollm3 = parseDecoderConfig({ ...QWEN3, model_type: 'smollm3', num_hidden_layers: 5 });
  expect(smollm3.attention.map(({ rope }) => rope !== null)).toEqual([true, true, true, false, true]);
});

test('the layers with experts are those that Transformers chooses', () => {
  const layersOf = (change: object) =>
    parseDecoderConfig({ ...QWEN3, ...QWEN3_MOE, num_hidden_layers: 4, ...change }).experts!.layers.map(Number);
  expect(layersOf({})).toEqual([1, 1, 1, 1]);
  expect(layersOf({ mlp_only_layers: [0, 2] })).toEqual([0, 1, 0, 1]);
  expect(layersOf({ decoder_sparse_step: 2 })).toEqual([0, 1, 0, 1]);
  expect(layersOf({ num_experts: undefined, num_local_experts: 8 })).toEqual([1, 1, 1, 1]);
  expect(parseDecoderConfig({ ...QWEN3, ...QWEN3_MOE }).experts).toMatchObject({ normalized: false });
  const mixtral = parseDecoderConfig({ ...QWEN3, model_type: 'mixtral', sliding_window: null });
  expect(mixtral.experts).toMatchObject({ count: 8, perToken: 2, normalized: true, intermediate: 96 });
  expect(mixtral.attention[0]).toMatchObject({ window: null });
});

test('LongRoPE is limited to the range of its short factors; dynamic scaling starts beyond any sequence', () => {
  const scaling = { type: 'longrope', short_factor: Array(8).fill(1.5), long_factor: Array(8).fill(9) };
  const phi3 = parseDecoderConfig({ ...QWEN3, ...PHI3, rope_scaling: scaling, max_position_embeddings: 4096 });
  expect(phi3.maxPositions).toBe(128);
  expect(phi3.attention[0]!.rope).toMatchObject({ dim: 16, scaling: { attentionFactor: Math.sqrt(1 + 5 / 7) } });
  const dynamic = parseDecoderConfig({ ...QWEN3, rope_scaling: { rope_type: 'dynamic', factor: 4 } });
  expect(dynamic).toEqual(parseDecoderConfig(QWEN3));
});

test.each([
  ['gptq', { quantization_config: { quant_method: 'gptq', bits: 4 } }],
  ['fp8', { quantization_config: { quant_method: 'fp8', weight_block_size: [128, 128] } }],
  ['bitsandbytes', { quantization_config: { load_in_8bit: true, quant_method: 'bitsandbytes' } }],
  ['pack-quantized', { compression_config: { format: 'pack-quantized' } }],
  ['without a name', { quantization: { group_size: 64, bits: 4 } }],
])('refuses quantisation %s: the codes would be read as weights', (name, change) => {
  const message = new RegExp(`quantised.*${name}.*unquantised.*--precision int8`);
  expect(() => parseDecoderConfig({ ...QWEN3, ...change })).toThrow(message);
});

test('a quantisation method of none counts as no quantisation', () => {
  expect(parseDecoderConfig({ ...QWEN3, quantization_config: null })).toEqual(parseDecoderConfig(QWEN3));
});

test('parameters carry the names of Hugging Face checkpoints; biases and head only where the family has them', () => {
  const names = (change: object) =>
    decoderParameters(parseDecoderConfig({ ...QWEN3, ...change })).map(({ name }) => name);
  expect(names({})).toContain('model.layers.1.self_attn.q_norm.weight');
  expect(names({})).not.toContain('lm_head.weight');
  expect(names({ model_type: 'qwen2' })).toContain('model.layers.0.self_attn.v_proj.bias');
  expect(names({ model_type: 'qwen2' })).not.toContain('model.layers.0.self_attn.o_proj.bias');
  expect(names({ tie_word_embeddings: false })).toContain('lm_head.weight');
  const experts = names({ ...QWEN3_MOE, mlp_only_layers: [1] });
  expect(experts).toContain('model.layers.0.mlp.gate.weight');
  expect(experts).toContain('model.layers.0.mlp.experts.7.down_proj.weight');
  expect(experts).not.toContain('model.layers.0.mlp.gate_proj.weight');
  expect(experts).toContain('model.layers.1.mlp.gate_proj.weight');
  expect(names({ model_type: 'mixtral' })).toContain('model.layers.1.block_sparse_moe.experts.7.w3.weight');
});

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

test.each([
  ['null', null, /config\.json must hold a JSON object, not null/],
  ['a list', [], /must hold a JSON object, not \[\]/],
  [
    'a billion layers',
    { ...QWEN3, num_hidden_layers: 1e9 },
    /num_hidden_layers must be a whole number from 1 to 2048, but is 1000000000/,
  ],
  ['half a layer', { ...QWEN3, num_hidden_layers: 1.5 }, /num_hidden_layers must be a whole number/],
  ['a negative vocabulary', { ...QWEN3, vocab_size: -1 }, /vocab_size must be a positive number, got -1/],
  ['text for a size', { ...QWEN3, hidden_size: '64' }, /hidden_size must be a positive number, got "64"/],
  ['a deep value for a size', { ...QWEN3, hidden_size: nested(100_000) }, /hidden_size must be a positive number/],
  ['a deep type', { ...QWEN3, model_type: nested(100_000) }, /model_type .* is not supported/],
  [
    'heads that do not divide',
    { ...QWEN3, head_dim: undefined, hidden_size: 63 },
    /head_dim must be a whole number from 1 to 8192, but computes to 15\.75/,
  ],
  ['an endless context', { ...QWEN3, max_position_embeddings: 1e30 }, /max_position_embeddings must be a whole number/],
  [
    'a rotation of nothing',
    { ...QWEN3, rope_scaling: { rope_type: 'linear', factor: 0 } },
    /needs the positive number factor, got 0/,
  ],
  ['an infinite rotation', { ...QWEN3, rope_theta: 'Infinity' }, /positive rope_theta/],
  [
    'a million experts',
    { ...QWEN3, ...QWEN3_MOE, num_experts: 1e6 },
    /num_experts must be a whole number from 1 to 8192/,
  ],
  ['half a window', { ...SIZES, ...GEMMA2, sliding_window: 0.5 }, /sliding_window must be a whole number/],
])('%s is refused in a sentence that names the file, the field and its value', (_what, json, message) => {
  let thrown: unknown;
  try {
    parseDecoderConfig(json);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(AppError);
  expect(thrown).toMatchObject({ code: 'bad_model_files' });
  expect((thrown as AppError).message).toMatch(message);
  expect((thrown as AppError).message.length).toBeLessThan(600);
});
