// Which tokens may come next: the trees of tokens walked with the recogniser, where it is not inside a lexeme.
import type { Term, Terms } from '../lexemes/terms.ts';
import type { Machine, Place, PlaceSet } from '../structure/places.ts';
import type { Insides } from './insides.ts';
import { runOf } from './symbols.ts';
import type { TokenTrie } from './token-trie.ts';
import type { VocabularyTries } from './vocabulary-tries.ts';

export interface TokenMasks {
  /** Sets the bits of the tokens that may follow; `position`: bytes so far. */
  write(set: PlaceSet, position: number, mask: Int32Array): void;
}

export function createTokenMasks(machine: Machine, terms: Terms, tries: VocabularyTries, insides: Insides): TokenMasks {
  const step = (set: PlaceSet, byte: number, position: number): PlaceSet =>
    set.next[byte] ?? machine.step(set, byte, position);

  /** Null: not the same behind all characters of the class. */
  function stepBy(set: PlaceSet, symbol: number, position: number): PlaceSet | null {
    if (symbol < 256) return step(set, symbol, position);
    const run = runOf(symbol);
    if (run === null) return null; // their lengths differ, and so do the positions behind them
    const next = step(set, run[0], position);
    for (let byte = run[0] + 1; byte <= run[1]; byte++) if (step(set, byte, position) !== next) return null;
    return next;
  }

  function walk(trie: TokenTrie, node: number, set: PlaceSet, position: number, mask: Int32Array): void {
    const { symbol, end, firstToken, tokens } = trie;
    const last = end[node]!;
    for (let child = node + 1; child < last; child = end[child]!) {
      const next = stepBy(set, symbol[child]!, position);
      if (next === null) walk(tries.bytesBelow(trie, child), 0, set, position, mask);
      if (next === null || next === machine.dead) continue;
      for (let i = firstToken[child]!; i < firstToken[child + 1]!; i++)
        mask[tokens[i]! >> 5]! |= 1 << (tokens[i]! & 31);
      if (end[child]! > child + 1) walk(trie, child, next, position + 1, mask);
    }
  }

  return {
    write(set, position, mask) {
      const lexemes = new Map<Term, Place[]>();
      const others: Place[] = [];
      for (const place of set.places) {
        if (place.kind !== 'lexeme' && place.kind !== 'other') others.push(place);
        else if (lexemes.has(place.term)) lexemes.get(place.term)!.push(place);
        else lexemes.set(place.term, [place]);
      }
      if (others.length > 0) {
        const around = machine.setOf(others);
        walk(tries.safe, 0, around, position, mask);
        walk(tries.mixed, 0, around, position, mask);
      }
      for (const [term, places] of lexemes) {
        const { ids, bits, exits } = insides.of(terms, term);
        if (bits) for (let i = 0; i < bits.length; i++) mask[i]! |= bits[i]!;
        else for (const id of ids!) mask[id >> 5]! |= 1 << (id & 31);
        if (exits.length === 0) continue;
        const behind = machine.behind(places, position);
        if (behind !== machine.dead) for (const { trie, node } of exits) walk(trie, node, behind, position + 1, mask);
      }
    },
  };
}
