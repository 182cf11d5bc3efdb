// How many tokens a model can read, as its config.json says.
import { isObject } from '#base/is-object';

/** Rows of the embedding: for models with several parts, the text part's. Null: it does not say. */
export function embeddingRows({
  vocab_size: own,
  text_config: text,
}: Readonly<Record<string, unknown>>): number | null {
  const size = own ?? (isObject(text) ? text.vocab_size : null);
  return typeof size === 'number' && Number.isSafeInteger(size) && size > 0 ? size : null;
}
