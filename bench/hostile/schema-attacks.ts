// Constraints that refer to themselves, branch into choices of choices, or repeat without end: JSON schemas, grammars, expressions.
import type { Attack } from './client.ts';
import { chat, many } from './forms.ts';

const schema = (name: string, make: () => object): Attack =>
  chat(name, () => ({ max_tokens: 8, structured_outputs: { json: make() } }));

/** Each definition refers to the next one twice. */
export const doubling = (levels: number) => ({
  $ref: '#/$defs/a0',
  $defs: Object.fromEntries(
    many(levels, (i) => [
      `a${i}`,
      i === levels - 1
        ? { type: 'string' }
        : {
            type: 'object',
            properties: { l: { $ref: `#/$defs/a${i + 1}` }, r: { $ref: `#/$defs/a${i + 1}` } },
            required: ['l', 'r'],
          },
    ]),
  ),
});

export const schemaAttacks = (): readonly Attack[] => [
  schema('schema: definitions that double', () => doubling(40)),
  schema('schema: a circle of references', () => ({
    $ref: '#/$defs/a',
    $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/a' }] }, b: { allOf: [{ $ref: '#/$defs/a' }] } },
  })),
  schema('schema: many of all', () => ({
    allOf: many(2_000, (i) => ({ type: 'object', properties: { [`p${i}`]: { type: 'string' } } })),
  })),
  schema('schema: choices of choices', () => ({
    anyOf: many(60, () => ({ anyOf: many(60, (i) => ({ type: 'string', pattern: `^x{${i}}y*z$` })) })),
  })),
  schema('schema: long patterns', () => ({
    type: 'object',
    properties: Object.fromEntries(
      many(200, (i) => [`p${i}`, { type: 'string', pattern: '^\\p{L}{1,500}[\\w.-]{0,500}@\\p{Nd}{3,400}$' }]),
    ),
    required: many(200, (i) => `p${i}`),
  })),
  schema('schema: bounds of a thousand digits', () => ({
    type: 'integer',
    minimum: Number(`1e300`),
    maximum: Number('1e308'),
    multipleOf: 1e-300,
  })),
  schema('schema: a million items', () => ({
    type: 'array',
    minItems: 1_000_000,
    maxItems: 2_000_000,
    items: { type: 'array', minItems: 1_000, items: { type: 'boolean' } },
  })),
  schema('schema: long constants', () => ({ enum: many(20, (i) => `${i}${'é'.repeat(100_000)}`) })),
  chat('choices with one long beginning', () => ({
    max_tokens: 8,
    structured_outputs: { choice: many(2_000, (i) => `${'same beginning '.repeat(60)}${i}`) },
  })),
  chat('a grammar of five thousand rules', () => ({
    max_tokens: 8,
    structured_outputs: {
      grammar: [
        'root ::= r0',
        ...many(5_000, (i) => `r${i} ::= "a" r${(i * 7 + 1) % 5_000} | "b" r${(i + 1) % 5_000} | ""`),
      ].join('\n'),
    },
  })),
  chat('an expression of twenty thousand words', () => ({
    max_tokens: 8,
    structured_outputs: { regex: `(${many(20_000, (i) => `w${i.toString(36)}x`).join('|')})+` },
  })),
  chat('an expression of Unicode classes', () => ({
    max_tokens: 8,
    structured_outputs: {
      regex: '([^\\u0000-\\u001f]|\\p{L}|[\\u{1F300}-\\u{1FAFF}]){0,2000}(\\P{Lu}{1,300}\\p{Lu}{1,300}){1,50}',
    },
  })),
];
