// POST /v1/embeddings: accepted inputs, the response, and who is charged. test/engine/golden/embeddings.test.ts checks the numbers.
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { embeddingListSchema } from '#api/chat/embeddings-schema';
import {
  asOwner,
  BASE,
  containing,
  faults,
  openTestServer,
  runScenarios,
  send,
  shareTestServer,
  type TestServer,
} from '../../support/api/test-server.ts';
import { CONTEXT_LENGTH } from '../../support/api/tiny-chat-model.ts';

const server: TestServer = await shareTestServer();
const url = '/v1/embeddings';
const body = (fields: object = {}) => ({ model: BASE, input: 'Hello there.', ...fields });

type Answer = z.output<typeof embeddingListSchema>;

async function ask(fields: object = {}): Promise<Answer> {
  const response = await send(server, { url, body: body(fields) });
  expect(response.statusCode, response.body).toBe(200);
  const answer: Answer = response.json();
  expect(embeddingListSchema.strict().safeParse(answer).error).toBeUndefined();
  return answer;
}

const vectorsOf = ({ data }: Answer) => data.map(({ embedding }) => embedding as number[]);

describe('vectors', () => {
  test('have length 1, and come in the order of their inputs', async () => {
    const inputs = Array.from({ length: 20 }, (_, i) => 'word '.repeat(i + 1));
    const answer = await ask({ input: inputs });
    expect(answer.data.map(({ index }) => index)).toEqual([...inputs.keys()]);
    for (const vector of vectorsOf(answer)) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    const [last] = vectorsOf(await ask({ input: inputs.at(-1) }));
    expect(vectorsOf(answer).at(-1)).toEqual(last);
    expect(vectorsOf(answer)[0]).not.toEqual(last);
  });

  test('of a text are those of its tokens', async () => {
    const tokens = server.model.text.tokenizer.encode('Hello there.');
    const [text] = vectorsOf(await ask());
    expect(vectorsOf(await ask({ input: tokens }))).toEqual([text]);
    expect(vectorsOf(await ask({ input: [tokens, tokens] }))).toEqual([text, text]);
    expect((await ask({ input: [tokens, tokens] })).usage.prompt_tokens).toBe(2 * tokens.length);
  });

  test('in base64 are the same numbers', async () => {
    const [vector] = vectorsOf(await ask());
    const { data } = await ask({ encoding_format: 'base64' });
    const bytes = Buffer.from(data[0]!.embedding as string, 'base64');
    expect(vector!.map((_, i) => bytes.readFloatLE(4 * i))).toEqual(vector);
    expect(bytes).toHaveLength(4 * vector!.length);
  });

  test('of fewer dimensions are the first ones, normalised again', async () => {
    const [vector] = vectorsOf(await ask());
    const [short] = vectorsOf(await ask({ dimensions: 5 }));
    const length = Math.hypot(...vector!.slice(0, 5));
    expect(short).toHaveLength(5);
    short!.forEach((value, i) => expect(value).toBeCloseTo(vector![i]! / length, 6));
  });

  test('of the end of a text equal those of its tokens there', async () => {
    const tokens = server.model.text.tokenizer.encode('word '.repeat(700));
    const [cut] = vectorsOf(await ask({ input: tokens, truncate_prompt_tokens: -1 }));
    expect(vectorsOf(await ask({ input: tokens.slice(1 - CONTEXT_LENGTH) }))).toEqual([cut]);
    const [first] = vectorsOf(await ask({ input: tokens, truncate_prompt_tokens: 3, truncation_side: 'right' }));
    expect(vectorsOf(await ask({ input: tokens.slice(0, 3) }))).toEqual([first]);
  });
});

test('are counted as prompt tokens', async () => {
  const { key, secret } = await server.apiKeys.create({ entity: 'counted', name: 'x', limits: { tokensPerDay: 3 } });
  const headers = { authorization: `Bearer ${secret}` };
  const { usage } = (await send(server, { url, headers, body: body() })).json<Answer>();
  const listed = await send(server, { url: '/v1/usage', headers });
  expect(listed.json()).toMatchObject({ totals: { prompt_tokens: usage.prompt_tokens, completion_tokens: 0 } });
  expect((await send(server, { url, headers, body: body() })).statusCode, key.id).toBe(429);
});

test('are refused by name if the engine does not support them', async () => {
  const without = await openTestServer({ capabilities: { embeddings: false } });
  try {
    const refused = await send(without, { url, body: body() });
    expect([refused.statusCode, refused.json()]).toMatchObject([
      400,
      { error: { param: 'model', message: containing('does not support embeddings') } },
    ]);
  } finally {
    await without.close();
  }
});

const refused = (name: string, fields: object, fault: string) =>
  test(`${name} is refused with its place in the body`, async () => {
    const response = await send(server, { url, body: body(fields) });
    expect(response.statusCode, response.body).toBe(422);
    expect(faults(response)).toContain(fault);
  });

refused('no input', { input: [] }, 'body.input value_error');
refused('an unknown encoding', { encoding_format: 'int8' }, 'body.encoding_format literal_error');
refused('no dimension', { dimensions: 0 }, 'body.dimensions greater_than_equal');

runScenarios(
  () => server,
  [
    { name: 'an unknown model', url, body: body({ model: 'nope' }), status: 404 },
    {
      name: 'an empty text',
      url,
      body: body({ input: '' }),
      status: 400,
      answer: { error: { param: 'input', message: containing('empty') } },
    },
    {
      name: 'a text that is too long',
      url,
      body: body({ input: 'word '.repeat(700) }),
      status: 400,
      answer: { error: { code: 'context_length_exceeded' } },
    },
    {
      name: 'an unknown token id',
      url,
      body: body({ input: [1_000_000] }),
      status: 400,
      answer: { error: { param: 'input' } },
    },
    {
      name: 'more dimensions than there are',
      url,
      body: body({ dimensions: 33 }),
      status: 400,
      answer: { error: { param: 'dimensions' } },
    },
    {
      name: 'an unknown field is named',
      url,
      body: body({ paint: 'blue' }),
      headers: asOwner,
      status: 200,
      answer: { warnings: [containing('paint')] },
    },
  ],
);
