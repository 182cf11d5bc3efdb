// Grammar threads for tests, over the smallest vocabulary: every byte is a token, 256 ends the text.
import { silentLog } from '#base/log';
import type { Constraint } from '#domain/constraint';
import { createGrammars, type GrammarLimits, type Grammars } from '#grammar/grammars';

export const EOS = 256;
export const VOCAB_SIZE = 300; // padded, like those of real models

const vocabulary = {
  bytes: Uint8Array.from({ length: 256 }, (_, byte) => byte),
  offsets: Uint32Array.from({ length: 258 }, (_, i) => Math.min(i, 256)),
};

export const createByteGrammars = (limits: Partial<GrammarLimits> = {}): Grammars =>
  createGrammars({ vocabulary, vocabSize: VOCAB_SIZE, stopTokenIds: [EOS], log: silentLog, limits });

export const isAllowed = (mask: Int32Array, tokenId: number): boolean =>
  ((mask[tokenId >> 5]! >>> (tokenId & 31)) & 1) === 1;

/** Whether the constraint accepts the whole text. */
export async function accepts(grammars: Grammars, constraint: Constraint, text: string): Promise<boolean> {
  const matcher = (await grammars.open(constraint, 1, 'a'))[0]!;
  try {
    for (const byte of Buffer.from(text)) {
      if (!isAllowed(matcher.mask()!, byte)) return false;
      matcher.accept(byte);
    }
    return isAllowed(matcher.mask()!, EOS);
  } finally {
    matcher.close();
  }
}

export const ebnf = (source: string): Constraint => ({ kind: 'ebnf', source });
export const regex = (source: string): Constraint => ({ kind: 'regex', source });
export const jsonSchema = (schema: unknown): Constraint => ({
  kind: 'json_schema',
  source: typeof schema === 'string' ? schema : JSON.stringify(schema),
  anyWhitespace: true,
  whitespacePattern: null,
  strict: false,
});
