// Chooses the sampler for a request: the one that has computed the longest prefix of its prompt, unless it is much busier than the
// others; otherwise the one with the least work for its size. Pure except for its bounded memory of where prefixes were sent.
// Knows no connections.
import { LRUCache } from 'lru-cache';

/** Prefixes are compared in pieces of this many tokens, the block size of prefix caches (vLLM's is 16, ours 128). */
const PIECE = 64;
/** Longer prefixes make no difference to the choice. */
const PIECES_MAX = 64;
/** 16 MB at most. */
const BEGINNINGS_MAX = 131_072;
/** Fraction of its size: a sampler this much fuller than the emptiest one loses the request despite a shared prefix. */
const IMBALANCE_MAX = 0.5;

export interface Candidate {
  readonly id: string;
  /** Choices that run or wait on it. */
  readonly load: number;
  /** Choices that it computes at once. */
  readonly size: number;
}

export interface Wanted {
  readonly promptTokens: readonly number[];
  /** Computed prompts are shared only within one namespace: the adapter and the caller's scope. */
  readonly scope: string;
  /** The request uses an adapter on the output head. */
  readonly isOnHead: boolean;
}

export interface Router {
  /** Returns null if there is no sampler. */
  choose(candidates: readonly Candidate[], wanted: Omit<Wanted, 'isOnHead'>): string | null;
}

export function createRouter(): Router {
  const beginnings = new LRUCache<number, string>({ max: BEGINNINGS_MAX });
  return {
    choose(candidates, { promptTokens, scope }) {
      const emptiest = candidates.reduce<Candidate | null>((a, b) => (a && fullness(a) <= fullness(b) ? a : b), null);
      if (!emptiest) return null;
      const keys = beginningKeys(promptTokens, scope);
      const chosen = longestShared(keys, candidates, emptiest) ?? emptiest;
      for (const key of keys) beginnings.set(key, chosen.id);
      return chosen.id;
    },
  };

  function longestShared(
    keys: readonly number[],
    candidates: readonly Candidate[],
    emptiest: Candidate,
  ): Candidate | null {
    for (const key of keys.toReversed()) {
      const id = beginnings.get(key);
      const candidate = candidates.find((each) => each.id === id);
      if (candidate) return fullness(candidate) - fullness(emptiest) > IMBALANCE_MAX ? null : candidate;
    }
    return null;
  }
}

export const fullness = ({ load, size }: Candidate): number => load / size;

/** Returns one hash per whole piece, of all tokens up to its end. A collision costs a worse choice of sampler, nothing else. */
function beginningKeys(tokens: readonly number[], scope: string): number[] {
  let hash = hashText(scope);
  const keys: number[] = [];
  const end = Math.min(tokens.length - (tokens.length % PIECE), PIECE * PIECES_MAX);
  for (let at = 0; at < end; at++) {
    hash = mix(hash, tokens[at]!);
    if ((at + 1) % PIECE === 0) keys.push(hash);
  }
  return keys;
}

const hashText = (text: string): number =>
  [...text].reduce((hash, letter) => mix(hash, letter.codePointAt(0)!), 2 ** 31);

/** FNV-1a (Fowler, Noll, Vo) in 32 bits. */
const mix = (hash: number, value: number): number => (Math.imul(hash ^ value, 0x9e3779b1) ^ (hash >>> 15)) >>> 0;
