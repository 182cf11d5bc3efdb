// For any schema and any sampling temperature, an answer constrained to a JSON schema validates. Ajv decides; the model has
// random weights, so only the mask makes the answer valid.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom, type Random } from '#base/random';
import type { Constraint } from '#domain/constraint';
import { PLAIN_REQUEST } from '#engine/inference-engine';
import { PLAIN_SAMPLING } from '#domain/sampling';
import { openTinyChatModel, type TinyChatModel } from '../../support/api/tiny-chat-model.ts';

let model: TinyChatModel;
beforeAll(async () => {
  model = await openTinyChatModel('tiny');
});
afterAll(() => model.close());

const pick = <T>(items: readonly T[], random: Random): T => items[random.integer(items.length)]!;

/** Schemas as people write them: objects of a few typed properties, lists, choices, references; never very deep. */
function randomSchema(random: Random, depth: number): Record<string, unknown> {
  const leaf = [
    () => ({ type: 'boolean' }),
    () => ({ type: 'null' }),
    () => ({ enum: ['red', 'green', 3, null] }),
    () => ({ const: pick(['fixed', 7, true], random) }),
    () => ({ type: 'integer', minimum: -5 + random.integer(5), maximum: random.integer(300) }),
    () => ({ type: 'string', maxLength: 1 + random.integer(6) }),
    () => ({ type: 'string', minLength: 2, maxLength: 4 }),
    () => ({ type: 'string', pattern: pick(['^[a-c]{2,3}$', '^(yes|no)$', '^[0-9]{3}-[0-9]{2}$'], random) }),
    () => ({ type: 'string', format: pick(['date', 'ipv4', 'uuid'], random) }),
    () => ({ type: ['integer', 'null'], minimum: 0, maximum: 9 }),
    () => ({ type: 'number', minimum: -random.integer(30), exclusiveMaximum: 0.5 + random.integer(900) }),
    () => ({ type: 'number', exclusiveMinimum: 0, maximum: 1 }),
    () => ({ type: 'integer', [pick(['minimum', 'exclusiveMinimum'], random)]: random.integer(2_000) - 1_000 }),
    () => ({ type: 'integer', [pick(['maximum', 'exclusiveMaximum'], random)]: random.integer(2_000) - 1_000 }),
    () => ({ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
    () => ({
      type: 'number',
      [pick(['minimum', 'exclusiveMinimum'], random)]: Number((random.next() * 10 - 5).toFixed(3)),
    }),
    () => ({ type: 'number', minimum: 0.1 + 0.2, exclusiveMaximum: 0.30001 + random.next() }),
    () => ({ type: 'number', exclusiveMaximum: -(10 ** -random.integer(8)) }),
    () => ({ type: 'integer', enum: ['one', 1, 2, 3.5, 40], exclusiveMaximum: 40 }),
    () => ({ enum: ['a', 'bb', 'ccc', 7], type: 'string', minLength: 2, pattern: '^[ab]' }),
    () => ({ type: ['integer', 'null'], allOf: [{ minimum: 3 }, { maximum: 12 }] }),
    () => ({ type: 'integer', multipleOf: pick([3, 5, 12, 50, 1000], random) }),
    () => ({
      type: 'number',
      multipleOf: 1 + random.integer(20),
      minimum: -random.integer(5_000),
      maximum: random.integer(50_000),
    }),
    () => ({
      type: 'string',
      format: pick(['uri', 'email', 'hostname'], random),
      minLength: 1,
      maxLength: pick([2083, 40, 14], random),
    }),
    () => ({
      type: 'string',
      pattern: pick(['^[a-z"]+$', '^x(ab)*$', '^(a|b{2,}|é*)$', '^a'], random),
      minLength: 1,
      maxLength: 3 + random.integer(4),
    }),
    () => ({
      type: 'array',
      items: { enum: ['a', 'b', 'c', 4] },
      uniqueItems: true,
      minItems: random.integer(3),
      maxItems: 2 + random.integer(3),
    }),
    () => ({ $ref: '#/$defs/tag' }),
  ];
  const branch = [
    () => randomObject(random, depth),
    () => ({
      type: 'array',
      items: randomSchema(random, depth - 1),
      minItems: random.integer(2),
      maxItems: 1 + random.integer(3),
    }),
    () => ({
      type: 'array',
      prefixItems: [randomSchema(random, 0), randomSchema(random, 0)],
      items: false,
      minItems: 2,
    }),
    () => ({ anyOf: [randomSchema(random, depth - 1), { type: 'null' }] }),
    () => ({ ...randomObject(random, depth), minimum: 5, propertyNames: { maxLength: 4 }, required: [] }),
    () => ({
      type: 'object',
      propertyNames: { enum: ['x', 'y'] },
      additionalProperties: randomSchema(random, 0),
      required: ['y'],
    }),
    () => ({
      type: 'object',
      properties: { a: randomSchema(random, 0) },
      unevaluatedProperties: false,
      anyOf: [{ required: ['a'] }, { properties: { b: randomSchema(random, 0) }, required: ['b'] }],
    }),
    () => ({
      type: 'array',
      prefixItems: [randomSchema(random, 0)],
      unevaluatedItems: randomSchema(random, 0),
      maxItems: 3,
    }),
    () => ({
      oneOf: ['circle', 'square'].map((kind) => ({
        type: 'object',
        properties: { kind: { const: kind }, size: randomSchema(random, 0) },
        required: ['kind', 'size'],
        additionalProperties: false,
      })),
    }),
    () => ({ ...randomObject(random, depth), required: [], minProperties: 1, maxProperties: 1 + random.integer(2) }),
    () => ({
      type: 'object',
      additionalProperties: randomSchema(random, 0),
      propertyNames: { maxLength: 4 },
      minProperties: 1,
      maxProperties: 3,
    }),
    () => ({
      type: 'object',
      properties: { id: { type: 'boolean' }, idx: { type: 'null' } },
      required: ['id'],
      additionalProperties: { enum: [0, 1] },
    }),
  ];
  return pick(depth > 0 && random.next() < 0.7 ? branch : leaf, random)();
}

function randomObject(random: Random, depth: number): Record<string, unknown> {
  const names = ['id', 'name', 'größe', 'a b', 'tags'].slice(0, 1 + random.integer(4));
  const properties = Object.fromEntries(names.map((name) => [name, randomSchema(random, depth - 1)]));
  const required = names.filter(() => random.next() < 0.7);
  return { type: 'object', properties, required, additionalProperties: false };
}

async function answer(constraint: Constraint, seed: number): Promise<{ text: string; finishReason: string | null }> {
  const { inference, text } = model;
  const prompt = `Question ${seed}`;
  const request = {
    ...PLAIN_REQUEST,
    requestId: `schema-${seed}`,
    promptTokens: text.tokenizer.encode(prompt),
    adapter: null,
    n: 1,
    constraint: { constraint, afterTokenId: null },
    sampling: { ...PLAIN_SAMPLING, temperature: 1.5, seed, maxTokens: 480, stopTokenIds: text.eosTokenIds },
  };
  const tokens: number[] = [];
  let finishReason: string | null = null;
  for await (const event of inference.generate(request, AbortSignal.timeout(60_000))) {
    tokens.push(event.tokenId);
    finishReason = event.finishReason;
  }
  return { text: text.tokenizer.decode(tokens), finishReason };
}

test('500 random schemas at temperature 1.5: every answer validates', { timeout: 300_000 }, async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const random = createRandom(2026);
  const $defs = { tag: { enum: ['a', 'b'] } };
  const schemas = Array.from({ length: 500 }, () => ({ ...randomObject(random, 2), $defs }));
  let unfinished = 0;
  for (let start = 0; start < schemas.length; start += 20) {
    await Promise.all(
      schemas.slice(start, start + 20).map(async (schema, i) => {
        const constraint = {
          kind: 'json_schema',
          source: JSON.stringify(schema),
          anyWhitespace: i % 2 === 0,
          whitespacePattern: null,
          strict: false,
        } as const;
        const { text, finishReason } = await answer(constraint, start + i);
        // Unlimited keys may go on forever; nothing else may.
        if (finishReason === 'length') return void (JSON.stringify(schema).includes('"enum":[0,1]') || unfinished++);
        const validate = ajv.compile(schema);
        const valid = validate(JSON.parse(text));
        expect(valid, `${JSON.stringify(schema)} → ${text}: ${JSON.stringify(validate.errors)}`).toBe(true);
      }),
    );
  }
  expect(unfinished).toBe(0);
});
