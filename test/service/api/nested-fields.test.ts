// Fields of the objects within a request: each changes the answer, is refused with its place, or is named in `warnings`.
// test/service/clients/field-decisions.test.ts says which fields there are.
import { describe, expect, test } from 'vitest';
import { parseMessagesRequest } from '#api/messages/messages-request';
import { parseResponsesRequest } from '#api/responses/responses-request';
import { shareScriptedServer, type Script } from './scripted-engine.ts';
import { BASE, containing, send } from '../../support/api/test-server.ts';

const script: Script = { text: 'Hello.', asked: null };
const server = await shareScriptedServer(script);
const prompt = () => server.model.text.tokenizer.decode(script.asked!.promptTokens, { skipSpecialTokens: false });

interface Answer {
  readonly warnings?: readonly string[];
}

const asker = (url: string, basis: object) => ({
  ask: async (fields: object): Promise<Answer> => {
    const response = await send(server, { url, body: { model: BASE, ...basis, ...fields } });
    expect(response.statusCode, response.body).toBe(200);
    return response.json();
  },
  refusal: async (fields: object) => {
    const response = await send(server, { url, body: { model: BASE, ...basis, ...fields } });
    expect(response.statusCode, response.body).toBeGreaterThanOrEqual(400);
    return response.body;
  },
});
const user = (content: unknown) => ({ role: 'user', content });
const schema = { type: 'object', properties: { city: { type: 'string' } } };

describe('chat', () => {
  const { ask, refusal } = asker('/v1/chat/completions', { messages: [user('Hi')], max_tokens: 20 });

  test('reads a call and a refusal in their older forms', async () => {
    const call = { name: 'get_weather', arguments: '{"city": "Oslo"}' };
    await ask({
      messages: [
        user('Weather?'),
        { role: 'assistant', content: null, function_call: call },
        { role: 'function', name: 'get_weather', content: 'rain' },
        { role: 'assistant', content: null, refusal: 'I cannot say.' },
        user('Why?'),
      ],
    });
    expect(prompt()).toContain('{"name": "get_weather", "arguments": {"city": "Oslo"}}');
    expect(prompt()).toContain('<tool_response>\nrain');
    expect(prompt()).toContain('I cannot say.');
  });

  test('refuses an earlier answer in audio', async () => {
    const spoken = { role: 'assistant', content: null, audio: { id: 'audio_1' } };
    expect(await refusal({ messages: [user('Hi'), spoken, user('Again?')] })).toContain('Send its text as content.');
    expect((await ask({ messages: [{ ...user('Hi'), audio: null }] })).warnings).toBeUndefined();
  });

  test('names what it does not know of formats and constraints', async () => {
    const json_schema = { name: 'x', description: 'y', schema: { type: 'object' }, version: 2 };
    const { warnings } = await ask({ response_format: { type: 'json_schema', json_schema, mood: 'good' } });
    expect(warnings).toEqual([containing('response_format.mood'), containing('response_format.json_schema.version')]);
    const outputs = { choice: ['yes'], backend: 'xgrammar' };
    expect((await ask({ structured_outputs: outputs })).warnings).toEqual([containing('structured_outputs.backend')]);
  });

  test('names what it does not know of a choice of tools', async () => {
    const tools = [{ type: 'function', function: { name: 'get_time' } }];
    const choice = { type: 'function', function: { name: 'get_time', mood: 1 }, disable_parallel_tool_use: true };
    const named = await ask({ tools, tool_choice: choice });
    expect(named.warnings).toEqual([
      containing('tool_choice.disable_parallel_tool_use'),
      containing('tool_choice.function.mood'),
    ]);
    const allowed = { mode: 'auto', tools, mood: 1 };
    const some = await ask({ tools, tool_choice: { type: 'allowed_tools', allowed_tools: allowed } });
    expect(some.warnings).toEqual([containing('tool_choice.allowed_tools.mood')]);
  });

  test('names variables that no template reads, whole and in a stream', async () => {
    const chat_template_kwargs = { enable_thinking: false, enable_thinkng: false, unset: null };
    const fields = { chat_template_kwargs, documents: [{ title: 'a', text: 'b' }], reasoning_effort: 'low' };
    const told = [containing('chat_template_kwargs.enable_thinkng was not used'), containing('documents was not used')];
    expect((await ask(fields)).warnings).toEqual(told);
    const body = { model: BASE, messages: [user('Hi')], max_tokens: 20, stream: true, ...fields };
    const { body: streamed } = await send(server, { url: '/v1/chat/completions', body });
    expect(JSON.parse(/^data: (.*)$/m.exec(streamed)![1]!)).toMatchObject({ warnings: told });
    const asked = { model: BASE, messages: [user('Hi')], chat_template_kwargs };
    const tokenized = await send(server, { url: '/tokenize', body: asked });
    expect(tokenized.json<Answer>().warnings).toEqual(told.slice(0, 1));
  });

  test('does not constrain an answer by a constraint that is off', async () => {
    expect(await refusal({ structured_outputs: { json_object: false } })).toContain(
      'body.structured_outputs.json_object',
    );
  });
});

describe('Messages', () => {
  const { ask, refusal } = asker('/v1/messages', { messages: [user('Hi')], max_tokens: 20 });
  const tool = { name: 'get_weather', input_schema: schema };

  test('gives a tool’s examples to the model, and whether it is to be loaded later', async () => {
    await ask({
      tools: [{ ...tool, input_examples: [{ city: 'Oslo' }], defer_loading: true, eager_input_streaming: true }],
    });
    expect(prompt()).toContain('"examples": [{"city": "Oslo"}]');
    expect(prompt()).toContain('"defer_loading": true');
  });

  test('refuses what is no block in the result of a tool, with its place', async () => {
    for (const [content, place] of [
      [5, 'messages.0.content.0.content:'],
      [['x'], 'messages.0.content.0.content.0:'],
      [[{ text: 'x' }], 'messages.0.content.0.content.0.type:'],
    ])
      expect(await refusal({ messages: [user([{ type: 'tool_result', tool_use_id: 'a', content }])] })).toContain(
        place,
      );
  });

  test('refuses a tool that only programs may call', async () => {
    expect(
      (await ask({ tools: [{ ...tool, allowed_callers: ['direct', 'code_execution_20260120'] }] })).warnings,
    ).toBeUndefined();
    const said = await refusal({ tools: [{ ...tool, allowed_callers: ['code_execution_20260120'] }] });
    expect(said).toContain('tools.0.allowed_callers');
  });

  test('shows a system message with clear_at only in its turn', async () => {
    const note = { role: 'system', content: 'Only now.', clear_at: 'next_user_message' };
    await ask({ messages: [user('One?'), note] });
    expect(prompt()).toContain('Only now.');
    await ask({ messages: [user('One?'), note, { role: 'assistant', content: 'One.' }, user('Two?')] });
    expect(prompt()).not.toContain('Only now.');
    await ask({ messages: [user('One?'), { ...note, clear_at: 'never' }, user('Two?')] });
    expect(prompt()).toContain('Only now.');
    expect(await refusal({ messages: [{ ...user('One?'), clear_at: 'never' }] })).toContain('messages.0.clear_at');
  });

  test('takes the effort of a turn from a system message in it', async () => {
    const effortOf = (messages: object[]) =>
      parseMessagesRequest({ model: BASE, max_tokens: 9, messages, output_config: { effort: 'low' } }).request.prompt
        .reasoningEffort;
    const more = { role: 'system', output_config: { effort: 'max' } };
    const result = user([{ type: 'tool_result', tool_use_id: 'c1', content: 'rain' }]);
    expect(effortOf([user('One?')])).toBe('low');
    expect(effortOf([user('One?'), more])).toBe('max');
    expect(effortOf([user('One?'), more, result])).toBe('max');
    expect(effortOf([user('One?'), more, user('Two?')])).toBe('low');
    await ask({ messages: [user('One?'), more] });
    expect(await refusal({ messages: [user('One?'), { role: 'system', output_config: {} }] })).toContain(
      'messages.1.content',
    );
    expect(await refusal({ messages: [{ role: 'user' }] })).toContain('messages.0.content');
  });

  test('names budgets and unknown fields, once for all objects of a list', async () => {
    const { warnings } = await ask({
      tools: [
        { ...tool, colour: 'red' },
        { ...tool, name: 'b', colour: 'blue' },
      ],
      output_config: { task_budget: { type: 'tokens', total: 10_000 } },
      thinking: { type: 'adaptive', block_binding: {}, mood: 'good' },
    });
    expect(warnings).toEqual([
      containing('tools.colour is not a field'),
      containing('thinking.mood is not a field'),
      containing('output_config.task_budget was not used'),
    ]);
  });

  test('names variables that no template reads, also for a count', async () => {
    const fields = {
      chat_template_kwargs: { mood: 'good' },
      output_config: { effort: 'low' },
      thinking: { type: 'adaptive' },
    };
    const told = [containing('chat_template_kwargs.mood was not used')];
    expect((await ask(fields)).warnings).toEqual(told);
    const counting = { model: BASE, messages: [user('Hi')], ...fields };
    expect((await send(server, { url: '/v1/messages/count_tokens', body: counting })).json<Answer>().warnings).toEqual(
      told,
    );
  });

  test('says nothing about what the SDKs add to earlier answers', async () => {
    const said = [
      { type: 'thinking', thinking: 'Hm.', signature: 'x' },
      { type: 'text', text: 'A moment.', citations: null, parsed_output: { a: 1 } },
      { type: 'tool_use', id: 'c1', name: 'get_weather', input: {}, caller: { type: 'direct' } },
    ];
    const result = user([
      { type: 'tool_result', tool_use_id: 'c1', content: 'rain', cache_control: { type: 'ephemeral' } },
    ]);
    expect(
      (await ask({ messages: [user('Hi'), { role: 'assistant', content: said }, result] })).warnings,
    ).toBeUndefined();
  });
});

describe('Responses', () => {
  const { ask, refusal } = asker('/v1/responses', { input: 'Hi', max_output_tokens: 20 });
  const tool = { type: 'function', name: 'get_weather', parameters: schema };
  const thought = (text: string) => ({
    type: 'reasoning',
    id: 'rs_1',
    summary: [],
    content: [{ type: 'reasoning_text', text }],
  });

  test('names variables that no template reads, also for a count', async () => {
    const fields = { chat_template_kwargs: { mood: 'good' }, reasoning: { effort: 'low' } };
    const told = [containing('chat_template_kwargs.mood was not used')];
    expect((await ask(fields)).warnings).toEqual(told);
    const counting = { model: BASE, input: 'Hi', ...fields };
    const counted = await send(server, { url: '/v1/responses/input_tokens', body: counting });
    expect(counted.json<Answer>().warnings).toEqual(told);
  });

  test('names what it does not know of a choice of tools and of streams', async () => {
    const choice = { type: 'function', name: 'get_weather', mood: 1 };
    const { warnings } = await ask({ tools: [tool], tool_choice: choice, stream_options: { include_usage: true } });
    expect(warnings).toEqual([containing('stream_options.include_usage'), containing('tool_choice.mood')]);
  });

  test('gives the schema of results to the model, and refuses tools for programs alone', async () => {
    await ask({ tools: [{ ...tool, output_schema: { type: 'string', title: 'Sky' }, defer_loading: true }] });
    expect(prompt()).toContain('"return": {"type": "string", "title": "Sky"}');
    expect(prompt()).toContain('"defer_loading": true');
    const inside = { type: 'namespace', name: 'n', tools: [{ ...tool, allowed_callers: ['programmatic'] }] };
    expect(await refusal({ tools: [inside] })).toContain('allowed_callers');
  });

  test('reads the summary of reasoning without content', async () => {
    const summary = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'I must look.' }],
      encrypted_content: 'x',
    };
    const call = { type: 'function_call', call_id: 'c1', name: 'get_weather', arguments: '{}' };
    const output = { type: 'function_call_output', call_id: 'c1', output: 'rain' };
    const answer = await ask({ input: [{ role: 'user', content: 'Hi' }, summary, call, output] });
    expect(prompt()).toContain('I must look.');
    expect(answer.warnings).toBeUndefined();
  });

  test('keeps the reasoning of earlier turns from the template, if asked for', () => {
    const input = [
      user('One?'),
      thought('First.'),
      { role: 'assistant', content: 'One.' },
      user('Two?'),
      thought('Second.'),
      { ...tool, type: 'function_call', call_id: 'c1', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'x' },
    ];
    const thoughts = (reasoning: object) =>
      parseResponsesRequest({ model: BASE, input, reasoning })
        .complete({ conversation: [], items: new Map() })
        .request.messages.map((message) => message['reasoning_content']);
    expect(thoughts({ context: 'all_turns' })).toEqual([undefined, 'First.', undefined, 'Second.', undefined]);
    expect(thoughts({ context: 'current_turn' })).toEqual([undefined, undefined, undefined, 'Second.', undefined]);
  });

  test('names verbosity, modes and unknown fields', async () => {
    const { warnings } = await ask({
      text: { verbosity: 'low', mood: 'good' },
      reasoning: { generate_summary: 'auto', mode: 'pro' },
      tools: [{ ...tool, async: true, colour: 'red' }],
      input: [{ role: 'user', content: 'Hi', colour: 'red' }],
    });
    expect(warnings).toEqual([
      containing('text.verbosity was not used'),
      containing('text.mood is not a field'),
      containing('reasoning.generate_summary was not used'),
      containing('reasoning.mode was not used'),
      containing('input.colour is not a field'),
      containing('tools.async was not used'),
      containing('tools.colour is not a field'),
    ]);
  });

  test('says nothing about items of its own answers', async () => {
    const answer = await send(server, {
      url: '/v1/responses',
      body: { model: BASE, input: 'Hi', max_output_tokens: 20 },
    });
    const { output } = answer.json<{ output: object[] }>();
    expect((await ask({ input: [user('Hi'), ...output, user('Again?')] })).warnings).toBeUndefined();
  });
});
