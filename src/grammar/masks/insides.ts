// Which tokens stay inside a lexeme, and where in a token the lexeme may end. The walk does not depend on what surrounds the
// lexeme, so it is done once for each state of a term, and cached.
import { LRUCache } from 'lru-cache';
import type { Term, Terms } from '../lexemes/terms.ts';
import { deriveBy, deriveBySafe } from './class-derivatives.ts';
import type { TokenTrie } from './token-trie.ts';
import { SAFE_MAX, type VocabularyTries } from './vocabulary-tries.ts';

export interface Inside {
  /** Token ids, or a bit mask if there are many. */
  readonly ids: Int32Array | null;
  readonly bits: Int32Array | null;
  /** Nodes at which the lexeme may end inside longer tokens. */
  readonly exits: readonly Exit[];
}

export interface Exit {
  readonly trie: TokenTrie;
  readonly node: number;
}

export interface Insides {
  of(terms: Terms, term: Term): Inside;
}

const INSIDES_MAX = 1_000;
const LISTED_MAX = 2_000;
/** Walking through fewer tokens than this is faster than checking a term for all characters. */
const SUBTREE_MIN = 32;
/** Most tokens start with a letter, or with a blank and a letter. */
const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ '].map((letter) => letter.charCodeAt(0));

export function createInsides(tries: VocabularyTries, maskWords: number): Insides {
  const known = new LRUCache<Term, Inside>({ max: INSIDES_MAX });

  function look(terms: Terms, start: Term): Inside {
    let bits: Int32Array | null = null;
    /** If true, the walk started with all safe tokens marked, and unmarks those that may not come. */
    let takesAway = false;
    const found: number[] = [];
    const exits: Exit[] = [];
    const isAlive = (term: Term) => term.alive ?? terms.isAlive(term);

    function unmark({ tokens, firstToken }: TokenTrie, node: number, behind: number): void {
      for (let i = firstToken[node]!; i < firstToken[behind]!; i++)
        bits![tokens[i]! >> 5]! &= ~(1 << (tokens[i]! & 31));
    }

    function mark({ tokens, firstToken }: TokenTrie, node: number, behind: number): void {
      if (takesAway) return;
      const [from, to] = [firstToken[node]!, firstToken[behind]!];
      if (bits === null && found.length + to - from > LISTED_MAX) {
        bits = new Int32Array(maskWords);
        for (const id of found) bits[id >> 5]! |= 1 << (id & 31);
      }
      if (bits === null) for (let i = from; i < to; i++) found.push(tokens[i]!);
      else for (let i = from; i < to; i++) bits[tokens[i]! >> 5]! |= 1 << (tokens[i]! & 31);
    }

    function walk(trie: TokenTrie, from: Term): void {
      const { symbol, end, firstToken } = trie;
      const stack: Term[] = [from];
      const ends: number[] = [end[0]!];
      let depth = 0;
      for (let node = 1; node < symbol.length;) {
        while (node >= ends[depth]!) depth--;
        const nodeEnd = end[node]!;
        const next = deriveBy(terms, stack[depth]!, symbol[node]!);
        if (next === null) walk(tries.bytesBelow(trie, node), stack[depth]!);
        if (next === null || !isAlive(next)) {
          if (next !== null && takesAway) unmark(trie, node, nodeEnd);
          node = nodeEnd;
          continue;
        }
        const isLarge = firstToken[nodeEnd]! - firstToken[node]! >= SUBTREE_MIN;
        if (trie.isSafe && isLarge && !next.nullable && safeCharacters(next).count === SAFE_MAX) {
          mark(trie, node, nodeEnd);
          node = nodeEnd;
          continue;
        }
        mark(trie, node, node + 1);
        if (nodeEnd > node + 1) {
          if (next.nullable) exits.push({ trie, node });
          depth++;
          stack[depth] = next;
          ends[depth] = nodeEnd;
        }
        node++;
      }
    }

    /** How many safe characters may follow, whichever they are, without the lexeme ending after one; `isAll`: no further safe one may follow. */
    function safeCharacters(term: Term): { readonly count: number; readonly isAll: boolean } {
      let at = term;
      for (let count = 0; count < SAFE_MAX; count++) {
        const next = deriveBySafe(terms, at);
        if (next === null || next.nullable) return { count, isAll: false };
        if (!isAlive(next)) return { count, isAll: true };
        if (next === at) break;
        at = next;
      }
      return { count: SAFE_MAX, isAll: true };
    }

    const mostMayFollow = (term: Term): boolean =>
      LETTERS.filter((byte) => isAlive(terms.derive(term, byte))).length > LETTERS.length / 2;

    const { count, isAll } = safeCharacters(start);
    if (isAll && count > 0) bits = tries.short[count]!.slice();
    else if (!isAll) {
      takesAway = mostMayFollow(start);
      if (takesAway) bits = tries.short[SAFE_MAX]!.slice();
      walk(tries.safe, start);
      takesAway = false;
    }
    walk(tries.mixed, start);
    return { ids: bits === null ? Int32Array.from(found) : null, bits, exits };
  }

  return {
    of(terms, term) {
      const found = known.get(term);
      if (found) return found;
      const made = look(terms, term);
      known.set(term, made);
      return made;
    },
  };
}
