// What Messages makes of tools that Anthropic's servers run, and of strategies of context management: agents of Anthropic's send both.
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import type { messageSchema } from '#api/messages/messages-response-schema';
import { shareScriptedServer, type Script } from './scripted-engine.ts';
import { BASE, containing, runScenarios, send } from '../../support/api/test-server.ts';

const script: Script = { text: 'Fine.', asked: null };
const server = await shareScriptedServer(script);
const url = '/v1/messages';
const body = (fields: object = {}) => ({
  model: BASE,
  max_tokens: 200,
  messages: [{ role: 'user', content: 'Hi' }],
  ...fields,
});

async function ask(fields: object): Promise<z.output<typeof messageSchema>> {
  const response = await send(server, { url, body: body(fields) });
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

const prompt = () => server.model.text.tokenizer.decode(script.asked!.promptTokens, { skipSpecialTokens: false });

const serverTools = [
  { type: 'web_search_20250305', name: 'web_search', max_uses: 8, allowed_domains: ['example.com'] },
  { type: 'web_fetch_20260318', name: 'web_fetch' },
  { type: 'code_execution_20250825', name: 'code_execution' },
  { type: 'tool_search_tool_regex', name: 'tool_search_tool_regex' },
  { type: 'advisor_20260301', name: 'advisor', model: 'claude' },
  { type: 'mcp_toolset', mcp_server_name: 'm' },
];

test('tools that Anthropic’s servers run are not offered to the model, as the answer says', async () => {
  const alone = await ask({ tools: serverTools });
  expect(alone.warnings).toEqual(serverTools.map(({ type }) => containing(`${type} was not offered to the model`)));
  expect(prompt()).not.toContain('web_search');
  const own = { name: 'look_up', input_schema: { type: 'object' } };
  const mixed = await ask({ tools: [...serverTools, own], tool_choice: { type: 'auto' } });
  expect(mixed.warnings).toHaveLength(serverTools.length);
  expect(prompt()).toContain('look_up');
  expect(prompt()).not.toContain('web_search');
  const counted = await send(server, {
    url: `${url}/count_tokens`,
    body: { ...body({ tools: serverTools }), max_tokens: undefined },
  });
  expect(counted.json()).toMatchObject({ warnings: alone.warnings });
});

describe('context management', () => {
  const clear = (keep?: unknown) => ({ edits: [{ type: 'clear_thinking_20251015', ...(keep ? { keep } : {}) }] });

  test.each([[clear('all')], [clear({ type: 'all' })], [{ edits: [] }], [{}]])(
    '%j keeps everything, as happens anyway',
    async (value) => {
      expect((await ask({ context_management: value })).warnings).toBeUndefined();
    },
  );

  test.each([[clear()], [clear({ type: 'thinking_turns', value: 1 })]])(
    '%j would change the prompt and is refused',
    async (value) => {
      const response = await send(server, { url, body: body({ context_management: value }) });
      expect(response.json()).toMatchObject({ error: { message: containing('context_management') } });
    },
  );

  /** What Claude Code 2.1.332 looks for at the beginning of the message, before it stops sending the edit. */
  const HEARD = /^\S{1,128} does not support the \W?clear_tool_uses_20250919\W? context management strategy/;

  test.each([url, `${url}/count_tokens`])(
    '%s: a strategy is refused so that Claude Code gives it up',
    async (address) => {
      const edits = [...clear('all').edits, { type: 'clear_tool_uses_20250919', trigger: { type: 'input_tokens' } }];
      const response = await send(server, { url: address, body: body({ context_management: { edits } }) });
      expect(response.statusCode).toBe(400);
      const { error } = response.json<{ error: { message: string; param: string } }>();
      expect(error.message).toMatch(HEARD);
      expect(error).toMatchObject({ param: 'context_management', message: containing('Leave it out') });
    },
  );
});

const refusal = (words: string) => ({
  type: 'error',
  error: { type: 'invalid_request_error', message: containing(words) },
});
runScenarios(
  () => server,
  [
    { name: 'a forced tool of the server', url, body: body({ tools: serverTools, tool_choice: { type: 'tool', name: 'web_search' } }), status: 400, answer: refusal('web_search_20250305, which is not offered') },
    { name: 'any tool of the server', url, body: body({ tools: serverTools, tool_choice: { type: 'any' } }), status: 400, answer: refusal('which is not offered') },
    { name: 'a tool that only Anthropic’s models know', url, body: body({ tools: [{ type: 'bash_20250124', name: 'bash' }] }), status: 400, answer: refusal('with an input_schema') },
  ],
); // prettier-ignore
