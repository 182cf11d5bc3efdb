// Converts tokens to spans of text that can be drawn. Tokens that share a character form one span, because half a character cannot be
// drawn. Knows nothing of colours or of the page.

export interface TokenSpan {
  readonly text: string;
  /** Range of tokens: `from` up to, excluding, `to`. */
  readonly from: number;
  readonly to: number;
}

/** `texts`: what each token completes, '' inside a character. Tokens at the end that complete nothing form a span of their own. */
export function toSpans(texts: readonly string[]): TokenSpan[] {
  const spans: TokenSpan[] = [];
  let from = 0;
  for (const [i, text] of texts.entries()) {
    if (text === '' && i < texts.length - 1) continue;
    spans.push({ text, from, to: i + 1 });
    from = i + 1;
  }
  return spans;
}

/** What each token completes, from the bytes that it adds; bytes that are not valid UTF-8 become U+FFFD. */
export function textsOfBytes(bytesOfTokens: readonly (readonly number[])[]): string[] {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const texts = bytesOfTokens.map((bytes) => decoder.decode(Uint8Array.from(bytes), { stream: true }));
  const rest = decoder.decode();
  if (rest !== '') texts.push(texts.pop()! + rest);
  return texts;
}
