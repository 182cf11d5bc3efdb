// A tokenizer's tokens as bytes, in order of id: what an engine needs to keep an answer to a grammar. Control tokens have
// none, because they are never part of a text.
import type { Tokenizer } from './tokenizer.ts';

export interface Vocabulary {
  /** Token i is bytes[offsets[i], offsets[i + 1]). */
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly eosTokenIds: readonly number[];
}

export function createVocabulary({ tokenizer, eosTokenIds }: { tokenizer: Tokenizer; eosTokenIds: readonly number[] }): Vocabulary {
  const tokens = Array.from({ length: tokenizer.vocabSize }, (_, id) =>
    tokenizer.isSpecial(id) || eosTokenIds.includes(id) ? new Uint8Array(0) : tokenizer.tokenBytes(id),
  );
  const offsets = new Uint32Array(tokens.length + 1);
  tokens.forEach((token, id) => (offsets[id + 1] = offsets[id]! + token.length));
  return { bytes: new Uint8Array(Buffer.concat(tokens)), offsets, eosTokenIds };
} // prettier-ignore
