// Constraints that are designed to be expensive: each compiles within its work limit, or is refused. Work is counted, so the
// outcome is the same on every machine (constraint-engine.ts defines a unit of work).
import { expect, test } from 'vitest';
import type { Constraint } from '#domain/constraint';
import { createConstraintEngine, WORK_OF_COMPILING } from '#grammar/constraint-engine';
import { ebnf, EOS, jsonSchema, regex, VOCAB_SIZE } from './byte-grammars.ts';

const vocabulary = {
  bytes: Uint8Array.from({ length: 256 }, (_, byte) => byte),
  offsets: Uint32Array.from({ length: 258 }, (_, i) => Math.min(i, 256)),
};
const engine = createConstraintEngine({ vocabulary, vocabSize: VOCAB_SIZE, stopTokenIds: [EOS] });

const list = <T>(length: number, of: (i: number) => T): T[] => Array.from({ length }, (_, i) => of(i));
const properties = (count: number, of: (i: number) => unknown) => ({
  type: 'object',
  properties: Object.fromEntries(list(count, (i) => [`p${i}`, of(i)])),
});
const nested = (depth: number, around: (inner: unknown) => unknown): unknown =>
  depth === 0 ? { type: 'integer' } : around(nested(depth - 1, around));
const defs = (count: number, of: (next: object) => object) => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    list(count, (i) => [`d${i}`, i === count - 1 ? { type: 'null' } : of({ $ref: `#/$defs/d${i + 1}` })]),
  ),
});

const COMPILE: Readonly<Record<string, Constraint>> = {
  'deep: ninety objects in each other': jsonSchema(
    nested(90, (a) => ({ type: 'object', properties: { a }, required: ['a'] })),
  ),
  'wide: 20,000 properties': jsonSchema(properties(20_000, () => ({ type: 'string' }))),
  'wide: 400 numbers with bounds of their own': jsonSchema(properties(400, (i) => ({ type: 'integer', minimum: i }))),
  'recursive: each definition names the next twice': jsonSchema(defs(40, (next) => ({ allOf: [next, next] }))),
  'catastrophic for backtracking': jsonSchema({ type: 'string', pattern: '^(a+)+$' }),
  'catastrophic and negated': jsonSchema({ type: 'string', pattern: '^[ab]*$', not: { pattern: '(a|b)*a(a|b){30}$' } }),
  'a large enum': jsonSchema({ enum: list(50_000, (i) => `word-${i}`) }),
  'exactly one of 1,000 constants': jsonSchema({
    oneOf: list(1_000, (i) => ({ const: `word-${i}`, title: `Word ${i}` })),
  }),
  'exactly one of 100 objects that a property tells apart': jsonSchema({
    oneOf: list(100, (i) => ({ $ref: `#/$defs/d${i}` })),
    $defs: Object.fromEntries(
      list(100, (i) => [
        `d${i}`,
        { type: 'object', properties: { kind: { const: `k${i}` }, name: { type: 'string' } }, required: ['kind'] },
      ]),
    ),
  }),
  'a constant of 5,000 slashes': jsonSchema({ const: '/'.repeat(5_000) }),
  'a grammar of 150,000 words in a row': ebnf(`root ::= ${'"x" '.repeat(150_000)}`),
  'a large enum of paths': jsonSchema({ enum: list(20_000, (i) => `/word/${i}`) }),
  '2^31 repetitions of 2^31': jsonSchema({ type: 'string', pattern: '^(a{2147483648}){2147483648}$' }),
  '2^31 characters': jsonSchema({ type: 'string', minLength: 2 ** 31 }),
  '2^31 items': jsonSchema({ type: 'array', minItems: 2 ** 31 }),
  '2^31 items that are contained': jsonSchema({ type: 'array', contains: { type: 'integer' }, minContains: 2 ** 31 }),
  'a grammar of 20,000 words': ebnf(`root ::= ${list(20_000, (i) => `"x${i}"`).join(' | ')}`),
  'an expression of 20,000 words': regex(list(20_000, (i) => `w${i}`).join('|')),
};

const REFUSED: Readonly<Record<string, Constraint>> = {
  'deep: 50,000 lists in each other': jsonSchema(`${'{"items":'.repeat(50_000)}{}${'}'.repeat(50_000)}`),
  'deep: fifteen choices in each other': jsonSchema(
    nested(15, (x) => ({ anyOf: [x, { ...(x as object), title: 'a' }] })),
  ),
  'wide: 12,000 numbers with bounds of their own': jsonSchema(
    properties(12_000, (i) => ({ type: 'integer', minimum: i })),
  ),
  'wide: 5,000 patterns': jsonSchema(properties(5_000, (i) => ({ type: 'string', pattern: `^(a|b)*x{${i}}[a-c]?$` }))),
  'recursive: each definition names the next as a choice': jsonSchema(
    defs(40, (next) => ({ anyOf: [next, { ...next, title: 'x' }] })),
  ),
  'recursive: a reference to itself': jsonSchema({ $ref: '#' }),
  'overlapping: patterns of keys': jsonSchema({
    patternProperties: Object.fromEntries(list(40, (i) => [`a.{${i}}b`, { minLength: i }])),
  }),
  'overlapping: look-ahead': jsonSchema({ type: 'string', pattern: '(?=.*a.{20}$)(?=.*b.{21}$)(?=.*c.{22}$)' }),
  'overlapping: 300 branches of oneOf': jsonSchema({
    oneOf: list(300, (i) => properties(i + 1, () => ({ type: 'integer' }))),
  }),
  'a length that a pattern must reach': jsonSchema({ type: 'string', minLength: 2 ** 31, pattern: '^(ab)*$' }),
  'two large enums at once': jsonSchema({
    allOf: [{ enum: list(30_000, (i) => i) }, { enum: list(30_000, (i) => 2 * i) }],
  }),
  'a large enum of objects': jsonSchema({ enum: list(20_000, (i) => ({ a: i, b: [i] })) }),
  '2^31 properties': jsonSchema({ type: 'object', minProperties: 2 ** 31, maxProperties: 1 }),
  '2^31 items that differ': jsonSchema({ type: 'array', uniqueItems: true, minItems: 2 ** 31 }),
  'a grammar of rules in a row': ebnf(
    `root ::= r0\n${list(5_000, (i) => `r${i} ::= "a" r${i + 1} | "b" root`).join('\n')}\nr5000 ::= "x"`,
  ),
  'a grammar that doubles with each rule': ebnf(
    `root ::= r0\n${list(60, (i) => `r${i} ::= r${i + 1} "y" r${i + 1} | r${i + 1}`).join('\n')}\nr60 ::= "x" | "(" root ")"`,
  ),
};

test.each(Object.entries(COMPILE))('%s: it compiles within the work of one constraint', (_, constraint) => {
  expect(engine.compile(constraint).work).toBeLessThanOrEqual(WORK_OF_COMPILING);
});

const MANY = 150_000;
const numbers = list(MANY, (i) => ({ const: i }));
/** More than the arguments of a call, and lists of lists of them are more than the memory. */
const TOO_MANY: Readonly<Record<string, Constraint>> = {
  'a constant of slashes': jsonSchema({ const: '/'.repeat(MANY) }),
  'exactly one of many': jsonSchema({ oneOf: numbers }),
  'not exactly one of many': jsonSchema({ not: { oneOf: numbers } }),
  'all of many': jsonSchema({ allOf: numbers.map(() => ({ type: 'integer' })) }),
  'many alternatives in a pattern': jsonSchema({ type: 'string', pattern: `^(${'a|'.repeat(MANY)}b)$` }),
};

test.each(Object.entries(TOO_MANY))('%s: the refusal says that it is too much work', (_, constraint) => {
  expect(() => engine.compile(constraint)).toThrow(/takes too much work to compile/);
});

test.each([
  ['two references to each other', 2, 'its references form a cycle'],
  ['a chain of 20,000 references', 20_000, 'its references form a chain of more than 200'],
])('%s: the refusal names it', (_, length, reason) => {
  const chain = list(length, (i): [string, object] => [
    `d${i}`,
    i === length - 1 && length > 2 ? {} : { $ref: `#/$defs/d${(i + 1) % length}` },
  ]);
  expect(() => engine.compile(jsonSchema({ $ref: '#/$defs/d0', $defs: Object.fromEntries(chain) }))).toThrow(reason);
});

test.each(Object.entries(REFUSED))('%s: it is refused', (_, constraint) => {
  expect(() => engine.compile(constraint)).toThrow(expect.objectContaining({ code: 'invalid_constraint' }));
});

test('real schemas are far from the bound', () => {
  const order = {
    type: 'object',
    properties: { id: { type: 'integer', minimum: 1 }, lines: { type: 'array', items: { $ref: '#/$defs/line' } } },
    required: ['id', 'lines'],
    $defs: {
      line: {
        type: 'object',
        properties: {
          sku: { type: 'string', pattern: '^[A-Z]{3}-[0-9]+$' },
          count: { type: 'integer', minimum: 1, maximum: 999 },
        },
        required: ['sku', 'count'],
        additionalProperties: false,
      },
    },
  };
  expect(engine.compile(jsonSchema(order)).work).toBeLessThan(WORK_OF_COMPILING / 100);
});
