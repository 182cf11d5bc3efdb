// POST /v1/messages and count_tokens in Anthropic's format: how blocks are converted, and which blocks return, whole and streamed.
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { messageSchema } from '#api/messages/messages-response-schema';
import { shareScriptedServer, type Script } from './scripted-engine.ts';
import { BASE, BOOTSTRAP_KEY, containing, runScenarios, send } from '../../support/api/test-server.ts';
import { CONTEXT_LENGTH } from '../../support/api/tiny-chat-model.ts';

const script: Script = { text: 'Hello.', asked: null };
const server = await shareScriptedServer(script);
const url = '/v1/messages';

type Message = z.output<typeof messageSchema>;

const body = (fields: object = {}) => ({
  model: BASE,
  max_tokens: 200,
  messages: [{ role: 'user', content: 'Hi' }],
  ...fields,
});

async function ask(text: string, fields: object = {}): Promise<Message> {
  script.text = text;
  const response = await send(server, { url, body: body(fields) });
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

interface Event {
  type: string;
  index?: number;
  message?: Message;
  content_block?: Record<string, unknown> & { type: string };
  delta?: Record<string, unknown> & { type?: string };
  usage?: Message['usage'];
}

async function stream(text: string, fields: object = {}): Promise<Event[]> {
  script.text = text;
  const response = await send(server, { url, body: body({ stream: true, ...fields }) });
  expect(response.statusCode, response.body).toBe(200);
  return response.body
    .trim()
    .split('\n\n')
    .map((frame) => {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(frame)!;
      const event = JSON.parse(data!) as Event;
      expect(event.type).toBe(name);
      return event;
    });
}

/** The prompt, with its special tokens. */
const prompt = () => server.model.text.tokenizer.decode(script.asked!.promptTokens, { skipSpecialTokens: false });

/** Assembles a stream as clients do. */
function assemble(events: readonly Event[]) {
  const blocks: Record<string, unknown>[] = [];
  for (const { type, index, content_block: block, delta } of events) {
    if (type === 'content_block_start') blocks[index!] = { ...block };
    if (type !== 'content_block_delta') continue;
    const open = blocks[index!]!;
    const { type: kind, ...piece } = delta!;
    for (const [key, text] of Object.entries(piece))
      open[key] = ((open[key] as string | undefined) ?? '') + String(text);
    const kinds = { text: ['text'], thinking: ['thinking', 'signature'], tool_use: ['input_json'] }[String(open.type)];
    expect(kinds?.map((each) => `${each}_delta`)).toContain(kind);
  }
  return blocks.map(({ partial_json: json, ...block }) =>
    json === undefined ? block : { ...block, input: JSON.parse(json as string) as unknown },
  );
}

const tools = [
  {
    name: 'get_weather',
    description: 'Tells it',
    input_schema: { type: 'object', properties: { city: { type: 'string' } } },
  },
  { name: 'get_time', input_schema: { type: 'object' } },
];
const call = (name: string, args: string) => `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`;

describe('an answer', () => {
  test('has all keys, and counts cached tokens apart from the others', async () => {
    const answer = await ask('Hello.');
    expect(messageSchema.strict().safeParse(answer).error).toBeUndefined();
    expect(answer).toMatchObject({ model: BASE, stop_reason: 'end_turn', content: [{ type: 'text', text: 'Hello.' }] });
    expect(answer.usage.input_tokens + answer.usage.cache_read_input_tokens).toBe(script.asked!.promptTokens.length);
    expect(answer.usage.cache_read_input_tokens).toBe(3);
  });

  test.each([
    [
      'thinking, text and calls',
      `<think>\nHm.\n</think>\n\nLet me see.\n${call('get_weather', '{"city": "Oslo"}')}\n${call('get_time', '{}')}`,
      ['thinking', 'text', 'tool_use', 'tool_use'],
      'tool_use',
    ],
    ['text alone', 'Just text, with <b>tags</b>.', ['text'], 'end_turn'],
    ['a call alone', call('get_weather', '{"city": "Zürich \\"🙂\\""}'), ['tool_use'], 'tool_use'],
    ['nothing', '', [], 'end_turn'],
  ])('of %s has the same blocks, whole and streamed', async (_, text, kinds, reason) => {
    const whole = await ask(text, { tools });
    expect(whole.content.map(({ type }) => type)).toEqual(kinds);
    expect(whole.stop_reason).toBe(reason);
    const events = await stream(text, { tools });
    expect(events[0]).toMatchObject({ type: 'message_start', message: { content: [], stop_reason: null } });
    expect(events.at(-1)).toEqual({ type: 'message_stop' });
    expect(events.at(-2)).toMatchObject({
      type: 'message_delta',
      delta: { stop_reason: reason },
      usage: { output_tokens: whole.usage.output_tokens },
    });
    const plain = (blocks: readonly object[]) =>
      blocks.map((block) => ({ ...block, id: '', ...('signature' in block ? { signature: '' } : {}) }));
    expect(plain(assemble(events))).toEqual(plain(whole.content));
  });

  test('has another signature for each thinking, by which clients find it again, whole and streamed', async () => {
    const text = '<think>\nHm.\n</think>\n\nYes.';
    const streamed = async () => assemble(await stream(text));
    const blocks = [
      ...(await ask(text)).content,
      ...(await ask(text)).content,
      ...(await streamed()),
      ...(await streamed()),
    ];
    const signatures = blocks.flatMap((block) => ('signature' in block ? [block.signature] : []));
    expect(signatures).toHaveLength(4);
    expect(signatures.every(Boolean)).toBe(true);
    expect(new Set(signatures).size).toBe(4);
  });

  test('that is cut in a call says so, and has the text of the model', async () => {
    const answer = await ask(call('get_weather', '{"city": "Oslo"}'), { tools, max_tokens: 30 });
    expect(answer).toMatchObject({ stop_reason: 'max_tokens', content: [{ type: 'tool_use', input: {} }] });
    expect(answer.warnings).toEqual([containing('not a JSON object')]);
    const events = await stream(call('get_weather', '{"city": "Oslo"}'), { tools, max_tokens: 30 });
    expect(events.at(-2)).toMatchObject({ type: 'message_delta', warnings: [containing('not a JSON object')] });
  });

  test('ends at a stop sequence, which is named', async () => {
    const answer = await ask('One. Two. Three.', { stop_sequences: ['Two'] });
    expect(answer).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'Two', content: [{ text: 'One. ' }] });
  });

  test.each([
    ['was forced', call('get_time', '{}'), { tool_choice: { type: 'tool', name: 'get_time' } }, ['tool_use', null]],
    ['a stop sequence follows', call('get_time', '{}'), { stop_sequences: ['</tool_call>'] }, ['tool_use', null]],
    [
      'a stop sequence cut',
      call('get_weather', '{"city": "Oslo"'),
      { stop_sequences: ['Oslo'] },
      ['stop_sequence', 'Oslo'],
    ],
  ])('with a call that %s says whether it is to run', async (_, text, fields, ends) => {
    const whole = await ask(text, { tools, ...fields });
    const { delta } = (await stream(text, { tools, ...fields })).at(-2)!;
    for (const end of [whole, delta!]) expect([end.stop_reason, end.stop_sequence]).toEqual(ends);
  });

  test('that is cut by the context, not by max_tokens, says so', async () => {
    const answer = await ask('word '.repeat(800), { max_tokens: 32_000 });
    expect(answer.stop_reason).toBe('model_context_window_exceeded');
    expect(answer.usage.output_tokens + script.asked!.promptTokens.length).toBe(CONTEXT_LENGTH);
  });
});

describe('blocks', () => {
  test('of system, results and thinking become turns of the template', async () => {
    await ask('Fine.', {
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      tools,
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'I must look.', signature: 'x' },
            { type: 'text', text: 'A moment.' },
            { type: 'tool_use', id: 'c1', name: 'get_weather', input: { city: 'Oslo', n: 12345678901234567890 } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'rain' }] },
            { type: 'tool_result', tool_use_id: 'c2', is_error: true, content: 'broken' },
            { type: 'text', text: 'And now?' },
          ],
        },
      ],
    });
    const said = prompt();
    for (const words of [
      'Be brief.',
      'Weather?',
      'A moment.',
      '<tool_response>\nrain',
      '<tool_response>\nbroken',
      'And now?',
    ])
      expect(said).toContain(words);
    expect(said).toContain('{"name": "get_weather", "arguments": {"city": "Oslo"');
    expect(said.indexOf('rain')).toBeLessThan(said.indexOf('And now?'));
  });

  test('that bill Claude Code to its account are left out, because they differ by conversation', async () => {
    const bill = (at: number) => `x-anthropic-billing-header: cc_version=2.1.197.${at}; cc_entrypoint=cli;`;
    const block = (text: string) => ({ type: 'text', text });
    const asked = async (system: unknown, at = 0) => {
      const messages = [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: bill(at) },
      ];
      await ask('Fine.', { system, messages });
      return prompt();
    };
    const billed = await asked([block(bill(1)), block('Be brief.')], 2);
    expect(billed).toBe(await asked([block('Be brief.')], 3));
    expect(billed).not.toContain('billing');
    expect(await asked([block(bill(4))])).toBe(await asked(undefined));
    expect(await asked(`${bill(5)}\nBe brief.`)).toBe(await asked('Be brief.'));
  });

  test('of the system are one text, and results of tools come before the text of their turn', async () => {
    const block = (text: string) => ({ type: 'text', text });
    const messages = [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'get_weather', input: {} }] },
      {
        role: 'user',
        content: [block('And '), { type: 'tool_result', tool_use_id: 'a', content: 'rain' }, block(''), block('now?')],
      },
    ];
    await ask('Fine.', { system: [block('Be'), block(''), block(' brief.')], messages });
    expect(prompt()).toContain('Be brief.');
    expect(prompt()).toMatch(/rain[^]*And now\?/);
  });

  test('of the assistant at the end are continued', async () => {
    const messages = [
      { role: 'user', content: 'Count.' },
      { role: 'assistant', content: 'One, two' },
    ];
    expect((await ask(', three', { messages })).content).toMatchObject([{ text: ', three' }]);
    expect(prompt().endsWith('One, two')).toBe(true);
  });

  test.each([
    ['an image', { type: 'image', source: { type: 'url', url: 'http://x' } }, 'messages.0.content.0.type'],
    ['a document', { type: 'document', source: {} }, 'messages.0.content.0.type'],
    ['a result without its call', { type: 'tool_result', content: 'x' }, 'tool_use_id'],
    [
      'a result in pictures',
      { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image' }] },
      'content.0.content.0.type',
    ],
  ])('%s is refused with its place in the body', async (_, block, place) => {
    const response = await send(server, { url, body: body({ messages: [{ role: 'user', content: [block] }] }) });
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: containing(place) },
    });
  });
});

describe('tool_choice', () => {
  const constrained = async (tool_choice: object) => {
    await ask(call('get_time', '{}'), { tools, tool_choice });
    return JSON.stringify(script.asked!.constraint ?? '');
  };

  test('any, tool and none act as chat’s required, named and none', async () => {
    expect(await constrained({ type: 'any' })).toContain('get_weather');
    const named = await constrained({ type: 'tool', name: 'get_time' });
    expect(named).toContain('get_time');
    expect(named).not.toContain('get_weather');
    expect((await ask(call('get_time', '{}'), { tools, tool_choice: { type: 'none' } })).content[0]!.type).toBe('text');
  });

  test('may allow one call only', async () => {
    const two = call('get_time', '{}') + '\n' + call('get_weather', '{}');
    const one = { type: 'auto', disable_parallel_tool_use: true };
    expect((await ask(two, { tools })).content).toHaveLength(2);
    expect((await ask(two, { tools, tool_choice: one })).content).toHaveLength(1);
  });
});

describe('thinking', () => {
  const text = '<think>\nHm.\n</think>\n\nYes.';

  test('is turned off in the template, or left out of the answer', async () => {
    await ask('Yes.', { thinking: { type: 'disabled' } });
    expect(prompt()).toContain('<think>\n\n</think>');
    const omitted = await ask(text, { thinking: { type: 'adaptive', display: 'omitted' } });
    expect(omitted.content).toMatchObject([{ type: 'text', text: 'Yes.' }]);
    const hidden = body({ thinking: { type: 'adaptive', display: 'hidden' } });
    expect((await send(server, { url, body: hidden })).statusCode).toBe(400);
  });

  test('with a budget ends at the budget', async () => {
    const { content, warnings } = await ask(text, { thinking: { type: 'enabled', budget_tokens: 1024 } });
    expect(content[0]).toMatchObject({ type: 'thinking', thinking: 'Hm.' });
    expect(warnings).toBeUndefined();
    const end = server.model.text.tokenizer.tokenId('</think>');
    expect(script.asked!.sampling.thinkingBudget).toMatchObject({ tokens: 1024, end });
    await ask(text, { thinking: { type: 'disabled', budget_tokens: 1024 } });
    expect(script.asked!.sampling.thinkingBudget).toBeNull();
  });

  test('with two budgets is refused', async () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    const both = body({ thinking, thinking_token_budget: 5 });
    const { statusCode, body: said } = await send(server, { url, body: both });
    expect([statusCode, said]).toEqual([400, containing('Send either thinking.budget_tokens')]);
  });
});

test('output_config constrains the answer', async () => {
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } } };
  await ask('{"ok": true}', { output_config: { format: { type: 'json_schema', schema } } });
  expect(script.asked!.constraint!.constraint).toMatchObject({ kind: 'json_schema' });
});

test('a forced call goes before the format of an answer', async () => {
  const format = { type: 'json_schema', schema: { type: 'object' } };
  await ask(call('get_time', '{}'), { tools, tool_choice: { type: 'any' }, output_config: { format } });
  expect(script.asked!.constraint!.constraint.kind).not.toBe('json_schema');
});

test('vLLM’s sampling fields and the older name of output_config.format have their effect', async () => {
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } } };
  const { warnings } = await ask('{"ok": true}', {
    seed: 7,
    min_p: 0.1,
    output_format: { type: 'json_schema', schema },
  });
  expect(script.asked!.sampling).toMatchObject({ seed: 7, minP: 0.1 });
  expect(script.asked!.constraint!.constraint).toMatchObject({ kind: 'json_schema' });
  expect(warnings).toBeUndefined();
});

test.each(['create', 'continue'])(
  'a thread to %s is refused with the code on which clients send everything',
  async (type) => {
    const response = await send(server, { url, body: body({ thread: { type, previous_message_id: 'msg_1' } }) });
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      error: { type: 'invalid_request_error', details: { error_code: 'thread_unsupported_request' } },
    });
  },
);

test('count_tokens counts the prompt of the answer', async () => {
  const fields = { system: 'Be brief.', tools };
  await ask('Fine.', fields);
  const { max_tokens: _, ...conversation } = body(fields);
  const response = await send(server, { url: `${url}/count_tokens`, body: conversation });
  expect(response.json()).toEqual({ input_tokens: script.asked!.promptTokens.length });
});

describe('keys and errors', () => {
  test('x-api-key is accepted as a key here, and on no other endpoint', async () => {
    const headers = { authorization: '', 'x-api-key': BOOTSTRAP_KEY };
    expect((await send(server, { url, headers, body: body() })).statusCode).toBe(200);
    expect((await send(server, { url: '/v1/chat/completions', headers, body: body() })).statusCode).toBe(401);
  });

  test('a wrong key gets an error in Anthropic’s format', async () => {
    const response = await send(server, { url, headers: { authorization: '', 'x-api-key': 'wk-no' }, body: body() });
    expect(response.statusCode).toBe(401);
    expect(response.json()).toMatchObject({
      type: 'error',
      error: { type: 'authentication_error' },
      request_id: response.headers['request-id'],
    });
  });
});

const refusal = (type: string, words: string) => ({ type: 'error', error: { type, message: containing(words) } });
runScenarios(
  () => server,
  [
    { name: 'no max_tokens', url, body: body({ max_tokens: undefined }), status: 400, answer: refusal('invalid_request_error', 'max_tokens') },
    { name: 'no message', url, body: body({ messages: [] }), status: 400, answer: refusal('invalid_request_error', 'messages') },
    { name: 'a broken body', url, body: '{"model"', status: 400, answer: refusal('invalid_request_error', '') },
    { name: 'an unknown model', url, body: body({ model: 'nope' }), status: 404, answer: refusal('not_found_error', 'nope') },
    { name: 'a choice without tools', url, body: body({ tool_choice: { type: 'any' } }), status: 400, answer: refusal('invalid_request_error', 'tools') },
    { name: 'an unknown tool', url, body: body({ tools, tool_choice: { type: 'tool', name: 'x' } }), status: 400, answer: refusal('invalid_request_error', 'not in tools') },
    { name: 'MCP servers', url, body: body({ mcp_servers: [{ url: 'http://x' }] }), status: 400, answer: refusal('invalid_request_error', 'mcp_servers') },
    { name: 'compaction', url, body: body({ compaction: { type: 'summarize' } }), status: 400, answer: refusal('invalid_request_error', 'compaction') },
    { name: 'a field of chat', url, body: body({ n: 2 }), status: 400, answer: refusal('invalid_request_error', '.n: ') },
    { name: 'harmless fields are named', url, body: body({ speed: 'fast', service_tier: 'auto', diagnostics: { previous_message_id: null } }), status: 200, answer: { warnings: [containing('speed'), containing('diagnostics')] } },
    { name: 'too long a conversation', url, body: body({ messages: [{ role: 'user', content: 'word '.repeat(700) }] }), status: 400, answer: refusal('invalid_request_error', 'maximum context length') },
    { name: 'an unused field is named', url, body: body({ paint: 'blue' }), status: 200, answer: { warnings: [containing('paint')] } },
  ],
); // prettier-ignore
