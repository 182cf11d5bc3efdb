// What the metadata of a GGUF file says about a model: as llama.cpp's graphs read it, also where it says nothing, or refused by key.
import { expect, test } from 'vitest';
import { parseDecoderConfig } from '../decoder-config.ts';
import { configOf } from './architectures.ts';
import type { GgufTensor, GgufValue } from './gguf-header.ts';
import { llama3Factors } from './llama3-factors.ts';
import { readMetadata } from './metadata.ts';

const SIZES = {
  block_count: 8,
  context_length: 4096,
  embedding_length: 64,
  feed_forward_length: 128,
  'attention.head_count': 4,
  'attention.layer_norm_rms_epsilon': 1e-6,
  'rope.freq_base': 500_000,
};
const EMBEDDING: GgufTensor = { name: 'token_embd.weight', shape: [100, 64], type: 0, start: 0, byteLength: 25_600 };

function decoderOf(architecture: string, values: Readonly<Record<string, GgufValue>> = {}) {
  const entries = Object.entries<GgufValue>({ ...SIZES, ...values });
  const own = entries.map(([key, value]) => [`${architecture}.${key}`, value] as const);
  const metadata = readMetadata(new Map([['general.architecture', architecture], ...own]), 'model.gguf');
  const tensors = new Map([[EMBEDDING.name, EMBEDDING]]);
  return parseDecoderConfig(configOf(metadata, { tensors, ropeFactors: null }), 'model.gguf');
}

const configWith = (
  short: readonly number[],
  long: readonly number[],
  values: Readonly<Record<string, GgufValue>> = {},
) => {
  const entries = Object.entries<GgufValue>({ ...SIZES, ...values }).map(
    ([key, value]) => [`llama.${key}`, value] as const,
  );
  const metadata = readMetadata(new Map([['general.architecture', 'llama'], ...entries]), 'model.gguf');
  const ropeFactors = { short, long };
  return configOf(metadata, { tensors: new Map([[EMBEDDING.name, EMBEDDING]]), ropeFactors })['rope_scaling'];
};

const windowsOf = (...given: Parameters<typeof decoderOf>) => decoderOf(...given).attention.map(({ window }) => window);
const YARN = {
  'rope.scaling.type': 'yarn',
  'rope.scaling.factor': 8,
  'rope.scaling.original_context_length': 512,
};

test('OLMo 2 is OLMo 3 where it has windows, and only layers without one scale their positions', () => {
  expect(decoderOf('olmo2')).toMatchObject({ family: 'olmo2' });
  const window = { 'attention.sliding_window': 16 };
  const { family, attention } = decoderOf('olmo2', { ...window, ...YARN });
  expect(family).toBe('olmo3');
  expect(attention.map(({ window, rope }) => [window, rope?.theta, rope?.scaling?.kind])).toEqual(
    [0, 1].flatMap(() => [...Array<unknown>(3).fill([16, 500_000, undefined]), [null, 500_000, 'yarn']]),
  );
  const listed = [true, false, false, true, false, false, false, true];
  for (const pattern of [listed, listed.map(Number)])
    expect(windowsOf('olmo2', { ...window, 'attention.sliding_window_pattern': pattern })).toEqual(
      listed.map((isLocal) => (isLocal ? 16 : null)),
    );
});

test('Gemma’s windows are those of the file, else of llama.cpp', () => {
  const gemma2 = decoderOf('gemma2');
  expect(gemma2.attention.map(({ window }) => window)).toEqual([4096, null, 4096, null, 4096, null, 4096, null]);
  expect(gemma2.softCaps).toEqual({ attention: 50, logits: 30 });
  const window = { 'attention.sliding_window': 16 };
  expect(windowsOf('gemma3', window)).toEqual([16, 16, 16, 16, 16, null, 16, 16]);
  expect(windowsOf('gemma3', { ...window, 'attention.sliding_window_pattern': 2 })).toEqual(
    [0, 1, 2, 3].flatMap(() => [16, null]),
  );
  const local = decoderOf('gemma3', { ...window, 'rope.freq_base_swa': 20_000 }).attention;
  expect(local.map(({ rope }) => rope!.theta)).toEqual([...Array<number>(5).fill(20_000), 500_000, 20_000, 20_000]);
  const without = decoderOf('gemma3').attention;
  expect(without.map(({ window, rope }) => [window, rope!.theta])).toEqual(Array<unknown>(8).fill([null, 500_000]));
});

test('yarn is what the file says of it', () => {
  const more = { 'rope.scaling.yarn_beta_fast': 4, 'rope.scaling.yarn_attn_factor': 1.5 };
  const scaling = (values: Readonly<Record<string, GgufValue>>) =>
    decoderOf('llama', { ...YARN, ...values }).attention[0]!.rope!.scaling;
  expect(scaling({})).toMatchObject({ factor: 8, betaFast: 32, betaSlow: 1, attentionFactor: 1 + 0.1 * Math.log(8) });
  expect(scaling(more)).toMatchObject({ factor: 8, betaFast: 4, betaSlow: 1, attentionFactor: 1.5 });
});

test('a Granite without a scale of its own divides by the root of a head’s size', () => {
  expect(decoderOf('granite', { logit_scale: 4 }).multipliers).toEqual({
    embedding: 1,
    attention: 0.25,
    residual: 1,
    logits: 0.25,
  });
});

test.each([
  ['granite', {}, /no granite\.logit_scale/],
  ['granite', { logit_scale: 4, 'rope.scaling.finetuned': false }, /no rotary positions \(rope\.scaling\.finetuned\)/],
  ['qwen3', { 'attention.causal': false }, /later ones \(attention\.causal\)/],
  ['qwen2', { 'rope.dimension_count': 8 }, /rotates 8 of the 16 values of a head \(rope\.dimension_count\)/],
  ['gemma2', { 'rope.freq_base_swa': 10_000 }, /\(rope\.freq_base_swa\)/],
] as const)('%s with %j is refused', (architecture, values, reason) => {
  expect(() => decoderOf(architecture, values)).toThrow(reason);
});

test('factors of rotary positions are Llama 3’s scaling again, or those of LongRoPE in full', () => {
  const usual = { factor: 32, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalMaxPositions: 8192 };
  const factors = [...Float32Array.from(llama3Factors(usual, 500_000, 16))];
  expect(factors.slice(0, 2)).toEqual([1, 1]);
  expect(new Set(factors).size).toBeGreaterThan(2);
  expect(configWith(factors, factors)).toEqual({
    rope_type: 'llama3',
    factor: 32,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 8192,
  });
  const longRope = { rope_type: 'longrope', original_max_position_embeddings: 4096, attention_factor: 1 };
  const twice = factors.map((factor) => 2 * factor);
  for (const [short, long] of [
    [twice, twice],
    [factors, twice],
  ] as const)
    expect(configWith(short, long)).toEqual({ ...longRope, short_factor: short, long_factor: long });
  expect(configWith(factors, factors, { 'rope.scaling.attn_factor': 1.5 })).toMatchObject({ attention_factor: 1.5 });
});
