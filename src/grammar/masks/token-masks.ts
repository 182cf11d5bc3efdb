// Computes which tokens may come next: walks the token trees with the recogniser, except inside a lexeme or inside the name
// of a key.
import type { Term, Terms } from '../lexemes/terms.ts';
import type { Machine, Place, PlaceSet } from '../structure/places.ts';
import type { Insides } from './insides.ts';
import { createNameWalks } from './name-tokens.ts';
import { runOf } from './symbols.ts';
import type { TokenTrie } from './token-trie.ts';
import type { VocabularyTries } from './vocabulary-tries.ts';

export interface TokenMasks {
  /** Sets the bits of the tokens that may follow; `position`: number of bytes so far. */
  write(set: PlaceSet, position: number, mask: Int32Array): void;
}

type Named = Extract<Place, { kind: 'named' }>;
const isNamed = (place: Place): place is Named => place.kind === 'named';

/** Walking through fewer tokens than this is faster than a lookup. */
const KEPT_MIN = 32;

export function createTokenMasks(machine: Machine, terms: Terms, tries: VocabularyTries, insides: Insides): TokenMasks {
  const names = createNameWalks(tries);
  const step = (set: PlaceSet, byte: number, position: number): PlaceSet =>
    set.next[byte] ?? machine.step(set, byte, position);

  /** Returns null if the characters of the class lead to different places. */
  function stepBy(set: PlaceSet, symbol: number, position: number): PlaceSet | null {
    if (symbol < 256) return step(set, symbol, position);
    const run = runOf(symbol);
    if (run === null) return null; // characters differ in length, so the positions after them differ
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
      if (end[child] === child + 1) continue;
      const isLarge = firstToken[end[child]!]! - firstToken[child]! >= KEPT_MIN;
      const behind = isLarge ? withoutNames(next, trie, child, position + 1, mask) : next;
      if (behind !== machine.dead) walk(trie, child, behind, position + 1, mask);
    }
  }

  /** Walks the names, and returns the other places. */
  function withoutNames(set: PlaceSet, trie: TokenTrie, node: number, position: number, mask: Int32Array): PlaceSet {
    if (!set.places.some(isNamed)) return set;
    for (const place of set.places) if (isNamed(place)) walkNames(trie, node, place, position, mask);
    return machine.setOf(set.places.filter((place) => !isNamed(place)));
  }

  function walkNames(trie: TokenTrie, node: number, place: Named, position: number, mask: Int32Array): void {
    const { frame, from: first, to: last, depth } = place;
    const allowed = machine.allowedNames(frame);
    const before = new Int32Array(allowed.length + 1); // how many allowed names come before each
    for (let i = 0; i < allowed.length; i++) before[i + 1] = before[i]! + allowed[i]!;
    const { tokens, from, to, exits } = names.below(trie, node, { shape: frame.shape, from: first, to: last, depth });
    for (let i = 0; i < tokens.length; i++)
      if (before[to[i]!]! > before[from[i]!]!) mask[tokens[i]! >> 5]! |= 1 << (tokens[i]! & 31);
    for (const exit of exits)
      if (allowed[exit.name] === 1)
        walk(exit.trie, exit.node, machine.behindName(frame, exit.name), position + 1, mask);
  }

  return {
    write(set, position, mask) {
      const lexemes = new Map<Term, Place[]>();
      const others: Place[] = [];
      for (const place of set.places) {
        if (place.kind === 'named') {
          walkNames(tries.safe, 0, place, position, mask);
          walkNames(tries.mixed, 0, place, position, mask);
        } else if (place.kind !== 'lexeme' && place.kind !== 'other') others.push(place);
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
