// Tokens to text, one at a time: what `push` and `flush` return, put together, is what decoding all tokens at once
// returns. A character whose bytes are spread over several tokens is held back until its last byte is there.
import { dropLeadingSpaces, type Tokenizer } from './tokenizer.ts';

export interface Detokenizer {
  /** The text that this token completes; may be empty. */
  push(tokenId: number): string;
  /** At the end: an unfinished character as U+FFFD, else nothing. */
  flush(): string;
}

/** `keep`: special tokens that are written all the same, because a parser of the text needs them. */
export function createDetokenizer(
  tokenizer: Tokenizer,
  { skipSpecialTokens, keep }: { skipSpecialTokens: boolean; keep?: ReadonlySet<number> },
): Detokenizer {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let leadingSpaces = tokenizer.leadingSpaces; // still to be taken off

  function withoutLeadingSpaces(text: string): string {
    if (leadingSpaces === 0 || text === '') return text;
    const kept = dropLeadingSpaces(text, leadingSpaces);
    leadingSpaces = kept === '' ? leadingSpaces - text.length : 0;
    return kept;
  }

  return {
    push: (tokenId) => {
      if (skipSpecialTokens && tokenizer.isSpecial(tokenId) && !keep?.has(tokenId)) return '';
      return withoutLeadingSpaces(decoder.decode(tokenizer.tokenBytes(tokenId), { stream: true }));
    },
    flush: () => withoutLeadingSpaces(decoder.decode()),
  };
}

/** The text that each token completes: '' inside a character. Together they are the text of all, special tokens with it. */
export function tokenTexts(tokenizer: Tokenizer, tokenIds: Iterable<number>): string[] {
  const detokenizer = createDetokenizer(tokenizer, { skipSpecialTokens: false });
  const texts = Array.from(tokenIds, (tokenId) => detokenizer.push(tokenId));
  const rest = detokenizer.flush();
  if (rest !== '') texts.push(texts.pop()! + rest);
  return texts;
}
