// The official package of Anthropic's API for Node, unmodified.
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
let anthropic: Anthropic;
beforeAll(async () => {
  server = await openStarterServer();
  anthropic = new Anthropic({ baseURL: server.baseUrl.replace(/\/v1$/, ''), apiKey: KEY, maxRetries: 0 });
});
afterAll(() => server.close());

const ask = (content: string) => ({
  model: MODEL,
  max_tokens: 100,
  temperature: 0,
  messages: [{ role: 'user' as const, content }],
});
const tools: Anthropic.Tool[] = [
  {
    name: 'get_weather',
    description: 'Tells the weather',
    input_schema: { ...WEATHER_PARAMETERS, required: [...WEATHER_PARAMETERS.required] },
  },
];
const textOf = ({ content }: Anthropic.Message) =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');

test('a message, streamed as it is whole', async () => {
  const whole = await anthropic.messages.create(ask('Hello!'));
  expect(whole._request_id).toMatch(/^[0-9a-f]{32}$/);
  expect(textOf(whole)).not.toBe('');
  const stream = anthropic.messages.stream(ask('Hello!'));
  let text = '';
  stream.on('text', (piece) => (text += piece));
  const streamed = await stream.finalMessage();
  expect(textOf(streamed)).toBe(textOf(whole));
  expect(text).toBe(textOf(whole));
  expect(streamed).toMatchObject({
    stop_reason: whole.stop_reason,
    usage: { output_tokens: whole.usage.output_tokens },
  });
});

test('the tool runner, which would have the server keep a thread, goes on with the whole conversation', async () => {
  const cities: unknown[] = [];
  const run = ({ city }: { city?: unknown }) => {
    cities.push(city);
    return '{"sky": "rainy", "degrees": 12}';
  };
  const runnable = tools.map((tool) => ({
    ...tool,
    type: 'custom' as const,
    parse: (input: unknown) => input as object,
    run,
  }));
  const asked = { ...ask(WEATHER_QUESTION), tools: runnable };
  const last = await anthropic.beta.messages.toolRunner(asked);
  expect(cities).toEqual(['Paris']);
  expect(last.content).toMatchObject([{ type: 'text', text: expect.stringContaining('rainy') as string }]);
});

test('the model calls, also in a stream, and continues with the result', async () => {
  const first = await anthropic.messages.create({ ...ask(WEATHER_QUESTION), tools });
  expect(first.stop_reason).toBe('tool_use');
  const call = first.content.find((block) => block.type === 'tool_use')!;
  expect(call).toMatchObject({ name: 'get_weather', input: { city: 'Paris' } });
  const streamed = await anthropic.messages.stream({ ...ask(WEATHER_QUESTION), tools }).finalMessage();
  expect(streamed.content.find((block) => block.type === 'tool_use')!.input).toEqual(call.input);
  const second = await anthropic.messages.create({
    ...ask(WEATHER_QUESTION),
    tools,
    messages: [
      ...ask(WEATHER_QUESTION).messages,
      { role: 'assistant', content: first.content },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: call.id, content: '{"sky": "rainy", "degrees": 12}' }],
      },
    ],
  });
  expect(textOf(second)).toContain('rainy');
});

test('a forced call, and JSON of a schema', async () => {
  const forced = await anthropic.messages.create({ ...ask('Hello!'), tools, tool_choice: { type: 'any' } });
  expect(forced.content.at(-1)).toMatchObject({ type: 'tool_use', name: 'get_weather' });
  const parsed = await anthropic.messages.create({
    ...ask('Is two more than one?'),
    output_config: { format: { type: 'json_schema', schema: YES_OR_NO } },
  });
  expect(['yes', 'no']).toContain((JSON.parse(textOf(parsed)) as { answer: string }).answer);
});

test('tokens are counted', async () => {
  const { input_tokens: counted } = await anthropic.messages.countTokens({
    model: MODEL,
    messages: ask('Hello!').messages,
  });
  const { usage } = await anthropic.messages.create(ask('Hello!'));
  expect(usage.input_tokens + (usage.cache_read_input_tokens ?? 0)).toBe(counted);
});

describe('errors', () => {
  test('are of the client’s own kinds', async () => {
    const refused = (fields: object) => anthropic.messages.create({ ...ask('Hi'), ...fields });
    await expect(refused({ model: 'nope' })).rejects.toBeInstanceOf(Anthropic.NotFoundError);
    await expect(refused({ temperature: -1 })).rejects.toBeInstanceOf(Anthropic.BadRequestError);
    const stranger = new Anthropic({ baseURL: anthropic.baseURL, apiKey: 'wk-no', maxRetries: 0 });
    await expect(stranger.messages.create(ask('Hi'))).rejects.toMatchObject({
      status: 401,
      type: 'authentication_error',
    });
  });
});
