// POST /v1/responses in OpenAI's format: how input items are converted, and which items and events are returned.
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { responseSchema } from '#api/responses/responses-response-schema';
import { shareScriptedServer, type Script } from './scripted-engine.ts';
import { BASE, containing, faults, runScenarios, send } from '../../support/api/test-server.ts';

const script: Script = { text: 'Hello.', asked: null };
const server = await shareScriptedServer(script);
const url = '/v1/responses';
const body = (fields: object = {}) => ({ model: BASE, input: 'Hi', max_output_tokens: 200, ...fields });

type Answer = z.output<typeof responseSchema>;

async function ask(text: string, fields: object = {}): Promise<Answer> {
  script.text = text;
  const response = await send(server, { url, body: body(fields) });
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

interface Event {
  type: string;
  sequence_number: number;
  item_id?: string;
  output_index?: number;
  delta?: string;
  text?: string;
  arguments?: string;
  item?: Answer['output'][number];
  response?: Answer;
}

async function stream(text: string, fields: object = {}): Promise<Event[]> {
  script.text = text;
  const response = await send(server, { url, body: body({ stream: true, ...fields }) });
  expect(response.statusCode, response.body).toBe(200);
  const frames = response.body.trim().split('\n\n');
  return frames.map((frame) => {
    const [, name, data] = /^event: (\S+)\ndata: (.*)$/.exec(frame)!;
    const event = JSON.parse(data!) as Event;
    expect(event.type).toBe(name);
    return event;
  });
}

const prompt = () => server.model.text.tokenizer.decode(script.asked!.promptTokens, { skipSpecialTokens: false });
const tools = [
  { type: 'function', name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
  { type: 'function', name: 'get_time', parameters: { type: 'object' } },
];
const call = (name: string, args: string) => `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`;
const EVERYTHING = `<think>\nHm.\n</think>\n\nLet me see.\n${call('get_weather', '{"city": "Oslo"}')}\n${call('get_time', '{}')}`;

describe('an answer', () => {
  test('has all keys', async () => {
    const answer = await ask('Hello.', { metadata: { a: 'b' }, instructions: 'Be brief.' });
    expect(responseSchema.strict().safeParse(answer).error).toBeUndefined();
    expect(answer).toMatchObject({
      status: 'completed',
      store: true,
      background: false,
      previous_response_id: null,
      metadata: { a: 'b' },
      instructions: 'Be brief.',
    });
    expect(answer.output).toMatchObject([{ type: 'message', content: [{ type: 'output_text', text: 'Hello.' }] }]);
    expect(answer.usage!.input_tokens).toBe(script.asked!.promptTokens.length);
    expect(answer.usage!.input_tokens_details.cached_tokens).toBe(3);
  });

  test('that is cut is incomplete, and so is the item that was cut', async () => {
    const answer = await ask('One two three four five.', { max_output_tokens: 3 });
    expect(answer).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    expect(answer.output).toMatchObject([{ status: 'incomplete' }]);
  });

  test('has log-probabilities of its text on request', async () => {
    const include = ['message.output_text.logprobs'];
    const [item] = (await ask('Hello there.', { include })).output;
    const [content] = item!.type === 'message' ? item!.content : [];
    expect(content!.logprobs.map(({ token }) => token).join('')).toContain('Hello there.');
    const { warnings } = await ask('Hello there.', { top_logprobs: 2 });
    expect(warnings).toEqual([containing('top_logprobs was not used')]);
  });

  test('has the same log-probabilities whole, streamed, stored, and repeated by its Idempotency-Key', async () => {
    const fields = { include: ['message.output_text.logprobs'], top_logprobs: 2 };
    const whole = await ask('Hello there.', fields);
    const listed = ({ output }: Answer) => output.map((item) => (item.type === 'message' ? item.content : []));
    expect(listed(whole)[0]![0]!.logprobs.length).toBeGreaterThan(2);
    const events = await stream('Hello there.', fields);
    expect(listed(events.at(-1)!.response!)).toEqual(listed(whole));
    expect(events.find(({ type }) => type === 'response.content_part.added')).toMatchObject({ part: { logprobs: [] } });
    const done = events.find(({ type }) => type === 'response.output_text.done');
    expect(done).toMatchObject({ logprobs: listed(whole)[0]![0]!.logprobs });
    for (const { id } of [whole, events.at(-1)!.response!])
      expect(listed((await send(server, { url: `${url}/${id}` })).json())).toEqual(listed(whole));
    const headers = { 'idempotency-key': 'the same logprobs' };
    for (let i = 0; i < 2; i++) {
      const response = await send(server, { url, headers, body: body({ ...fields, store: false }) });
      expect(listed(response.json())).toEqual(listed(whole));
    }
  });

  test('counts its reasoning, and does not list it among the tokens of its text, returned or not', async () => {
    const thought = '\nHm 🙂 日本.\n';
    const text = `<think>${thought}</think>\n\nYes.`;
    const include = ['message.output_text.logprobs'];
    for (const include_reasoning of [true, false]) {
      const whole = await ask(text, { include, include_reasoning });
      const streamed = (await stream(text, { include, include_reasoning })).at(-1)!.response!;
      for (const { output, usage } of [whole, streamed]) {
        const message = output.find((item) => item.type === 'message')!;
        const [content] = message.content;
        expect(content!.logprobs.map(({ token }) => token).join('')).toMatch(/^\s*Yes\.<\|im_end\|>$/);
        expect(usage!.output_tokens_details.reasoning_tokens).toBe(server.model.text.tokenizer.encode(thought).length);
      }
    }
  });
});

describe('a stream', () => {
  test.each([
    ['thinking, text and calls', EVERYTHING, ['reasoning', 'message', 'function_call', 'function_call']],
    ['a text', 'Naïve 🙂 text.', ['message']],
    ['a call', call('get_time', '{"at": "\\u00e9"}'), ['function_call']],
    ['nothing', '', []],
  ])('of %s equals the whole answer', async (_, text, types) => {
    const whole = await ask(text, { tools });
    expect(whole.output.map(({ type }) => type)).toEqual(types);
    const events = await stream(text, { tools });
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress']);
    const last = events.at(-1)!;
    expect(last.type).toBe('response.completed');
    const plain = (output: Answer['output']) =>
      output.map((item) => ({ ...item, id: '', ...('call_id' in item ? { call_id: '' } : {}) }));
    expect(plain(last.response!.output)).toEqual(plain(whole.output));
    for (const [index, item] of last.response!.output.entries()) {
      const own = events.filter((event) => event.item_id === item.id);
      const pieces = own
        .filter(({ type }) => type.endsWith('.delta'))
        .map(({ delta }) => delta)
        .join('');
      expect(pieces).toBe(item.type === 'function_call' ? item.arguments : item.content[0]!.text);
      const done = events.filter(({ type, output_index: at }) => type === 'response.output_item.done' && at === index);
      expect(done.map((event) => event.item)).toEqual([item]);
    }
  });

  test('of text has the events that clients wait for, in their order', async () => {
    const types = (await stream('Hi')).map(({ type }) => type.replace('response.', ''));
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
      ...['created', 'in_progress', 'output_item.added', 'content_part.added', 'output_text.delta'],
      ...['output_text.done', 'content_part.done', 'output_item.done', 'completed'],
    ]);
  });

  test('that is cut ends with incomplete', async () => {
    const events = await stream('One two three four five.', { max_output_tokens: 3 });
    expect(events.at(-1)!.type).toBe('response.incomplete');
  });
});

describe('input', () => {
  test('of items is a conversation; the output of an answer can be sent back unchanged', async () => {
    const first = await ask(EVERYTHING, { tools });
    const results = first.output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ type: 'function_call_output', call_id: item.call_id, output: `of ${item.name}` }]
        : [],
    );
    const question = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
    ];
    await ask('Fine.', { max_output_tokens: 16, input: [...question, ...first.output, ...results] });
    const said = prompt();
    expect(said.match(/<\|im_start\|>assistant/g)).toHaveLength(2); // one turn, and the one that starts
    for (const words of ['Be brief.', 'Weather?', 'Let me see.', '<tool_response>\nof get_weather', 'of get_time'])
      expect(said).toContain(words);
    expect(said).toContain('{"name": "get_weather", "arguments": {"city": "Oslo"}}');
  });

  test('text.format and tools constrain as in chat', async () => {
    const format = { type: 'json_schema', name: 'x', schema: { type: 'object' }, strict: true };
    await ask('{}', { text: { format } });
    expect(script.asked!.constraint!.constraint).toMatchObject({ kind: 'json_schema', strict: true });
    await ask(call('get_time', '{}'), { tools, tool_choice: { type: 'function', name: 'get_time' } });
    expect(JSON.stringify(script.asked!.constraint)).not.toContain('get_weather');
    const allowed = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'get_time' }] };
    for (const text of [undefined, { format }]) {
      await ask(call('get_time', '{}'), { tools, tool_choice: allowed, text }); // a forced call goes before the format of an answer
      expect(JSON.stringify(script.asked!.constraint)).toContain('get_time');
      expect(JSON.stringify(script.asked!.constraint)).not.toContain('get_weather');
    }
  });

  test('a prompt that is too long is cut at its start if truncation says so', async () => {
    const input = 'word '.repeat(700);
    expect((await send(server, { url, body: body({ input }) })).json()).toMatchObject({
      error: { code: 'context_length_exceeded', param: 'input' },
    });
    expect((await ask('Fine.', { input, truncation: 'auto' })).status).toBe('completed');
  });
});

test("input that ends in a message of the assistant's that was cut is continued", async () => {
  const input = (status: string) => [
    { role: 'user', content: 'Count.' },
    { type: 'message', role: 'assistant', status, content: [{ type: 'output_text', text: 'One, two' }] },
  ];
  for (const status of ['incomplete', 'in_progress']) {
    const answer = await ask(', three', { input: input(status) });
    expect(answer.output).toMatchObject([{ type: 'message', content: [{ text: ', three' }] }]);
    expect(prompt().endsWith('One, two')).toBe(true);
  }
  await ask('Fine.', { input: input('completed') });
  expect(prompt().endsWith('One, two')).toBe(false);
});

describe('tools of agents', () => {
  const create = { type: 'function', name: 'create', description: 'Creates one', parameters: { type: 'object' } };
  const crm = {
    type: 'namespace',
    name: 'crm',
    description: 'Customers.',
    tools: [create, { type: 'function', name: 'delete' }],
  };
  const called = { type: 'function_call', namespace: 'crm', name: 'create', arguments: '{"name": "Ada"}' };

  test('in a namespace have a joined name for the model, and calls with both names for the client', async () => {
    const text = call('crm__create', '{"name": "Ada"}');
    const answer = await ask(text, { tools: [crm], max_output_tokens: 90 });
    expect(answer.output).toMatchObject([called]);
    expect(answer.tools[0]).toEqual(crm);
    expect(prompt()).toContain('Customers.\\nCreates one');
    const events = await stream(text, { tools: [crm], max_output_tokens: 90 });
    expect(events.find(({ type }) => type === 'response.output_item.done')).toMatchObject({ item: called });
    const [item] = answer.output;
    const result = { type: 'function_call_output', call_id: (item as { call_id: string }).call_id, output: 'done' };
    await ask('Fine.', {
      tools: [crm],
      max_output_tokens: 20,
      input: [{ role: 'user', content: 'Ada?' }, item, result],
    });
    expect(prompt()).toContain('{"name": "crm__create", "arguments": {"name": "Ada"}}');
  });

  test('in a namespace can be chosen, and no two may have one name for the model', async () => {
    const chosen = { type: 'function', name: 'create' };
    for (const choice of [{ ...chosen, namespace: 'crm' }, chosen]) {
      await ask(call('crm__create', '{}'), { tools: [crm], tool_choice: choice, max_output_tokens: 60 });
      expect(JSON.stringify(script.asked!.constraint)).not.toContain('crm__delete');
    }
    const tools = [crm, { ...crm, name: 'shop' }];
    const either = await send(server, { url, body: body({ tools, tool_choice: chosen }) });
    expect(either.json()).toMatchObject({ error: { message: containing('create, which is not in tools') } });
    const twin = { type: 'function', name: 'crm__create' };
    const response = await send(server, { url, body: body({ tools: [crm, twin] }) });
    expect(response.json()).toMatchObject({ error: { message: containing('crm__create') } });
  });

  test('for a search of the web are not offered to the model, and the answer says so', async () => {
    const answer = await ask('Fine.', {
      tools: [{ type: 'web_search', external_web_access: false }],
      tool_choice: 'auto',
    });
    expect(answer.warnings).toEqual([containing('web_search was not offered')]);
    expect(prompt()).not.toContain('web_search');
    const must = await send(server, { url, body: body({ tools: [{ type: 'web_search' }], tool_choice: 'required' }) });
    expect(must.statusCode).toBe(422);
  });

  test('with free text are refused in words, but read in a history', async () => {
    const response = await send(server, { url, body: body({ tools: [{ type: 'custom', name: 'patch' }] }) });
    expect(response.json()).toMatchObject({ error: { message: containing('one string parameter') } });
    const patch = { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: 'a "b"' };
    await ask('Fine.', { input: [patch, { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' }] });
    expect(prompt()).toContain('{"name": "patch", "arguments": {"input": "a \\"b\\""}}');
  });
});

test('vLLM’s sampling fields have their effect', async () => {
  const fields = { seed: 7, top_k: 3, min_p: 0.1, stop: ['Two'], repetition_penalty: 1.5, logit_bias: { 5: 1 } };
  const answer = await ask('One. Two.', fields);
  expect(script.asked!.sampling).toMatchObject({ seed: 7, topK: 3, minP: 0.1, repetitionPenalty: 1.5 });
  expect(answer.output).toMatchObject([{ content: [{ text: 'One. ' }] }]);
  expect(answer.warnings).toBeUndefined();
  await ask('yes', { structured_outputs: { choice: ['yes'] } });
  expect(script.asked!.constraint).not.toBeNull();
});

const refused = (name: string, fields: object, fault: string) =>
  test(`${name} is refused with its place in the body`, async () => {
    const response = await send(server, { url, body: body(fields) });
    expect(response.statusCode, response.body).toBe(422);
    expect(faults(response)).toContain(fault);
  });

refused('the background without a store', { background: true, store: false }, 'body.background value_error');
refused('a conversation', { conversation: 'conv_1' }, 'body.conversation value_error');
refused('a tool of the server', { tools: [{ type: 'file_search' }] }, 'body.tools.0.type value_error');
refused('context management', { context_management: [{ type: 'compaction' }] }, 'body.context_management value_error');
refused('a warm-up', { prompt_cache_options: { prewarm: true } }, 'body.prompt_cache_options value_error');
refused('a field of chat', { max_tokens: 5 }, 'body.max_tokens value_error');
refused('an unknown tool', { tools, tool_choice: { type: 'function', name: 'x' } }, 'body.tool_choice value_error');
refused('a choice without tools', { tool_choice: 'required' }, 'body.tool_choice value_error');
refused('an unknown item', { input: [{ type: 'computer_call', id: 'x' }] }, 'body.input.0.type value_error');
refused(
  'an image',
  { input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
  'body.input.0.content.0.type value_error',
);
refused('an unknown role', { input: [{ role: 'robot', content: 'x' }] }, 'body.input.0.role value_error');
refused(
  'a result without a call',
  { input: [{ type: 'function_call_output', output: 'x' }] },
  'body.input.0.call_id value_error',
);
refused(
  'a format without its schema',
  { text: { format: { type: 'json_schema', name: 'x' } } },
  'body.text.format.schema value_error',
);
refused('nothing', { input: [] }, 'body.input value_error');

runScenarios(
  () => server,
  [
    { name: 'an unknown model', url, body: body({ model: 'nope' }), status: 404 },
    {
      name: 'unused fields are named',
      url,
      body: body({ paint: 'blue', reasoning: { summary: 'auto' } }),
      status: 200,
      answer: { warnings: [containing('paint'), containing('summary')] },
    },
  ],
);
