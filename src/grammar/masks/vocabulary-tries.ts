// The vocabulary as two trees that branch by classes of characters: tokens that JSON strings contain unescaped, which are nearly
// all, and the others. If the characters of a class must be distinguished, the tokens below are a tree of bytes. Built once per
// thread. Tokens without bytes (control tokens, padding) are in neither tree.
import type { VocabularyBytes } from '../thread-messages.ts';
import { characterLength, isClass, isSafe, symbolsOf } from './symbols.ts';
import { addSequence, createTokenTrie, type Sequences, type TokenTrie } from './token-trie.ts';

/** The length of the longest token that counts as safe, in characters. */
export const SAFE_MAX = 32;
/** Byte trees of more tokens than this are built in advance, so that no text waits for them. */
const MADE_LATER_MAX = 1_000;

export interface VocabularyTries {
  readonly safe: TokenTrie;
  readonly mixed: TokenTrie;
  /** By length: the mask of the safe tokens of at most that many characters. */
  readonly short: readonly Int32Array[];
  /** The tokens at a node and below, as a tree that starts with the bytes of the node's own character. */
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

  /** Builds the large byte trees in advance: words at the root, and words after a blank. */
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
