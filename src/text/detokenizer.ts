// Converts tokens to text one at a time: joining the results of `push` and `flush` gives the same as decoding all tokens at once. A
// character whose bytes are spread over several tokens is held back until its last byte arrives.
import type { Tokenizer } from './tokenizer.ts';

export interface Detokenizer {
  /** The text that this token completes; may be empty. */
  readonly push: (tokenId: number) => string;
  /** At the end: an unfinished character as U+FFFD, or what else was held back; otherwise ''. */
  readonly flush: () => string;
}

/** `keep`: special tokens to write even so, because a parser of the text needs them. */
export function createDetokenizer(
  tokenizer: Pick<Tokenizer, 'decodeStream'>,
  options: { skipSpecialTokens: boolean; keep?: ReadonlySet<number> },
): Detokenizer {
  const { push, end } = tokenizer.decodeStream(options);
  return { push, flush: end };
}

/** The text that each token completes: '' inside a character. Joined, they are the whole text, including special tokens. */
export function tokenTexts(tokenizer: Pick<Tokenizer, 'decodeStream'>, tokenIds: Iterable<number>): string[] {
  const detokenizer = createDetokenizer(tokenizer, { skipSpecialTokens: false });
  const texts = Array.from(tokenIds, (tokenId) => detokenizer.push(tokenId));
  const rest = detokenizer.flush();
  if (rest !== '') texts.push(texts.pop()! + rest);
  return texts;
}
