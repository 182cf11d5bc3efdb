// What the model of a tokenizer does: it cuts one part of a text into tokens.
export interface TokenList {
  readonly ids: readonly number[];
  /** Where each token begins and ends in the part, in bytes of UTF-8. */
  readonly begins: readonly number[];
  readonly ends: readonly number[];
  /** Of tokens by their index: what they stand for, where the library takes that for their text. */
  readonly written?: ReadonlyMap<number, string>;
}

export interface TokenModel {
  /** Throws `bad_model_files` if a text has no tokens in this vocabulary. The part is not empty. */
  readonly tokenize: (part: string) => TokenList;
  /** Token → id. */
  readonly vocabulary: ReadonlyMap<string, number>;
}
