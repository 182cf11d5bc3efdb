// WordPiece: a word is cut from the left, always the longest token that fits. A word that cannot be cut to its end is unknown as a whole.
import type { Fields } from '../fields.ts';
import type { TokenList, TokenModel } from './model.ts';
import { readVocabulary, uncovered } from './vocabulary.ts';

export function readWordPiece(fields: Fields): TokenModel {
  const vocabulary = readVocabulary(fields);
  const unknown = fields.text('unk_token');
  const prefix = fields.text('continuing_subword_prefix');
  const charactersMax = fields.count('max_input_chars_per_word');
  let longest = 1;
  for (const token of vocabulary.keys()) longest = Math.max(longest, token.length);

  function unknownWord(word: string): TokenList {
    const id = vocabulary.get(unknown);
    if (id === undefined) throw uncovered();
    return { ids: [id], begins: [0], ends: [Buffer.byteLength(word)] };
  }

  /** The end of the longest token that begins at a place; -1: none does. */
  function endOf(word: string, from: number): number {
    for (let end = Math.min(word.length, from + longest); end > from; end--)
      if (vocabulary.has((from > 0 ? prefix : '') + word.slice(from, end))) return end;
    return -1;
  }

  function tokenize(word: string): TokenList {
    if (word.length > charactersMax && Array.from(word).length > charactersMax) return unknownWord(word);
    const list = { ids: [] as number[], begins: [] as number[], ends: [] as number[] };
    let bytes = 0;
    for (let from = 0; from < word.length;) {
      const end = endOf(word, from);
      if (end < 0) return unknownWord(word);
      const piece = word.slice(from, end);
      list.ids.push(vocabulary.get((from > 0 ? prefix : '') + piece)!);
      list.begins.push(bytes);
      list.ends.push((bytes += Buffer.byteLength(piece)));
      from = end;
    }
    return list;
  }
  return { vocabulary, tokenize };
}
