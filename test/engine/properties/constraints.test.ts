// For any schema, the mask never leads into a dead end, and whatever it permits validates; and documents that validate can be
// written, byte by byte. Random schemas with all keywords, random tokens; Ajv decides what is valid.
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRandom, type Random } from '#base/random';
import { createConstraintEngine, type Text } from '#grammar/constraint-engine';
import { maskWords } from '#grammar/thread-messages';
import { EOS, isAllowed, jsonSchema, VOCAB_SIZE } from '../serving/byte-grammars.ts';

/** Every byte, and a few tokens that end one thing and begin the next. */
const JOINED = ['": ', '",', '", "', '"}', '":{"', '],[', '}}', ',"a":', '1,', 'true', '{"a', '"a":1'];
const tokens = [
  ...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
  new Uint8Array(0),
  ...JOINED.map((text) => Buffer.from(text)),
];
const offsets = new Uint32Array(tokens.length + 1);
tokens.forEach((token, id) => (offsets[id + 1] = offsets[id]! + token.length));
const vocabulary = { bytes: new Uint8Array(Buffer.concat(tokens)), offsets };
const engine = createConstraintEngine({ vocabulary, vocabSize: VOCAB_SIZE, stopTokenIds: [EOS] });

const name = fc.constantFrom('a', 'b', 'ab', 'c"', 'ö');
const small = fc.integer({ min: 0, max: 3 });
const scalar = fc.constantFrom<unknown>(0, 1, 2.5, -3, 'a', 'b', '', 'ö"', true, false, null);

const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
  const inner = tie('schema');
  const list = fc.array(inner, { minLength: 1, maxLength: 3 });
  const keyword = fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ type: fc.constantFrom('object', 'array', 'string', 'number', 'integer', 'boolean', 'null') }),
    fc.record({
      enum: fc.array(fc.oneof(scalar, fc.constant([1]), fc.constant({ a: 1 })), { minLength: 1, maxLength: 4 }),
    }),
    fc.record({ const: scalar }),
    fc.record({ minimum: fc.integer({ min: -5, max: 5 }), exclusiveMaximum: fc.integer({ min: -2, max: 300 }) }),
    fc.record({ multipleOf: fc.constantFrom(2, 3, 0.5, 7, 0.01) }),
    fc.record({ minLength: small }),
    fc.record({ maxLength: small }),
    fc.record({ pattern: fc.constantFrom('^a', 'b$', '^[a-c]{2,3}$', '^(?!a)', 'ö|"', '^(ab)*$') }),
    fc.record({ format: fc.constantFrom('date', 'uuid', 'ipv4', 'email', 'unknown') }),
    fc.record({ required: fc.uniqueArray(name, { maxLength: 2 }) }),
    fc.record({ minProperties: small }),
    fc.record({ maxProperties: small }),
    fc.record({ minItems: small }),
    fc.record({ maxItems: small }),
    fc.record({ uniqueItems: fc.boolean() }),
    fc.record({ dependentRequired: fc.dictionary(name, fc.array(name, { maxLength: 2 }), { maxKeys: 2 }) }),
    fc.record({ properties: fc.dictionary(name, inner, { maxKeys: 3 }) }),
    fc.record({ additionalProperties: inner }),
    fc.record({ patternProperties: fc.dictionary(fc.constantFrom('^a', 'b', '^.$'), inner, { maxKeys: 2 }) }),
    fc.record({ propertyNames: inner }),
    fc.record({ unevaluatedProperties: inner }),
    fc.record({ dependentSchemas: fc.dictionary(name, inner, { maxKeys: 1 }) }),
    fc.record({ items: inner }),
    fc.record({ prefixItems: list }),
    fc.record({ unevaluatedItems: inner }),
    fc.record({ contains: inner, maxContains: small }),
    fc.record({ contains: inner, minContains: small }),
    fc.record({ allOf: list }),
    fc.record({ anyOf: list }),
    fc.record({ oneOf: list }),
    fc.record({ not: inner }),
    fc.record({ if: inner, then: inner, else: inner }),
    fc.record({ $ref: fc.constantFrom('#/$defs/x', '#/$defs/y') }),
  );
  const both = fc.array(keyword, { minLength: 1, maxLength: 4 }).map((parts) => Object.assign({}, ...parts) as unknown);
  return {
    schema: fc.oneof({ depthSize: 'small' }, { weight: 1, arbitrary: fc.boolean() }, { weight: 12, arbitrary: both }),
  };
});
const root = fc.record({ schema, x: schema, y: schema }).map(({ schema: given, x, y }) => ({
  ...(typeof given === 'boolean' ? { allOf: [given] } : (given as object)),
  $defs: { x, y },
}));

function allowedNow(text: Text, mask: Int32Array): number[] {
  text.writeMask(mask);
  return Array.from({ length: tokens.length }, (_, id) => id).filter((id) => isAllowed(mask, id));
}

const written = (ids: readonly number[]): string => Buffer.concat(ids.map((id) => tokens[id]!)).toString();

/** Random tokens for a while, then tokens that lead to an end. Null: it does not end by itself. */
function answerIds(text: Text, random: Random, free: number): readonly number[] | null {
  const mask = new Int32Array(Math.ceil(VOCAB_SIZE / 32));
  const ids: number[] = [];
  for (let step = 0; step < 400; step++) {
    const allowed = allowedNow(text, mask);
    if (allowed.length === 0) throw new Error(`a dead end behind ${written(ids)}`);
    const ending = [EOS, ...Array.from('"}]', (character) => character.charCodeAt(0))].find((id) =>
      allowed.includes(id),
    );
    const next =
      step < free ? allowed[random.integer(allowed.length)]! : (ending ?? allowed[random.integer(allowed.length)]!);
    expect(text.accept(next), `${written(ids)} and ${written([next])}`).toBe(true);
    if (next === EOS) return ids;
    ids.push(next);
  }
  return null;
}

function answer(text: Text, random: Random, free: number): string | null {
  const ids = answerIds(text, random, free);
  return ids && written(ids);
}

const refused = (error: unknown): null => {
  expect(error).toMatchObject({ code: 'invalid_constraint' });
  return null;
};

function compiled(given: object) {
  try {
    return engine.compile(jsonSchema(given));
  } catch (error) {
    return refused(error);
  }
}

function judgeOf(given: object) {
  try {
    return new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(given);
  } catch {
    return null; // circular references
  }
}

/** Null: Ajv itself recurses without end, like the schema. */
function judged(validate: (value: unknown) => unknown, value: unknown): boolean | null {
  try {
    return validate(value) === true;
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError);
    return null;
  }
}

test('every walk through the masks of any schema ends in a document that validates', { timeout: 120_000 }, () => {
  let [answers, accepted] = [0, 0];
  fc.assert(
    fc.property(root, fc.integer(), (given, seed) => {
      const constraint = compiled(given);
      const validate = judgeOf(given);
      if (!constraint || !validate) return;
      accepted++;
      for (const free of [0, 12, 40]) {
        const text = answer(constraint.begin(), createRandom(seed + free), free);
        if (text === null) continue;
        answers++;
        expect(judged(validate, JSON.parse(text)), `${text}: ${JSON.stringify(validate.errors)}`).not.toBe(false);
      }
    }),
    { numRuns: 300, seed: 2026 },
  );
  expect(accepted).toBeGreaterThan(100);
  expect(answers).toBeGreaterThan(200);
});

/** Up to so many of them, at random. */
const some = (ids: readonly number[], most: number, random: Random): number[] =>
  ids.length <= most ? [...ids] : Array.from({ length: most }, () => ids[random.integer(ids.length)]!);

test(
  'every prefix of an answer is accepted in any tokenization, and every permitted continuation can be completed',
  { timeout: 120_000 },
  () => {
    let [ends, undecided] = [0, 0];
    fc.assert(
      fc.property(root, fc.integer(), (given, seed) => {
        const constraint = compiled(given);
        if (!constraint) return;
        const random = createRandom(seed);
        const ids = answerIds(constraint.begin(), random, 12);
        if (ids === null) return;
        const mask = new Int32Array(Math.ceil(VOCAB_SIZE / 32));
        const bytes = [...Buffer.concat(ids.map((id) => tokens[id]!))];
        for (const spelled of [ids, bytes]) {
          const text = constraint.begin();
          for (const [at, id] of [...spelled, EOS].entries()) {
            expect(allowedNow(text, mask), written(spelled.slice(0, at))).toContain(id);
            expect(text.accept(id), written(spelled.slice(0, at + 1))).toBe(true);
          }
          expect(text.isOver).toBe(true);
        }
        for (const length of some(
          ids.map((_, at) => at),
          3,
          random,
        )) {
          const prefix = ids.slice(0, length);
          const open = () => {
            const text = constraint.begin();
            for (const id of prefix) text.accept(id);
            return text;
          };
          for (const id of some(allowedNow(open(), mask), 6, random)) {
            const text = open();
            expect(text.accept(id), `${written(prefix)} and ${written([id])}`).toBe(true);
            if (id !== EOS && answerIds(text, random, 0) === null)
              undecided++; // throws at a dead end
            else ends++;
          }
        }
      }),
      { numRuns: 60, seed: 2026 },
    );
    expect(ends).toBeGreaterThan(200);
    expect(undecided).toBeLessThan(ends / 20);
  },
);

test('the cache of texts may fill up: it is rebuilt, and texts continue unchanged', () => {
  const free = jsonSchema({ type: 'object', additionalProperties: { type: ['object', 'string'] }, minProperties: 2 });
  const small = createConstraintEngine({ vocabulary, vocabSize: VOCAB_SIZE, stopTokenIds: [EOS], placesMax: 300 });
  const [roomy, cramped] = [engine.compile(free), small.compile(free)];
  const open = cramped.begin();
  const begun = Buffer.from('{"ab":{"c":"');
  for (const byte of begun) expect(open.accept(byte)).toBe(true);
  const answersOf = (constraint: typeof roomy) =>
    Array.from({ length: 12 }, (_, seed) => answer(constraint.begin(), createRandom(seed), 60));
  expect(answersOf(cramped)).toEqual(answersOf(roomy));
  const rest = answer(open, createRandom(1), 0)!;
  expect(Object.keys(JSON.parse(begun.toString() + rest) as object)).toContain('ab');
});

test('a text longer than the whole cache continues', () => {
  const branch = (name: string) => ({
    properties: { [name]: { type: 'null' } },
    additionalProperties: { type: 'integer' },
  });
  const either = jsonSchema({ type: 'object', anyOf: [branch('x'), branch('y')] }); // both are open until one of the names occurs
  const small = createConstraintEngine({ vocabulary, vocabSize: VOCAB_SIZE, stopTokenIds: [EOS], placesMax: 500 });
  const text = small.compile(either).begin();
  const roomy = engine.compile(either).begin();
  const masks = [new Int32Array(maskWords(VOCAB_SIZE)), new Int32Array(maskWords(VOCAB_SIZE))] as const;
  const members = Array.from({ length: 200 }, (_, i) => `"key-${i}":${i}`);
  for (const byte of Buffer.from(`{${members.join(',')},"y":null}`)) {
    text.writeMask(masks[0]);
    roomy.writeMask(masks[1]);
    expect(masks[0]).toEqual(masks[1]);
    expect([text.accept(byte), roomy.accept(byte)]).toEqual([true, true]);
  }
  expect(text.accept(EOS)).toBe(true);
});
