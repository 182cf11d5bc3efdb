// Ids of added tokens, as the library `tokenizers` gives them: that of the vocabulary, or the next one after it and after those before.
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** Omitted from decoded text unless requested. */
  readonly special: boolean;
  readonly [flag: string]: unknown;
}

/** Whatever ids the files state. Tokens without content are left out. */
export function numbered(
  tokens: readonly Omit<AddedToken, 'id'>[],
  vocabulary: ReadonlyMap<string, number>,
): AddedToken[] {
  let largest = -1; // of the added ones
  return tokens
    .filter(({ content }) => content !== '')
    .map((token) => {
      const id = vocabulary.get(token.content as string) ?? Math.max(vocabulary.size, largest + 1);
      largest = Math.max(largest, id);
      return { ...token, id } as AddedToken;
    });
}

/** Token → id, as `model.vocab` of tokenizer.json has it: an object, or a list of tokens with their scores. */
export function vocabularyOf(vocab: unknown): ReadonlyMap<string, number> {
  if (Array.isArray(vocab))
    return new Map((vocab as unknown[]).map((entry, id) => [String(Array.isArray(entry) ? entry[0] : entry), id]));
  const found = new Map<string, number>();
  for (const token in (vocab ?? {}) as Record<string, unknown>) {
    const id = (vocab as Record<string, unknown>)[token];
    if (typeof id === 'number') found.set(token, id);
  }
  return found;
}
