// WordLevel: a part is one token, or unknown.
import type { Fields } from '../fields.ts';
import type { TokenModel } from './model.ts';
import { readVocabulary, uncovered } from './vocabulary.ts';

export function readWordLevel(fields: Fields): TokenModel {
  const vocabulary = readVocabulary(fields);
  const unknown = fields.text('unk_token');
  return {
    vocabulary,
    tokenize(part) {
      const id = vocabulary.get(part) ?? vocabulary.get(unknown);
      if (id === undefined) throw uncovered();
      return { ids: [id], begins: [0], ends: [Buffer.byteLength(part)] };
    },
  };
}
