// Vocabularies as tokenizer.json has them, and the tokens for single bytes.
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';
import type { Fields } from '../fields.ts';

export function readVocabulary(fields: Fields): Map<string, number> {
  const vocabulary = fields.raw('vocab');
  if (!isObject(vocabulary)) throw fields.refuse('must have vocab, an object from token to id');
  const entries = new Map<string, number>();
  for (const token in vocabulary) {
    const id = vocabulary[token];
    if (!Number.isSafeInteger(id) || (id as number) < 0)
      throw fields.refuse(
        `must have ids in vocab, whole numbers, but ${JSON.stringify(token)} has ${JSON.stringify(id)}`,
      );
    entries.set(token, id as number);
  }
  return entries;
}

const byteToken = (byte: number): string => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;

/** The id of each byte's token; null: the vocabulary lacks it. */
export const byteIds = (vocabulary: ReadonlyMap<string, number>): readonly (number | null)[] =>
  Array.from({ length: 256 }, (_, byte) => vocabulary.get(byteToken(byte)) ?? null);

export const uncovered = (): AppError =>
  new AppError(
    'bad_model_files',
    "The vocabulary of the model's tokenizer does not cover this text and has no unknown token.",
  );
