import { expect, test } from 'vitest';
import { parseDecoderConfig } from '#model-files/decoder-config';
import { decoderParameters } from '#model-files/decoder-parameters';
import { limitsOf, planMemory, type MemoryPart, type MemoryPlan, type MemoryWishes } from './memory-plan.ts';
import { cacheBytesPerToken } from './serving/kv-cache.ts';

/** Qwen3 0.6B. */
const config = parseDecoderConfig({
  model_type: 'qwen3',
  hidden_size: 1024,
  num_hidden_layers: 28,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  head_dim: 128,
  intermediate_size: 3072,
  vocab_size: 151_936,
  max_position_embeddings: 40_960,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: true,
});
const model = { id: 'a', config };
const FLOATS = 4 * decoderParameters(config).reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0);

const wishes = (changes: Partial<MemoryWishes> = {}): MemoryWishes => ({
  samples: true,
  trains: true,
  precision: 'float32',
  kvCacheDtype: 'float32',
  trainingPrecision: 'float32',
  memoryBytes: 64e9,
  contextLengthMax: null,
  cacheBytes: null,
  prefixCacheBytes: null,
  adapterBytes: null,
  trainingMemoryBytes: null,
  ...changes,
});
const bytesOf = ({ parts }: MemoryPlan, part: MemoryPart, id: string | null = 'a') =>
  parts.find((each) => each.part === part && each.model === id)?.bytes;

test('with enough memory, everything has its default size, and sampler and trainer have separate weights', () => {
  const plan = planMemory([model], wishes());
  expect(plan.fits).toBe(true);
  expect(bytesOf(plan, 'weights')).toBe(2 * FLOATS);
  expect(bytesOf(plan, 'kv_cache')).toBe(4 * 2 ** 30);
  expect(bytesOf(plan, 'prefix_cache')).toBe(2 ** 30);
  expect(bytesOf(plan, 'training')).toBe(0.4 * 64e9);
  expect(plan.bytes).toBe(plan.parts.reduce((sum, { bytes }) => sum + bytes, 0));
});

test.each([
  ['int8', 1.375, 0.01],
  ['w8a8', 1, 0.01],
] as const)(
  '%s: linears and head take about %d bytes, the embedding nothing, and a trainer all of it in float32',
  (precision, per, within) => {
    const alone = bytesOf(planMemory([model], wishes({ precision, trains: false })), 'weights')!;
    const expected = (FLOATS / 4) * per; // the head is tied: rounded in addition to the embedding, whose pages are not kept
    expect(Math.abs(alone / expected - 1)).toBeLessThan(within);
    expect(bytesOf(planMemory([model], wishes({ precision })), 'weights')).toBe(alone + FLOATS);
  },
);

test('keys and values in 16 bits halve the minimum memory of a context', () => {
  const least = (kvCacheDtype: MemoryWishes['kvCacheDtype']) =>
    bytesOf(planMemory([model], wishes({ kvCacheDtype, contextLengthMax: 40_960, memoryBytes: 1e6 })), 'kv_cache');
  expect(least('float16')).toBe(2 * 28 * 8 * 128 * 2 * 40_960);
  expect(least('float32')).toBe(2 * least('float16')!);
});

test('a trainer in int8 maps about 1.125 bytes per weight and the embedding, and has room for the head in float32', () => {
  const [whole, rounded] = (['float32', 'int8'] as const).map((trainingPrecision) =>
    planMemory([model], wishes({ samples: false, trainingPrecision, memoryBytes: 1 })),
  ) as [MemoryPlan, MemoryPlan];
  const head = 4 * config.vocab * config.hidden;
  expect(bytesOf(whole, 'weights')).toBe(FLOATS);
  expect(Math.abs(bytesOf(rounded, 'weights')! / ((FLOATS / 4) * 1.125 + head) - 1)).toBeLessThan(0.01);
  expect(bytesOf(rounded, 'training')! - bytesOf(whole, 'training')!).toBe(head);
});

test('with less memory, sizes without a setting shrink in proportion, down to the needs of one sequence', () => {
  let before = Infinity;
  for (const memoryBytes of [20e9, 14e9, 10e9]) {
    const plan = planMemory([model], wishes({ memoryBytes }));
    expect(plan.fits, String(memoryBytes)).toBe(true);
    expect(plan.bytes).toBeLessThanOrEqual(memoryBytes);
    const cache = bytesOf(plan, 'kv_cache')!;
    expect(cache).toBeGreaterThanOrEqual(1024 * cacheBytesPerToken(config));
    expect(cache).toBeLessThan(before);
    before = cache;
  }
});

test('sizes with a setting are kept, or the plan does not fit', () => {
  const named = { cacheBytes: 5e9, prefixCacheBytes: 0, adapterBytes: 1e9, trainingMemoryBytes: 3e9 };
  const plan = planMemory([model], wishes({ ...named, memoryBytes: 17e9 }));
  expect(plan.fits).toBe(true);
  expect(limitsOf(plan, 'a', { ...named, contextLengthMax: 7 })).toEqual({ ...named, contextLengthMax: 7 });
  expect(planMemory([model], wishes({ ...named, memoryBytes: 10e9 })).fits).toBe(false);
});

test('a configured context fits whole', () => {
  const contextLengthMax = 20_000;
  const whole = contextLengthMax * cacheBytesPerToken(config);
  expect(
    bytesOf(planMemory([model], wishes({ contextLengthMax, memoryBytes: 16e9 })), 'kv_cache'),
  ).toBeGreaterThanOrEqual(whole);
  expect(planMemory([model], wishes({ contextLengthMax, memoryBytes: 6e9 })).fits).toBe(false);
});

test('the error for a plan that does not fit states the minimum memory, and the plan fits from there on', () => {
  const short = planMemory([model], wishes({ memoryBytes: 1e9 }));
  expect(short.fits).toBe(false);
  expect(short.bytes).toBe(short.parts.reduce((sum, { bytes }) => sum + bytes, 0));
  expect(planMemory([model], wishes({ memoryBytes: short.bytes })).fits).toBe(true);
  expect(planMemory([model], wishes({ memoryBytes: short.bytes - 1 })).fits).toBe(false);
});

test('several models are planned together, and divide the shared memory', () => {
  const plan = planMemory([model, { id: 'b', config }], wishes());
  for (const id of ['a', 'b']) {
    expect(bytesOf(plan, 'weights', id)).toBe(2 * FLOATS);
    expect(bytesOf(plan, 'kv_cache', id)).toBe(2 * 2 ** 30);
    expect(bytesOf(plan, 'training', id)).toBe(0.2 * 64e9);
  }
  expect(plan.parts.filter(({ model: of }) => of === null)).toHaveLength(1);
});

test('a role that a server does not have takes nothing', () => {
  const serving = planMemory([model], wishes({ trains: false }));
  expect(bytesOf(serving, 'training')).toBeUndefined();
  const training = planMemory([model], wishes({ samples: false }));
  expect(bytesOf(training, 'kv_cache')).toBeUndefined();
  expect(limitsOf(training, 'a', wishes()).cacheBytes).toBeNull();
  const neither = planMemory([model], wishes({ samples: false, trains: false }));
  expect(bytesOf(neither, 'weights')).toBe(0);
});

test('experts are counted whole, in 8 bits with w8a8; int8 is refused with an alternative', () => {
  const moe = { model_type: 'qwen3_moe', num_experts: 16, num_experts_per_tok: 4, moe_intermediate_size: 256 };
  const sizes = {
    hidden_size: 512,
    num_hidden_layers: 2,
    num_attention_heads: 8,
    num_key_value_heads: 2,
    vocab_size: 64,
  };
  const config = parseDecoderConfig({ ...moe, ...sizes, max_position_embeddings: 512 });
  const weights = (changes: Partial<MemoryWishes>) =>
    bytesOf(planMemory([{ id: 'a', config }], wishes(changes)), 'weights')!;
  const experts = 2 * 16 * 3 * 512 * 256;
  expect(weights({ trains: false })).toBeGreaterThan(4 * experts);
  expect(weights({ trains: false, precision: 'w8a8' })).toBeLessThan(1.5 * experts);
  // The trainer maps the sampler's pages too, in float32.
  const [both, served, trained] = [{}, { trains: false }, { samples: false }].map(weights) as [number, number, number];
  expect(served + trained - both).toBe(4 * experts);
  const [codes, rounded] = [weights({ trains: false, precision: 'w8a8' }), weights({ precision: 'w8a8' })];
  expect(rounded).toBe(codes + trained);
  expect(() => weights({ precision: 'int8' })).toThrow(
    /^--precision int8 does not support models with experts \(qwen3_moe\). Use --precision w8a8/,
  );
  expect(() => weights({ trainingPrecision: 'int8' })).toThrow(
    /^--training-precision int8 does not support models with experts \(qwen3_moe\). Leave the option out/,
  );
});
