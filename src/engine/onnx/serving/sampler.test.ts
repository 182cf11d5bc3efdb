import { expect, test } from 'vitest';
import fc from 'fast-check';
import { createRandom } from '#base/random';
import { sampleToken, type SamplerParams } from './sampler.ts';

/** The obvious way: sort everything, cut, draw. */
function slowSample(logits: Float32Array, { temperature, topK, topP }: SamplerParams, seed: number): number {
  const byLogit = Array.from(logits.keys()).sort((a, b) => logits[b]! - logits[a]! || a - b);
  if (temperature < 1e-5) return byLogit[0]!;
  const best = logits[byLogit[0]!]!;
  const weightOf = (id: number) => Math.exp((logits[id]! - best) / Math.max(temperature, 0.01));
  const worst = topK > 0 && topK < logits.length ? logits[byLogit[topK - 1]!]! : -Infinity;
  const afterTopK = byLogit.filter((id) => logits[id]! >= worst);
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

const plain: SamplerParams = { temperature: 1, topK: 0, topP: 1, topLogprobs: 0 };

test('the sampler and its slow twin choose the same token for the same seed', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 40 }),
      fc.integer({ min: 1, max: 300 }),
      fc.constantFrom(0.01, 1, 10, 60),
      fc.constantFrom(0, 1e-3, 0.3, 0.7, 1, 2),
      fc.constantFrom(0, 1, 5, 70, 299),
      fc.constantFrom(1, 0.99, 0.9, 0.5, 0.01),
      (seed, vocab, spread, temperature, topK, topP) => {
        const logits = randomLogits(seed, vocab, spread);
        const params = { temperature, topK, topP, topLogprobs: 0 };
        const sampled = sampleToken(logits, logSumExp(logits), params, createRandom(seed));
        expect(sampled.tokenId).toBe(slowSample(logits, params, seed));
      },
    ),
    { seed: 1, numRuns: 2_000 },
  );
});

test('tokens are drawn as often as the temperature says', () => {
  const logits = Float32Array.of(0, 1, 2, -50);
  const random = createRandom(7);
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < 20_000; i++) {
    counts[sampleToken(logits, logSumExp(logits), { ...plain, temperature: 2 }, random).tokenId]!++;
  }
  const weights = [1, Math.exp(0.5), Math.exp(1), 0];
  const total = weights.reduce((a, b) => a + b);
  counts.forEach((count, id) => expect(count / 20_000).toBeCloseTo(weights[id]! / total, 1.7));
  expect(counts[3]).toBe(0);
});

test('greedy takes the best token, the lowest id when equal, and draws no random number', () => {
  const random = createRandom(3);
  const logits = Float32Array.of(1, 4, 4, 2);
  expect(sampleToken(logits, logSumExp(logits), { ...plain, temperature: 0 }, random).tokenId).toBe(1);
  expect(random.next()).toBe(createRandom(3).next());
});

test('top_k keeps tokens that equal the k-th best', () => {
  const logits = Float32Array.of(3, 3, 3, 0);
  const random = createRandom(5);
  const seen = new Set<number>();
  for (let i = 0; i < 200; i++) seen.add(sampleToken(logits, logSumExp(logits), { ...plain, topK: 2 }, random).tokenId);
  expect([...seen].sort()).toEqual([0, 1, 2]);
});

test('logprobs are of the raw logits, before temperature and processors', () => {
  const logits = Float32Array.of(0, 1, 2, 3);
  const lse = logSumExp(logits);
  const onlyZero = (row: Float32Array) => row.fill(-Infinity, 1);
  const params = { ...plain, temperature: 0.1, topLogprobs: 2 };
  const sampled = sampleToken(logits, lse, params, createRandom(1), [onlyZero]);
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
  const lse = logSumExp(logits);
  const sorted = Array.from(logits.keys()).sort((a, b) => logits[b]! - logits[a]!);
  for (const k of [1, 5, 20, 64, 65, 500]) {
    const { topLogprobs } = sampleToken(logits, lse, { ...plain, topLogprobs: k }, createRandom(1));
    expect(topLogprobs.map((top) => top.tokenId)).toEqual(sorted.slice(0, k));
  }
});

test('a row that is not a number fails instead of giving a token', () => {
  expect(() => sampleToken(Float32Array.of(NaN, 0), NaN, plain, createRandom(1))).toThrow(/not a number/);
});
