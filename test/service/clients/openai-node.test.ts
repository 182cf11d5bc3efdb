// The official openai package for Node, unmodified. Plain requests and errors are in test/service/api/server.test.ts too.
import OpenAI from 'openai';
import { zodFunction } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  KEY,
  MODEL,
  openStarterServer,
  WEATHER_PARAMETERS,
  WEATHER_QUESTION,
  YES_OR_NO,
  type StarterServer,
} from '../../support/clients/starter-server.ts';

let server: StarterServer;
let openai: OpenAI;
beforeAll(async () => {
  server = await openStarterServer();
  openai = new OpenAI({ baseURL: server.baseUrl, apiKey: KEY, maxRetries: 0, project: 'research' });
});
afterAll(() => server.close());

const ask = (content: string) => ({ model: MODEL, messages: [{ role: 'user' as const, content }], temperature: 0 });
const tools = [
  {
    type: 'function' as const,
    function: { name: 'get_weather', description: 'Tells the weather', parameters: WEATHER_PARAMETERS },
  },
];

test('several choices, with logprobs', async () => {
  const { choices, usage } = await openai.chat.completions.create({
    ...ask('Hello!'),
    temperature: 1,
    n: 3,
    logprobs: true,
    top_logprobs: 2,
  });
  expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
  const tokens = choices.reduce((sum, { logprobs }) => sum + logprobs!.content!.length, 0);
  expect(tokens).toBe(usage!.completion_tokens);
});

describe('tools', () => {
  test('the model calls of its own accord, and continues with the result', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: WEATHER_QUESTION }];
    const first = await openai.chat.completions.create({ model: MODEL, messages, tools, temperature: 0 });
    const { message, finish_reason: reason } = first.choices[0]!;
    expect(reason).toBe('tool_calls');
    const call = message.tool_calls![0]!;
    expect(call.type === 'function' && JSON.parse(call.function.arguments)).toEqual({ city: 'Paris' });
    messages.push(message, { role: 'tool', tool_call_id: call.id, content: '{"sky": "rainy", "degrees": 12}' });
    const second = await openai.chat.completions.create({ model: MODEL, messages, tools, temperature: 0 });
    expect(second.choices[0]!.message.content).toContain('rainy');
  });

  test.each(['required', { type: 'function', function: { name: 'get_weather' } }] as const)(
    '%j forces a call, also in a stream',
    async (tool_choice) => {
      const stream = openai.chat.completions.stream({
        ...ask('Hello!'),
        tools,
        tool_choice,
        parallel_tool_calls: false,
        max_tokens: 100,
      });
      const { message } = (await stream.finalChatCompletion()).choices[0]!;
      expect(message.tool_calls).toHaveLength(1);
      expect(JSON.parse(message.tool_calls![0]!.function.arguments)).toHaveProperty('city');
    },
  );

  test('a strict tool is called of the model’s own accord with arguments of its schema only', async () => {
    const parameters = z.object({ city: z.enum(['Oslo', 'Rome']) });
    const strict = zodFunction({ name: 'get_weather', description: 'Tells the weather', parameters });
    const { choices } = await openai.chat.completions.parse({ ...ask(WEATHER_QUESTION), tools: [strict] }); // about Paris
    expect(parameters.safeParse(choices[0]!.message.tool_calls![0]!.function.parsed_arguments).success).toBe(true);
  });

  test('allowed_tools forces a call of one of those, whatever the format of an answer would be', async () => {
    const time = { type: 'function' as const, function: { name: 'get_time', parameters: { type: 'object' } } };
    const allowed = { mode: 'required' as const, tools: [{ type: 'function', function: { name: 'get_time' } }] };
    const { choices } = await openai.chat.completions.create({
      ...ask(WEATHER_QUESTION),
      tools: [...tools, time],
      tool_choice: { type: 'allowed_tools', allowed_tools: allowed },
      parallel_tool_calls: false,
      response_format: { type: 'json_object' },
      max_tokens: 100,
    });
    const [call] = choices[0]!.message.tool_calls!;
    expect(call!.type === 'function' && call!.function.name).toBe('get_time');
  });

  test('a stream of an unforced call equals the whole answer', async () => {
    const whole = await openai.chat.completions.create({ ...ask(WEATHER_QUESTION), tools });
    const streamed = await openai.chat.completions.stream({ ...ask(WEATHER_QUESTION), tools }).finalChatCompletion();
    const calls = ({ choices }: typeof whole) =>
      choices[0]!.message.tool_calls!.map((call) => call.type === 'function' && call.function);
    expect(calls(streamed)).toMatchObject(calls(whole));
    expect(streamed.choices[0]!.finish_reason).toBe('tool_calls');
  });
});

test('structured output parses', async () => {
  const response_format = {
    type: 'json_schema',
    json_schema: { name: 'answer', schema: YES_OR_NO, strict: true },
  } as const;
  const completion = await openai.chat.completions.parse({ ...ask('Is two more than one?'), response_format });
  const parsed = completion.choices[0]!.message.parsed as unknown as { answer: string };
  expect(['yes', 'no']).toContain(parsed.answer);
});

test('errors are of the client’s own kinds', async () => {
  const refused = (fields: object) => openai.chat.completions.create({ ...ask('Hi'), ...fields });
  await expect(refused({ model: 'nope' })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  await expect(refused({ temperature: -1 })).rejects.toBeInstanceOf(OpenAI.UnprocessableEntityError);
  await expect(refused({ max_tokens: 1e6 })).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' });
  const response_format = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'never' } } };
  await expect(refused({ response_format })).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining('is not a JSON type') as string,
  });
});

test('an aborted stream ends', async () => {
  const stream = await openai.chat.completions.create({
    ...ask('Hello!'),
    stream: true,
    max_tokens: 200,
    ignore_eos: true,
  } as OpenAI.ChatCompletionCreateParamsStreaming);
  let chunks = 0;
  for await (const _ of stream) if (chunks++ === 3) break;
  expect(chunks).toBe(4);
});
