// The vocabulary as two trees of classes of characters: tokens that stand in JSON strings as they are, which are nearly all, and the
// others. Where a class must be told apart, the tokens below are a tree of bytes. Made once per thread. Tokens without bytes (control
// tokens, padding) are in none.
import type { VocabularyBytes } from '../thread-messages.ts';
import { characterLength, isClass, isSafe, symbolsOf } from './symbols.ts';
import { addSequence, createTokenTrie, type Sequences, type TokenTrie } from './token-trie.ts';

/** Characters of the longest token that counts as safe. */
export const SAFE_MAX = 32;
/** A text should not wait for a tree of more tokens than this: they are made before. */
const MADE_LATER_MAX = 1_000;

export interface VocabularyTries {
  readonly safe: TokenTrie;
  readonly mixed: TokenTrie;
  /** One bit for each safe token of at most so many characters. */
  readonly short: readonly Int32Array[];
  /** The tokens at a node and below, from the bytes of the node's own character on. */
  bytesBelow(trie: TokenTrie, node: number): TokenTrie;
}

export function createVocabularyTries({ bytes, offsets }: VocabularyBytes, maskWords: number): VocabularyTries {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const safeTokens: Sequences = new Map();
  const mixedTokens: Sequences = new Map();
  const short = Array.from({ length: SAFE_MAX + 1 }, () => new Int32Array(maskWords));
  for (let id = 0; id < offsets.length - 1; id++) {
    const symbols = symbolsOf(bytes, offsets[id]!, offsets[id + 1]!);
    if (symbols.length === 0) continue;
    const belongs = symbols.length <= SAFE_MAX && symbols.every(isSafe);
    addSequence(belongs ? safeTokens : mixedTokens, String.fromCharCode(...symbols), id);
    if (belongs) short[symbols.length]![id >> 5]! |= 1 << (id & 31);
  }
  for (let length = 1; length <= SAFE_MAX; length++)
    for (let i = 0; i < maskWords; i++) short[length]![i]! |= short[length - 1]![i]!;

  const below = new Map<TokenTrie, Map<number, TokenTrie>>();

  function bytesBelow(trie: TokenTrie, node: number): TokenTrie {
    const known = below.get(trie) ?? new Map<number, TokenTrie>();
    below.set(trie, known);
    const found = known.get(node);
    if (found) return found;
    const rests: Sequences = new Map();
    const [first, last] = [trie.firstToken[node]!, trie.firstToken[trie.end[node]!]!];
    for (let i = first; i < last; i++) {
      const id = trie.tokens[i]!;
      let from = offsets[id]!;
      for (let level = 1; level < trie.level[node]!; level++) from += characterLength(bytes, from, offsets[id + 1]!);
      addSequence(rests, text.toString('latin1', from, offsets[id + 1]), id);
    }
    const made = createTokenTrie(rests, trie.isSafe);
    known.set(node, made);
    return made;
  }

  /** Words, at the root and behind a blank. */
  function makeLarge(trie: TokenTrie): TokenTrie {
    for (let node = 1; node < trie.symbol.length;) {
      const isLarge = trie.firstToken[trie.end[node]!]! - trie.firstToken[node]! > MADE_LATER_MAX;
      if (isLarge && isClass(trie.symbol[node]!)) bytesBelow(trie, node);
      node = isLarge && !isClass(trie.symbol[node]!) ? node + 1 : trie.end[node]!;
    }
    return trie;
  }

  const [safe, mixed] = [createTokenTrie(safeTokens, true), createTokenTrie(mixedTokens, false)];
  return { safe: makeLarge(safe), mixed: makeLarge(mixed), short, bytesBelow };
}
