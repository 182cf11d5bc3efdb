// Thousands of random chat requests: any field with a valid, unusual or wrong value. Each gets an answer
// or a refusal in both shapes, never a server error.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chatRequestSchema } from '#api/chat/chat-request';
import { BASE, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';
import { IS_LONG } from '../../support/skipping.ts';

const RUNS = IS_LONG ? 2_500 : 1_000;

let server: TestServer;
beforeAll(async () => {
  server = await openTestServer({ acceptsTemplates: true });
});
afterAll(async () => {
  await server.close();
});

const tool = {
  type: 'function',
  function: {
    name: 'f',
    parameters: { type: 'object', properties: { a: { type: 'integer', minimum: 0, maximum: 9 } } },
  },
};
const message = fc.oneof(
  fc.record({
    role: fc.constantFrom('user', 'system', 'developer', 'assistant'),
    content: fc.string({ maxLength: 20, unit: 'grapheme' }),
  }),
  fc.record({
    role: fc.constant('user'),
    content: fc.array(fc.record({ type: fc.constant('text'), text: fc.string({ maxLength: 5 }) }), { maxLength: 2 }),
  }),
  fc.record({
    role: fc.constant('assistant'),
    content: fc.constant(null),
    tool_calls: fc.array(
      fc.record({
        id: fc.string(),
        type: fc.constant('function'),
        function: fc.record({ name: fc.constant('f'), arguments: fc.constantFrom('{}', '{"a":1}', '{', '') }),
      }),
      { maxLength: 2 },
    ),
  }),
  fc.record({ role: fc.constant('tool'), tool_call_id: fc.string(), content: fc.string({ maxLength: 5 }) }),
);
const messages = fc.array(message, { minLength: 1, maxLength: 3 });

/** Values that are meaningful for the field; the other fields get only junk. */
const FAIR: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  model: fc.constantFrom(BASE, '', null, 'unknown/model', 'wandb-artifact:///a/b/c:step1'),
  n: fc.integer({ min: 1, max: 3 }),
  temperature: fc.constantFrom(0, 1e-6, 0.5, 1, 5),
  top_p: fc.constantFrom(1e-9, 0.5, 1),
  top_k: fc.constantFrom(-1, 0, 1, 7, 10_000),
  min_p: fc.constantFrom(0, 0.3, 1),
  frequency_penalty: fc.constantFrom(-2, 0, 2),
  presence_penalty: fc.constantFrom(-2, 2),
  repetition_penalty: fc.constantFrom(1e-3, 1, 10),
  logit_bias: fc.dictionary(fc.constantFrom('1', '17', '487', '488', '-1', 'x'), fc.constantFrom(-100, 100, 1e9), {
    maxKeys: 2,
  }),
  allowed_token_ids: fc.array(fc.integer({ min: 0, max: 490 }), { maxLength: 3 }),
  bad_words: fc.array(fc.string({ maxLength: 4, unit: 'grapheme' }), { maxLength: 3 }),
  seed: fc.constantFrom(0, -1, 2 ** 31, 1e15),
  use_beam_search: fc.boolean(),
  length_penalty: fc.constantFrom(-1, 0, 2),
  min_tokens: fc.integer({ min: 0, max: 4 }),
  stop: fc.oneof(fc.string({ maxLength: 2 }), fc.array(fc.string({ maxLength: 2 }), { maxLength: 3 })),
  stop_token_ids: fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 3 }),
  top_logprobs: fc.integer({ min: -1, max: 22 }),
  prompt_logprobs: fc.integer({ min: -1, max: 22 }),
  stream_options: fc.record(
    { include_usage: fc.boolean(), continuous_usage_stats: fc.boolean() },
    { requiredKeys: [] },
  ),
  truncate_prompt_tokens: fc.integer({ min: -1, max: 600 }),
  documents: fc.array(fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }), { maxLength: 2 }),
  chat_template: fc.constantFrom(
    '{{ messages[0].content }} {{ tools }}',
    '{% if %}',
    '{{ raise_exception("no") }}',
    '',
  ),
  chat_template_kwargs: fc.dictionary(
    fc.constantFrom('enable_thinking', 'messages', 'chat_template', 'add_generation_prompt', 'x'),
    fc.jsonValue({ maxDepth: 1 }),
    { maxKeys: 2 },
  ),
  reasoning_effort: fc.constantFrom('none', 'low', 'max', 'huge'),
  response_format: fc.constantFrom(
    { type: 'text' },
    { type: 'json_object' },
    { type: 'json_schema', json_schema: { name: 'x', schema: { enum: [1] } } },
    { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'never' } } },
    { type: 'structural_tag', structures: [], triggers: [] },
  ),
  structured_outputs: fc.constantFrom(
    { choice: ['a', 'b'] },
    { regex: '[ab]+' },
    { regex: '(' },
    { grammar: 'root ::= "x"' },
    { grammar: 'x' },
    { json: '{}' },
    { json_object: true },
    { structural_tag: '{"format":{"type":"const_string","value":"hi"}}' },
    {},
  ),
  tools: fc.constantFrom([tool], [tool, tool], []),
  tool_choice: fc.constantFrom(
    'none',
    'auto',
    'required',
    { type: 'function', function: { name: 'f' } },
    { type: 'function', function: { name: 'g' } },
  ),
  cache_salt: fc.constantFrom('a', 'b', ''),
  vendor_xargs: fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double()), { maxKeys: 2 }),
};

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(null, true, '', 'x', -1, 1.5, 1e300, [], {}, [[]], { a: { b: 1 } }, 'NaN', '9'.repeat(400)),
);

const fields = Object.keys(chatRequestSchema.shape).filter((name) => name !== 'messages' && !name.startsWith('max_'));
const field = fc.constantFrom(...fields).chain((name) => {
  const fair = FAIR[name] ?? fc.boolean();
  return fc.tuple(fc.constant(name), fc.oneof({ weight: 6, arbitrary: fair }, { weight: 1, arbitrary: junk }));
});

const body = fc.record({
  given: fc.array(field, { maxLength: 4 }),
  conversation: fc.oneof({ weight: 15, arbitrary: messages }, { weight: 1, arbitrary: junk }),
});

test(`${RUNS} random requests get an answer or a refusal, never a server error`, { timeout: 300_000 }, async () => {
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(body, async ({ given, conversation }) => {
      const asked = { max_tokens: 4, ...Object.fromEntries(given), messages: conversation };
      const response = await send(server, { url: '/v1/chat/completions', body: asked });
      seen.set(response.statusCode, (seen.get(response.statusCode) ?? 0) + 1);
      expect(response.statusCode, `${JSON.stringify(asked)} → ${response.body}`).toBeLessThan(500);
      if (response.statusCode === 200) expect(response.body).not.toContain('"type":"server_error"');
      else expect(response.json()).toMatchObject({ error: { message: expect.any(String) as string } });
    }),
    { seed: 4, numRuns: RUNS },
  );
  expect(seen.get(200)).toBeGreaterThan(RUNS / 4);
  expect(seen.get(422)).toBeGreaterThan(RUNS / 10);
  expect(server.model.inference.status()).toMatchObject({ running: 0, waiting: 0 });
});
