// Which tokens continue the name of a key, and after which of them the name has ended. The walk depends only on the names of a
// shape, so it is done once for each place in them, and cached. The caller checks which names are still allowed: that changes with every key.
import { LRUCache } from 'lru-cache';
import type { ObjectShape } from '../structure/shapes.ts';
import type { Exit } from './insides.ts';
import { isClass, runOf, SYMBOLS, type Run } from './symbols.ts';
import type { TokenTrie } from './token-trie.ts';
import type { VocabularyTries } from './vocabulary-tries.ts';

/** A run of names in the order of `texts`; they share their first `depth` bytes. */
export interface NamePlace {
  readonly shape: ObjectShape;
  readonly from: number;
  readonly to: number;
  readonly depth: number;
}

export interface NameTokens {
  /** Tokens that end inside or directly after a name, each with the run of names that it is a prefix of. */
  readonly tokens: Int32Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Nodes directly after a name, with more tokens below. */
  readonly exits: readonly (Exit & { readonly name: number })[];
}

export interface NameWalks {
  /** Looks up the tokens below a node. */
  below(trie: TokenTrie, node: number, place: NamePlace): NameTokens;
}

const KEPT_MAX = 1_000;
const QUOTE = 0x22;
const WIDE: Run = [0x80, 0xff];

const runOfSymbol = (symbol: number): Run => {
  if (!isClass(symbol)) return [symbol, symbol];
  return symbol === SYMBOLS.wide ? WIDE : runOf(symbol)!;
};

export function createNameWalks(tries: VocabularyTries): NameWalks {
  const known = new LRUCache<string, NameTokens>({ max: KEPT_MAX });
  const ids = new WeakMap<object, number>();
  let lastId = 0;
  const idOf = (thing: ObjectShape | TokenTrie): number => {
    const id = ids.get(thing) ?? ++lastId;
    ids.set(thing, id);
    return id;
  };

  function walkAll(trie: TokenTrie, node: number, { shape: { texts }, from, to, depth }: NamePlace): NameTokens {
    const found: [number, number, number][] = [];
    const exits: NameTokens['exits'][number][] = [];

    function walk(within: TokenTrie, parent: number, low: number, high: number, at: number): void {
      const { symbol, end, firstToken, tokens } = within;
      for (let child = parent + 1; child < end[parent]!; child = end[child]!) {
        const [least, most] = runOfSymbol(symbol[child]!);
        let first = low;
        while (first < high && texts[first]![at]! < least) first++;
        let last = first;
        while (last < high && texts[last]![at]! <= most) last++;
        if (first === last) continue;
        if (isClass(symbol[child]!)) {
          walk(tries.bytesBelow(within, child), 0, first, last, at);
          continue;
        }
        for (let i = firstToken[child]!; i < firstToken[child + 1]!; i++) found.push([tokens[i]!, first, last]);
        if (end[child] === child + 1) continue;
        if (least === QUOTE && texts[first]!.length === at + 1) exits.push({ trie: within, node: child, name: first });
        else walk(within, child, first, last, at + 1);
      }
    }

    walk(trie, node, from, to, depth);
    const column = (which: 0 | 1 | 2) => Int32Array.from(found, (each) => each[which]);
    return { tokens: column(0), from: column(1), to: column(2), exits };
  }

  return {
    below(trie, node, place) {
      const key = `${idOf(place.shape)},${idOf(trie)},${node},${place.from},${place.depth}`;
      const kept = known.get(key);
      if (kept) return kept;
      const made = walkAll(trie, node, place);
      known.set(key, made);
      return made;
    },
  };
}
