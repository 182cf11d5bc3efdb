// Encodes texts that grow, such as the prompts of a conversation's turns, without encoding their beginnings again. A text is cut after
// each token that ends a turn: tokenizers split at such tokens before anything else, so the pieces can be encoded separately. Tokenizers
// that treat the beginning of a text differently are detected by a trial, and get the whole text.
import { LRUCache } from 'lru-cache';
import type { Tokenizer } from './tokenizer.ts';

/** Characters of cached pieces: a few long conversations. */
const CHARACTERS_MAX = 2_000_000;

export function createPromptEncoding(
  tokenizer: Pick<Tokenizer, 'encode'>,
  turnEnd: string | null,
): (text: string) => number[] {
  const whole = (text: string) => tokenizer.encode(text);
  if (turnEnd === null || !endsPieces(turnEnd, tokenizer)) return whole;
  const pieces = new LRUCache<string, readonly number[]>({
    maxSize: CHARACTERS_MAX,
    sizeCalculation: (_, text) => text.length,
  });

  function encodePiece(text: string): readonly number[] {
    const known = pieces.get(text);
    if (known) return known;
    const ids = whole(text);
    pieces.set(text, ids);
    return ids;
  }

  return (text) => {
    const parts = text.split(turnEnd);
    const last = parts.pop()!;
    const ids = parts.flatMap((part) => encodePiece(part + turnEnd));
    return last === '' ? ids : [...ids, ...encodePiece(last)];
  };
}

/** Whether the text after the token is encoded as it would be alone, and the text before it as if nothing followed. */
function endsPieces(token: string, { encode }: Pick<Tokenizer, 'encode'>): boolean {
  const texts = ['a', ' a', 'a ', '\n', '\n\n', ' ', '  a', '1', token];
  return texts.every((before) =>
    texts.every((after) => {
      const apart = [...encode(before + token), ...encode(after)];
      return encode(before + token + after).join() === apart.join();
    }),
  );
}
