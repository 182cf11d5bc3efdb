// The trees of open episodes in memory, so that a call is placed without reading the episode again. Only a cache: another server may add
// calls as well, which shows in the ordinal of the next one; then the tree is read again.
import { LRUCache } from 'lru-cache';
import type { EpisodeStore } from '#storage/episode-store';
import type { TreeCall } from './call-tree.ts';
import { readTree } from './read-calls.ts';

export interface EpisodeTrees {
  /** `callCount`: as many as the episode is known to have, at least. */
  of(episodeId: string, callCount: number): Promise<readonly TreeCall[]>;
  add(episodeId: string, call: TreeCall, ordinal: number): void;
  forget(episodeId: string): void;
}

/** Hundreds of running agents with contexts of 30,000 tokens. */
const BYTES_MAX = 64e6;
/** Of a call, apart from its tokens. */
const CALL_BYTES = 500;

export function createEpisodeTrees(store: Pick<EpisodeStore, 'calls'>): EpisodeTrees {
  const trees = new LRUCache<string, TreeCall[]>({ maxSize: BYTES_MAX, sizeCalculation: bytesOf });
  return {
    async of(episodeId, callCount) {
      const known = trees.get(episodeId);
      if (known && known.length >= callCount) return known;
      const read = await readTree(store, episodeId);
      trees.set(episodeId, read);
      return read;
    },
    add(episodeId, call, ordinal) {
      const tree = trees.get(episodeId) ?? [];
      if (tree.length !== ordinal) return void trees.delete(episodeId);
      trees.set(episodeId, [...tree, call]); // a new list: the size is counted again, and who iterates the old one is not disturbed
    },
    forget: (episodeId) => void trees.delete(episodeId),
  };
}

const bytesOf = (calls: readonly TreeCall[]): number =>
  1 + calls.reduce((sum, call) => sum + CALL_BYTES + tokenBytes(call) + 32 * call.messageDigests.length, 0);

const tokenBytes = ({ promptTail, choices }: TreeCall): number =>
  promptTail.byteLength + choices.reduce((sum, { byteLength }) => sum + byteLength, 0);
