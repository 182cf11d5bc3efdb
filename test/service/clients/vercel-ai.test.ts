// The Vercel AI SDK, unmodified, over its providers for OpenAI-compatible servers, for OpenAI (Responses and chat) and for Anthropic. Its
// validators refuse fields that the official SDKs let pass.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateObject, generateText, jsonSchema, stepCountIs, streamText, tool, type LanguageModel } from 'ai';
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
beforeAll(async () => {
  server = await openStarterServer();
});
afterAll(() => server.close());

const remote = () => ({ baseURL: server.baseUrl, apiKey: KEY });
const compatible = (model: string): LanguageModel =>
  createOpenAICompatible({
    ...remote(),
    name: 'whetstone',
    includeUsage: true,
    supportsStructuredOutputs: true,
  })(model);
const PROVIDERS: Readonly<Record<string, (model: string) => LanguageModel>> = {
  'openai-compatible': compatible,
  'openai, by the Responses API': (model) => createOpenAI(remote())(model),
  'openai, by chat completions': (model) => createOpenAI(remote()).chat(model),
  anthropic: (model) => createAnthropic(remote())(model),
};

const weather = tool({
  description: 'Tells the weather',
  inputSchema: jsonSchema<{ city: string }>(WEATHER_PARAMETERS as never),
  execute: async () => ({ sky: 'rainy', degrees: 12 }),
});

describe.each(Object.entries(PROVIDERS))('%s', (_, modelOf) => {
  const settings = () => ({ model: modelOf(MODEL), temperature: 0, maxRetries: 0, maxOutputTokens: 200 });

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
});

test('an error has the server’s message', async () => {
  const unknown = generateText({ model: compatible('nope'), maxRetries: 0, prompt: 'Hi' });
  await expect(unknown).rejects.toMatchObject({
    statusCode: 404,
    message: expect.stringContaining('`nope`') as string,
  });
});
