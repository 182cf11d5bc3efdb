// Fields that need a capability which the engine does not declare are refused by name, even if the engine supports them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAsker, weather, CHAT_URL } from './chat-asker.ts';
import { chat, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await openTestServer({
    capabilities: {
      constraints: ['json_schema'],
      promptLogprobs: false,
      unsupportedSampling: ['badWords', 'minP', 'allowedTokenIds'],
    },
  });
});
afterAll(() => server.close());

const { text } = createAsker(() => server);

test.each([
  [{ structured_outputs: { regex: 'a+' } }, 'structured_outputs', 'regex'],
  [{ structured_outputs: { choice: ['a', 'b'] } }, 'structured_outputs', 'ebnf'],
  [{ structured_outputs: { grammar: 'root ::= "x"' } }, 'structured_outputs', 'ebnf'],
  [{ tools: [weather], tool_choice: 'required' }, 'tools', 'structural_tag'],
  [{ bad_words: ['a'] }, 'bad_words', 'bad_words'],
  [{ min_p: 0.1 }, 'min_p', 'min_p'],
  [{ allowed_token_ids: [1, 2] }, 'allowed_token_ids', 'allowed_token_ids'],
  [{ prompt_logprobs: 1 }, 'prompt_logprobs', 'prompt_logprobs'],
])('%j is refused by name', async (fields, param, named) => {
  const response = await send(server, { url: CHAT_URL, body: chat(fields) });
  expect(response.statusCode).toBe(400);
  const { error } = response.json<{ error: { message: string; param: string } }>();
  expect(error.param).toBe(param);
  expect(error.message).toMatch(/not supported by the engine/);
  expect(error.message).toContain(named);
});

test('supported fields take effect, and unsupported ones are accepted if they are switched off', async () => {
  const schema = { type: 'object', properties: { ok: { enum: [true] } }, required: ['ok'] };
  const fields = { structured_outputs: { json: schema }, bad_words: [], min_p: 0, max_tokens: 60 };
  expect(JSON.parse(await text(fields))).toEqual({ ok: true });
});
