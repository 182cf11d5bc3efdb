// The Vercel AI SDK over @ai-sdk/openai-compatible, unmodified.
import { createOpenAICompatible, type OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import { generateObject, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
let provider: OpenAICompatibleProvider;
beforeAll(async () => {
  server = await openStarterServer();
  const { baseUrl: baseURL } = server;
  provider = createOpenAICompatible({
    name: 'whetstone',
    baseURL,
    apiKey: KEY,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
});
afterAll(() => server.close());

const settings = () => ({ model: provider(MODEL), temperature: 0, maxRetries: 0 });
const weather = tool({
  description: 'Tells the weather',
  inputSchema: jsonSchema<{ city: string }>(WEATHER_PARAMETERS as never),
  execute: async () => ({ sky: 'rainy', degrees: 12 }),
});

test('text, whole and streamed, is the same, with usage', async () => {
  const whole = await generateText({ ...settings(), prompt: 'What is 2 + 3?' });
  expect(whole.text).toContain('5');
  expect(whole.finishReason).toBe('stop');
  const stream = streamText({ ...settings(), prompt: 'What is 2 + 3?' });
  expect(await stream.text).toBe(whole.text);
  expect((await stream.usage).outputTokens).toBe(whole.usage.outputTokens);
});

test('tools are called and their results are used', async () => {
  const { steps, text } = await generateText({
    ...settings(),
    prompt: WEATHER_QUESTION,
    tools: { get_weather: weather },
    stopWhen: stepCountIs(2),
  });
  expect(steps[0]!.toolCalls[0]).toMatchObject({ toolName: 'get_weather', input: { city: 'Paris' } });
  expect(steps).toHaveLength(2);
  expect(text).not.toBe('');
});

test('a required tool streams its call', async () => {
  const stream = streamText({
    ...settings(),
    prompt: 'Hello!',
    tools: { get_weather: weather },
    toolChoice: 'required',
  });
  const calls = await stream.toolCalls;
  expect(calls[0]).toMatchObject({ toolName: 'get_weather', input: { city: expect.any(String) as string } });
});

test('an object keeps to its schema', async () => {
  const schema = jsonSchema<{ answer: string }>(YES_OR_NO);
  const { object } = await generateObject({ ...settings(), schema, prompt: 'Is two more than one?' });
  expect(['yes', 'no']).toContain(object.answer);
});

test('an error has the server’s message', async () => {
  const unknown = generateText({ ...settings(), model: provider('nope'), prompt: 'Hi' });
  await expect(unknown).rejects.toMatchObject({
    statusCode: 404,
    message: expect.stringContaining('`nope`') as string,
  });
});
