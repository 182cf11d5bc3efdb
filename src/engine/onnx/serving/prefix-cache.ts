// Keys, values and logits of prompts that were computed before, so that the next request with the same prefix does not
// compute them again. Blocks are exactly the chunks of prefill (arXiv:2309.06180 §4.3 shares pages in the same way): a chunk's
// numbers depend on the tokens before it and on where it ends, so an answer has the same bits with a full cache and with
// an empty one. Completions are not kept: decode computes them by other kernels than prefill would.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { NewKeysAndValues } from './kv-cache.ts';
import type { Logits } from './logits.ts';

export interface PrefixBlock {
  readonly computed: NewKeysAndValues;
  /** Of its last token, one row; kept if a prompt ended here. */
  readonly end: Logits | null;
}

/** Which computations may be shared: never across scopes (entities, salts) or adapters. */
export interface PrefixScope {
  readonly cacheScope: string;
  readonly adapterId: string | null;
}

export interface PrefixCache {
  /** Returns the block of `tokens[start, end)` after `parent`, or null if it is not cached. */
  find(key: string): PrefixBlock | null;
  put(key: string, block: PrefixBlock): void;
  readonly sizeBytes: number;
}

/** Key of a chunk: a hash of its tokens and all tokens before it. The first chunk's parent is its scope's key. */
export const blockKey = (parent: string, tokens: readonly number[]): string =>
  createHash('sha256').update(parent).update(Int32Array.from(tokens)).digest('base64');

export const scopeKey = ({ cacheScope, adapterId }: PrefixScope): string => JSON.stringify([cacheScope, adapterId]);

export function createPrefixCache(budgetBytes: number): PrefixCache {
  const maxSize = Math.max(1, Math.floor(budgetBytes)); // a budget of 0 keeps nothing: every block is larger than a byte
  const blocks = new LRUCache<string, PrefixBlock>({ maxSize, sizeCalculation: bytesOf });
  return {
    find: (key) => blocks.get(key) ?? null,
    put(key, block) {
      // A chunk that ended one prompt and continued in another is the same chunk: known logits of its end are kept.
      const known = blocks.peek(key);
      blocks.set(key, known && block.end === null ? { ...block, end: known.end } : block);
    },
    get sizeBytes() {
      return blocks.calculatedSize;
    },
  };
}

function bytesOf({ computed, end }: PrefixBlock): number {
  const kept = end ? [end.logits, end.logsumexp, end.maxima, end.sums] : [];
  return kept.reduce((sum, { byteLength }) => sum + byteLength, computed.data.byteLength);
}
