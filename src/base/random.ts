// Seeded randomness for everything that must replay: sampling, LoRA initialisation, shuffles.
// xoshiro128** (Blackman & Vigna, arXiv:1805.01407), seeded by SplitMix32. Not for secrets: see base/ids.ts.

export interface Random {
  /** Uniform in [0, 1), 53 bits. */
  next(): number;
  /** Uniform integer in [0, bound). */
  integer(bound: number): number;
}

export function createRandom(seed: number): Random {
  const state = new Uint32Array(4);
  // Both halves of the seed count: seeds are integers up to 2^53.
  let mix = (seed | 0) ^ Math.imul(Math.floor(seed / 2 ** 32) | 0, 0x9e3779b1);
  for (let i = 0; i < 4; i++) {
    mix = (mix + 0x9e3779b9) | 0;
    let z = mix;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    state[i] = z ^ (z >>> 15);
  }
  function bits32(): number {
    let [a, b, c, d] = state as unknown as [number, number, number, number];
    const multiplied = Math.imul(b, 5);
    const result = Math.imul((multiplied << 7) | (multiplied >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    state.set([a, b, c, d]);
    return result;
  }
  const next = () => (bits32() * 2 ** 21 + (bits32() >>> 11)) / 2 ** 53;
  return { next, integer: (bound) => Math.floor(next() * bound) };
}

/** Fisher–Yates, in place. */
export function shuffle<T>(items: T[], random: Random): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    [items[i], items[j]] = [items[j]!, items[i]!];
  }
  return items;
}
