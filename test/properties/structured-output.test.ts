// Whatever the schema and however hot the sampling, an answer that was asked for as JSON of a schema validates. The judge
// is Ajv; the model has random weights, so nothing but the mask keeps it on the path.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom, type Random } from '#base/random';
import type { Constraint } from '#domain/constraint';
import { PLAIN_SAMPLING } from '#domain/sampling';
import { openTinyChatModel, type TinyChatModel } from '../api/tiny-chat-model.ts';

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
    () => ({ $ref: '#/$defs/tag' }),
  ];
  const branch = [
    () => randomObject(random, depth),
    () => ({ type: 'array', items: randomSchema(random, depth - 1), minItems: random.integer(2), maxItems: 1 + random.integer(3) }),
    () => ({ type: 'array', prefixItems: [randomSchema(random, 0), randomSchema(random, 0)], items: false, minItems: 2 }),
    () => ({ anyOf: [randomSchema(random, depth - 1), { type: 'null' }] }),
    () => ({ oneOf: ['circle', 'square'].map((kind) => ({ type: 'object', properties: { kind: { const: kind }, size: randomSchema(random, 0) }, required: ['kind', 'size'], additionalProperties: false })) }),
    () => ({ type: 'object', properties: { id: { type: 'boolean' }, idx: { type: 'null' } }, required: ['id'], additionalProperties: { enum: [0, 1] } }),
  ]; // prettier-ignore
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
        const constraint = { kind: 'json_schema', source: JSON.stringify(schema), anyWhitespace: i % 2 === 0, whitespacePattern: null, strict: false } as const; // prettier-ignore
        const { text, finishReason } = await answer(constraint, start + i);
        // Keys without number may go on for ever; nothing else may.
        if (finishReason === 'length') return void (JSON.stringify(schema).includes('"enum":[0,1]') || unfinished++);
        const validate = ajv.compile(schema);
        const valid = validate(JSON.parse(text));
        expect(valid, `${JSON.stringify(schema)} → ${text}: ${JSON.stringify(validate.errors)}`).toBe(true);
      }),
    );
  }
  expect(unfinished).toBe(0);
});
