// Which sampler gets a request: the one that has computed the longest beginning of its prompt, unless it has much more to do than the
// others; else the one with the least to do for its size. Pure but for its memory of where beginnings went, which is bounded.
// Knows no connections.
import { LRUCache } from 'lru-cache';

/** Beginnings are known by pieces of this many tokens: the grain of prefix caches (vLLM's is 16, ours 128). */
const PIECE = 64;
/** Further in, sharing is decided long before. */
const PIECES_MAX = 64;
/** 16 MB at most. */
const BEGINNINGS_MAX = 131_072;
/** Of its size: a sampler that is this much fuller than the emptiest gives a shared beginning up. */
const IMBALANCE_MAX = 0.5;

export interface Candidate {
  readonly id: string;
  /** Choices that run or wait there. */
  readonly load: number;
  /** Choices that it computes at once. */
  readonly size: number;
}

export interface Wanted {
  readonly promptTokens: readonly number[];
  /** Computed prompts are shared within it only: the adapter, and the caller's scope. */
  readonly scope: string;
  /** With an adapter of the output head. */
  readonly isOnHead: boolean;
}

export interface Router {
  /** Null: there is none. */
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

const fullness = ({ load, size }: Candidate): number => load / size;

/** One for each whole piece: of everything up to its end. Two beginnings of one key cost a detour, nothing else. */
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

/** Fowler, Noll and Vo's way, in 32 bits. */
const mix = (hash: number, value: number): number => (Math.imul(hash ^ value, 0x9e3779b1) ^ (hash >>> 15)) >>> 0;
