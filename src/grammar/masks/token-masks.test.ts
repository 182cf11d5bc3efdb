// The token trees compared with a slow reference: every token, byte by byte, through the recogniser.
import { expect, test } from 'vitest';
import { createRandom, type Random } from '#base/random';
import type { Constraint } from '#domain/constraint';
import { constraintForm } from '../constraint-form.ts';
import { createTerms } from '../lexemes/terms.ts';
import { createMachine } from '../structure/machine.ts';
import { PLACES_MAX } from '../structure/place-table.ts';
import { maskWords } from '../thread-messages.ts';
import { createInsides } from './insides.ts';
import { createTokenMasks } from './token-masks.ts';
import { createVocabularyTries } from './vocabulary-tries.ts';

const PARTS = [
  'a',
  'b',
  'name',
  'Ab',
  'XY',
  ' ',
  ' the',
  '7',
  '20',
  '-',
  '.',
  '/',
  '@',
  '"',
  '": ',
  '",',
  '{"',
  '}',
  '[',
  ']',
  '\\',
  '\\n',
  '\n',
  '\t',
  '\x7f',
  'é',
  'ö',
  '日本',
  '🙂',
  ':',
  ',',
  'true',
  'null',
  'e+',
];
/** Bytes that start, continue and break off characters. */
const BYTES = [0xc3, 0xa9, 0xe6, 0x97, 0xa5, 0xf0, 0x9f, 0x80, 0xff, 0xed, 0x00];

function vocabularyOf(random: Random): { tokens: Uint8Array[]; bytes: Uint8Array; offsets: Uint32Array } {
  const part = () =>
    random.integer(8) === 0
      ? Buffer.of(BYTES[random.integer(BYTES.length)]!)
      : Buffer.from(PARTS[random.integer(PARTS.length)]!);
  const joined = () => Buffer.concat(Array.from({ length: 1 + random.integer(5) }, part));
  const many = Array.from({ length: 1_500 }, () => Buffer.from(`a${random.integer(9 ** 9).toString(36)}`));
  const long = Buffer.from('long'.repeat(20));
  const single = Array.from({ length: 256 }, (_, byte) => Buffer.of(byte));
  const tokens = [...single, ...Array.from({ length: 1_500 }, joined), ...many, long, Buffer.alloc(0)];
  const offsets = new Uint32Array(tokens.length + 1);
  tokens.forEach((token, id) => (offsets[id + 1] = offsets[id]! + token.length));
  return { tokens, bytes: new Uint8Array(Buffer.concat(tokens)), offsets };
}

const schema = (source: object): Constraint => ({
  kind: 'json_schema',
  source: JSON.stringify(source),
  anyWhitespace: true,
  whitespacePattern: null,
  strict: false,
});
const regex = (source: string): Constraint => ({ kind: 'regex', source });

const CONSTRAINTS: Readonly<Record<string, Constraint>> = {
  'any object': schema({ type: 'object' }),
  'named keys and others': schema({
    properties: { name: { type: 'string' }, age: { minimum: 3 } },
    required: ['name'],
  }),
  'names that begin alike': schema({
    properties: {
      name: true,
      'name"': { type: 'null' },
      names: { minimum: 3 },
      na: true,
      日: true,
      日本: true,
      é: true,
      XY: true,
    },
    additionalProperties: false,
    minProperties: 2,
    maxProperties: 4,
  }),
  'alternatives of names': schema({
    oneOf: [
      { properties: { name: { const: 7 }, a: true }, required: ['name'], additionalProperties: false },
      { properties: { the: true, a: { type: 'null' } }, required: ['the'] },
    ],
  }),
  lengths: schema({ type: 'array', items: { type: 'string', minLength: 2, maxLength: 9 }, minItems: 2 }),
  'a pattern with a length': schema({ type: 'string', pattern: '^[a-zé]+(-[A-Z]{2})?', maxLength: 20 }),
  'not a word': schema({ type: 'string', not: { enum: ['name', 'a日本'] } }),
  formats: schema({
    type: 'array',
    items: { anyOf: [{ format: 'email' }, { format: 'uri' }, { format: 'date' }], type: 'string' },
    minItems: 3,
  }),
  enumerations: schema({ type: 'array', items: { enum: ['name', 'Ab the', 'é', 720, null] }, minItems: 3 }),
  'items that differ': schema({ type: 'array', items: { type: 'string' }, uniqueItems: true, minItems: 2 }),
  'keys by pattern': schema({
    patternProperties: { '^a': { type: 'integer' }, 日: { type: 'boolean' } },
    minProperties: 2,
  }),
  'a character of several bytes': regex('[é-ö]{2}|日.*|[^日]{3}x'),
  'words and digits': regex('([a-z]+ |[0-9]{2,3}|🙂)*end'),
  'bytes of any text': regex('[\\s\\S]{0,12}'),
};

test.each(Object.entries(CONSTRAINTS))(
  '%s: the mask has the tokens that can be taken byte by byte',
  (_, constraint) => {
    const random = createRandom(16);
    const { tokens, bytes, offsets } = vocabularyOf(random);
    const terms = createTerms();
    const tries = createVocabularyTries({ bytes, offsets }, maskWords(tokens.length));
    const machine = createMachine(terms, constraintForm(terms, constraint), PLACES_MAX);
    const masks = createTokenMasks(machine, terms, tries, createInsides(tries, maskWords(tokens.length)));
    const mask = new Int32Array(maskWords(tokens.length));

    for (let answer = 0; answer < 3; answer++) {
      let [set, text] = [machine.start, Buffer.alloc(0)];
      for (let step = 0; step < 25; step++) {
        const taken = tokens.flatMap((token, id) => {
          let at = set;
          for (let i = 0; i < token.length; i++) at = machine.step(at, token[i]!, text.length + i);
          return token.length > 0 && at !== machine.dead ? [id] : [];
        });
        mask.fill(0);
        masks.write(set, text.length, mask);
        expect(tokens.flatMap((_, id) => ((mask[id >> 5]! >>> (id & 31)) & 1 ? [id] : []))).toEqual(taken);
        if (taken.length === 0) break;
        const token = tokens[taken[random.integer(taken.length)]!]!;
        for (let i = 0; i < token.length; i++) set = machine.step(set, token[i]!, text.length + i);
        text = Buffer.concat([text, token]);
        set = machine.settle(set, text);
      }
    }
  },
);
