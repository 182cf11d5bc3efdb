import { expect, test } from 'vitest';
import fc from 'fast-check';
import { createRandom, type Random } from '#base/random';
import { LOGIT_BLOCK } from '../graph/log-sum-exp.ts';
import type { LogitRow } from './logits.ts';
import type { LogitsProcessor } from './logits-processors.ts';
import { sampleToken, type SamplerParams } from './sampler.ts';

/** The plain way: sort everything, cut, draw. */
function slowSample(logits: Float32Array, { temperature, topK, topP, minP }: SamplerParams, seed: number): number {
  const byLogit = Array.from(logits.keys()).sort((a, b) => logits[b]! - logits[a]! || a - b);
  if (temperature < 1e-5) return byLogit[0]!;
  const best = logits[byLogit[0]!]!;
  const weightOf = (id: number) => Math.exp((logits[id]! - best) / Math.max(temperature, 0.01));
  const worst = topK > 0 && topK < logits.length ? logits[byLogit[topK - 1]!]! : -Infinity;
  const afterTopK = byLogit.filter((id) => logits[id]! >= worst && weightOf(id) >= minP);
  const total = afterTopK.reduce((sum, id) => sum + weightOf(id), 0);
  const kept: number[] = [];
  let before = 0;
  for (const id of afterTopK) {
    if (topP < 1 && before >= topP * total) break;
    kept.push(id);
    before += weightOf(id);
  }
  kept.sort((a, b) => a - b);
  let target = createRandom(seed).next() * kept.reduce((sum, id) => sum + weightOf(id), 0);
  for (const id of kept) {
    target -= weightOf(id);
    if (target < 0) return id;
  }
  return kept.at(-1)!;
}

function logSumExp(logits: Float32Array): number {
  const best = Math.max(...logits);
  return best + Math.log(logits.reduce((sum, x) => sum + Math.exp(x - best), 0));
}

function randomLogits(seed: number, vocab: number, spread: number): Float32Array {
  const random = createRandom(seed);
  return Float32Array.from({ length: vocab }, () => (random.next() + random.next() + random.next() - 1.5) * spread);
}

const plain: SamplerParams = { temperature: 1, topK: 0, topP: 1, minP: 0, topLogprobs: 0, logprobTokenIds: null };

const sample = (
  logits: Float32Array,
  params: SamplerParams,
  random: Random,
  { processors = [], mask = null }: { processors?: LogitsProcessor[]; mask?: Int32Array | null } = {},
) => sampleRow({ logits, logsumexp: logSumExp(logits), blocks: null }, params, random, { processors, mask });

const sampleRow = (
  row: LogitRow,
  params: SamplerParams,
  random: Random,
  { processors = [], mask = null }: { processors?: LogitsProcessor[]; mask?: Int32Array | null } = {},
) => sampleToken({ row, mask, processors, sequence: { tokens: [], promptTokenCount: 0 } }, params, random);

/** The first `tokenCount` logits, with what the graph says about blocks of all of them: the others are padding. */
function blockedRow(logits: Float32Array, tokenCount: number): LogitRow {
  const blocks = Array.from({ length: Math.ceil(logits.length / LOGIT_BLOCK) }, (_, block) =>
    logits.subarray(block * LOGIT_BLOCK, (block + 1) * LOGIT_BLOCK),
  );
  return {
    logits: logits.subarray(0, tokenCount),
    logsumexp: logSumExp(logits),
    blocks: { maxima: Float32Array.from(blocks, (of) => Math.max(...of)), sums: Float32Array.from(blocks, logSumExp) },
  };
}

test('the sampler and its slow twin choose the same token for the same seed', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 40 }),
      fc.integer({ min: 1, max: 300 }),
      fc.constantFrom(0.01, 1, 10, 60),
      fc.constantFrom(0, 1e-3, 0.3, 0.7, 1, 2),
      fc.constantFrom(0, 1, 5, 70, 299),
      fc.constantFrom(1, 0.99, 0.9, 0.5, 0.01),
      fc.constantFrom(0, 0, 0.013, 0.2),
      (seed, vocab, spread, temperature, topK, topP, minP) => {
        const logits = randomLogits(seed, vocab, spread);
        const params = { temperature, topK, topP, minP, topLogprobs: 0, logprobTokenIds: null };
        const sampled = sample(logits, params, createRandom(seed));
        expect(sampled.tokenId).toBe(slowSample(logits, params, seed));
      },
    ),
    { seed: 1, numRuns: 2_000 },
  );
});

test('with the sums and maxima of blocks, the sampler and its slow twin choose the same', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 40 }),
      fc.integer({ min: 1, max: 700 }),
      fc.constantFrom(0, 1, 40, 300),
      fc.constantFrom(0.01, 1, 10, 60),
      fc.constantFrom(0, 0.7, 1, 1),
      fc.constantFrom(0, 0, 5, 70),
      fc.constantFrom(1, 1, 0.9),
      fc.constantFrom(0, 0, 0.2),
      (seed, tokenCount, padding, spread, temperature, topK, topP, minP) => {
        const row = blockedRow(randomLogits(seed, tokenCount + padding, spread), tokenCount);
        const params = { temperature, topK, topP, minP, topLogprobs: 5, logprobTokenIds: null };
        const sampled = sampleRow(row, params, createRandom(seed));
        expect(sampled.tokenId).toBe(slowSample(row.logits, params, seed));
        expect(sampled.topLogprobs).toEqual(
          sampleRow({ ...row, blocks: null }, params, createRandom(seed)).topLogprobs,
        );
      },
    ),
    { seed: 1, numRuns: 2_000 },
  );
});

test('under a mask, the sampler chooses what its slow twin chooses among the tokens that stay', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 40 }),
      fc.integer({ min: 1, max: 700 }),
      fc.constantFrom(0.02, 0.5, 0.98, 1),
      fc.constantFrom(1, 10, 60),
      fc.constantFrom(0, 0.7, 1, 1),
      fc.constantFrom(1, 1, 0.9),
      (seed, tokenCount, share, spread, temperature, topP) => {
        const row = blockedRow(randomLogits(seed, tokenCount, spread), tokenCount);
        const random = createRandom(seed + 1);
        const stays = Array.from({ length: tokenCount }, (_, id) => id === seed % tokenCount || random.next() < share);
        const mask = new Int32Array(Math.ceil(tokenCount / 32));
        stays.forEach((isIn, id) => (mask[id >> 5]! |= (isIn ? 1 : 0) << (id & 31)));
        const left = row.logits.map((logit, id) => (stays[id] ? logit : -Infinity));
        const params = { ...plain, temperature, topP };
        const sampled = sampleRow(row, params, createRandom(seed), { mask });
        expect(sampled.tokenId).toBe(slowSample(left, params, seed));
        expect(sampled.logprob).toBeCloseTo(left[sampled.tokenId]! - logSumExp(left), 5);
      },
    ),
    { seed: 1, numRuns: 1_000 },
  );
});

test('where all tokens are excluded and only padding is not, the draw fails with the reason', () => {
  const logits = new Float32Array(400).fill(-Infinity);
  logits[399] = 1;
  expect(() => sampleRow(blockedRow(logits, 300), plain, createRandom(1))).toThrow(/No token can/);
});

test('tokens are drawn as often as the temperature says', () => {
  const logits = Float32Array.of(0, 1, 2, -50);
  const random = createRandom(7);
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < 20_000; i++) {
    counts[sample(logits, { ...plain, temperature: 2 }, random).tokenId]!++;
  }
  const weights = [1, Math.exp(0.5), Math.exp(1), 0];
  const total = weights.reduce((a, b) => a + b);
  counts.forEach((count, id) => expect(count / 20_000).toBeCloseTo(weights[id]! / total, 1.7));
  expect(counts[3]).toBe(0);
});

test('greedy takes the best token, the lowest id when equal, and draws no random number', () => {
  const random = createRandom(3);
  const logits = Float32Array.of(1, 4, 4, 2);
  expect(sample(logits, { ...plain, temperature: 0 }, random).tokenId).toBe(1);
  expect(random.next()).toBe(createRandom(3).next());
});

test('top_k keeps tokens that equal the k-th best', () => {
  const logits = Float32Array.of(3, 3, 3, 0);
  const random = createRandom(5);
  const seen = new Set<number>();
  for (let i = 0; i < 200; i++) seen.add(sample(logits, { ...plain, topK: 2 }, random).tokenId);
  expect([...seen].sort()).toEqual([0, 1, 2]);
});

test('logprobs are of the raw logits, before temperature and processors', () => {
  const logits = Float32Array.of(0, 1, 2, 3);
  const lse = logSumExp(logits);
  const onlyZero = (row: Float32Array) => row.fill(-Infinity, 1);
  const params = { ...plain, temperature: 0.1, topLogprobs: 2 };
  const sampled = sample(logits, params, createRandom(1), { processors: [onlyZero] });
  expect(sampled.tokenId).toBe(0);
  expect(sampled.logprob).toBe(Math.fround(0 - lse));
  expect(sampled.topLogprobs).toEqual([
    { tokenId: 3, logprob: Math.fround(3 - lse) },
    { tokenId: 2, logprob: Math.fround(2 - lse) },
  ]);
  expect([...logits]).toEqual([0, 1, 2, 3]);
});

test('top logprobs are the true top k, best first, for every k', () => {
  const logits = randomLogits(11, 500, 5);
  const sorted = Array.from(logits.keys()).sort((a, b) => logits[b]! - logits[a]!);
  for (const k of [1, 5, 20, 64, 65, 500]) {
    const { topLogprobs } = sample(logits, { ...plain, topLogprobs: k }, createRandom(1));
    expect(topLogprobs.map((top) => top.tokenId)).toEqual(sorted.slice(0, k));
  }
});

test('requested tokens are listed after the sampled one, likely or not', () => {
  const logits = Float32Array.of(0, 1, 2, 3);
  const listed = (logprobTokenIds: number[]) =>
    sample(logits, { ...plain, temperature: 0, topLogprobs: 2, logprobTokenIds }, createRandom(1)).topLogprobs;
  expect(listed([0, 2]).map(({ tokenId }) => tokenId)).toEqual([3, 0, 2]);
  expect(listed([1, 3]).map(({ tokenId }) => tokenId)).toEqual([3, 1]);
  expect(listed([0])[1]!.logprob).toBe(Math.fround(0 - logSumExp(logits)));
});

test('a row that is not a number fails instead of giving a token', () => {
  expect(() => sample(Float32Array.of(NaN, 0), plain, createRandom(1))).toThrow(/logits are not finite/);
});

test('a mask leaves only its tokens, and shows in the log-probabilities', () => {
  const logits = Float32Array.of(5, 1, 2, 3);
  const { tokenId, logprob, topLogprobs } = sample(
    logits,
    { ...plain, temperature: 0, topLogprobs: 2 },
    createRandom(1),
    { mask: Int32Array.of(0b0110) },
  );
  expect(tokenId).toBe(2);
  expect(logprob).toBeCloseTo(2 - Math.log(Math.exp(1) + Math.exp(2)), 6);
  expect(topLogprobs.map((top) => top.tokenId)).toEqual([2, 1]);
});

test('a position at which every token is excluded fails with the reason', () => {
  const nothing: LogitsProcessor = (row) => void row.fill(-Infinity);
  expect(() => sample(Float32Array.of(1, 2), plain, createRandom(1), { processors: [nothing] })).toThrow(
    /No token can/,
  );
});
