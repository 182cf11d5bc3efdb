// /tokenize and /detokenize with a real tokenizer, and the paths that health probes of such servers request.
import { describe, expect, test } from 'vitest';
import { createAsker } from './chat-asker.ts';
import {
  BASE,
  containing,
  faults,
  openTestServer,
  runScenarios,
  send,
  shareTestServer,
} from '../../support/api/test-server.ts';

const server = await shareTestServer();
const { ask } = createAsker(() => server);

interface Tokenized {
  count: number;
  max_model_len: number;
  tokens: number[];
  token_strs: string[] | null;
  warnings?: string[];
}

const tokenize = async (body: object) => (await send(server, { url: '/tokenize', body })).json<Tokenized>();
const detokenize = async (tokens: number[]) =>
  (await send(server, { url: '/detokenize', body: { tokens } })).json<{ prompt: string }>().prompt;

test('/tokenizer_info has what lm-eval reads: the class, the named tokens and the template in use', async () => {
  const answer = await send(server, { method: 'GET', url: `/tokenizer_info?model=${encodeURIComponent(BASE)}` });
  expect(answer.statusCode, answer.body).toBe(200);
  const info = answer.json<Record<string, string>>();
  const { chatTemplate, namedTokens } = server.model.text;
  expect(info).toMatchObject({ eos_token: namedTokens.get('eos_token'), chat_template: chatTemplate!.source });
  expect(info['tokenizer_class']).toMatch(/Tokenizer/);
  expect(info).not.toHaveProperty('added_tokens_decoder');
  expect((await send(server, { method: 'GET', url: '/tokenizer_info?model=nope' })).statusCode).toBe(404);
});

describe('/tokenize', () => {
  test.each(['Hello, world!', '', ' naïve 🙂 \n\ttext ', '<|im_start|>user'])(
    '%j comes back from /detokenize',
    async (prompt) => {
      const { tokens, count } = await tokenize({ model: BASE, prompt });
      expect(count).toBe(tokens.length);
      expect(await detokenize(tokens)).toBe(prompt);
    },
  );

  test('returns the text of each token on request', async () => {
    const { token_strs: texts } = await tokenize({ prompt: 'Hello, world!', return_token_strs: true });
    expect(texts!.join('')).toBe('Hello, world!');
    expect((await tokenize({ prompt: 'Hello' })).token_strs).toBeNull();
  });

  test('of messages returns the prompt of chat', async () => {
    const { prompt_token_ids: prompt } = await ask();
    const { tokens } = await tokenize({ messages: [{ role: 'user', content: 'Say something.' }] });
    expect(tokens).toEqual(prompt);
  });

  test('of a text longer than the context is complete', async () => {
    const { count, max_model_len: most } = await tokenize({ prompt: 'word '.repeat(5_000) });
    expect(count).toBeGreaterThan(most);
  });

  test('an unknown field is named', async () => {
    expect((await tokenize({ prompt: 'Hello', paint: 'blue' })).warnings).toEqual([containing('paint')]);
  });
});

runScenarios(
  () => server,
  [
    ...[{}, { prompt: 'a', messages: [{ role: 'user', content: 'b' }] }].map((body) => ({
      name: `${JSON.stringify(body)} is neither a text nor a conversation`,
      url: '/tokenize',
      body,
      status: 422,
    })),
    { name: 'an unknown model is a 404', url: '/tokenize', body: { model: 'nope', prompt: 'a' }, status: 404 },
    {
      name: 'an unknown token id is refused',
      url: '/detokenize',
      body: { tokens: [1, 99_999] },
      status: 400,
      answer: { error: { param: 'tokens', message: containing('99999') } },
    },
    { name: 'POST /ping is answered too', method: 'POST', url: '/ping', status: 200 },
    {
      name: 'says its version',
      url: '/version',
      headers: { authorization: '' },
      status: 200,
      answer: { version: '0.0.0-test' },
    },
    { name: 'says its load', url: '/load', headers: { authorization: '' }, status: 200, answer: { server_load: 0 } },
  ],
);

test('negative ids, and texts among them, are refused with their place in the body', async () => {
  const response = await send(server, { url: '/detokenize', body: { tokens: [1, -1, 'x'] } });
  expect(response.statusCode).toBe(422);
  expect(faults(response)).toContain('body.tokens.1 greater_than_equal');
});

test('/load is open to the same callers as /metrics', async () => {
  const closed = await openTestServer({ limits: { metricsAccess: 'key' } });
  try {
    expect((await send(closed, { url: '/load', headers: { authorization: '' } })).statusCode).toBe(401);
    expect((await send(closed, { url: '/load' })).json()).toEqual({ server_load: 0 });
  } finally {
    await closed.close();
  }
});
