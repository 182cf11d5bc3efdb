// LangChain for JavaScript over @langchain/openai, unmodified.
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
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
beforeAll(async () => {
  server = await openStarterServer();
});
afterAll(() => server.close());

const chatModel = (fields: { maxTokens?: number } = {}) =>
  new ChatOpenAI({
    model: MODEL,
    apiKey: KEY,
    temperature: 0,
    maxRetries: 0,
    configuration: { baseURL: server.baseUrl },
    ...fields,
  });
const weather = {
  type: 'function' as const,
  function: { name: 'get_weather', description: 'Tells the weather', parameters: WEATHER_PARAMETERS },
};

/** Its declarations lose the type of usage_metadata. */
const outputTokensOf = (message: object) =>
  (message as { usage_metadata?: { output_tokens: number } }).usage_metadata?.output_tokens ?? 0;

test('invoke, stream and batch say the same, with usage', async () => {
  const answer = await chatModel().invoke('What is 2 + 3?');
  expect(answer.content).toContain('5');
  const parts: string[] = [];
  let outputTokens = 0;
  for await (const chunk of await chatModel().stream('What is 2 + 3?')) {
    parts.push(chunk.content as string);
    outputTokens += outputTokensOf(chunk);
  }
  expect(parts.join('')).toBe(answer.content);
  expect(outputTokens).toBe(outputTokensOf(answer));
  const [first, second] = await chatModel().batch(['What is 2 + 3?', 'Hello!']);
  expect(first!.content).toBe(answer.content);
  expect(second!.content).not.toBe('');
});

test('bound tools are called, and their results are read', async () => {
  const model = chatModel().bindTools([weather]);
  const call = await model.invoke(WEATHER_QUESTION);
  expect(call.tool_calls![0]).toMatchObject({ name: 'get_weather', args: { city: 'Paris' } });
  const result = new ToolMessage({
    content: '{"sky": "rainy", "degrees": 12}',
    tool_call_id: call.tool_calls![0]!.id!,
  });
  const answer = await model.invoke([new HumanMessage(WEATHER_QUESTION), call, result]);
  expect(answer.content).toContain('rainy');
});

test('structured output keeps to its schema', async () => {
  const model = chatModel().withStructuredOutput(YES_OR_NO as unknown as Record<string, unknown>, {
    name: 'answer',
    method: 'jsonSchema',
  });
  expect(['yes', 'no']).toContain(((await model.invoke('Is two more than one?')) as { answer: string }).answer);
});

test('a context that is too long is recognised as such', async () => {
  await expect(chatModel({ maxTokens: 1_000_000 }).invoke('Hi')).rejects.toThrow(/maximum context length/);
});
