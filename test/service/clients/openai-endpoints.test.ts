// The official openai package for Node, unmodified, on the endpoints other than chat: completions and responses.
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  KEY,
  MODEL,
  openStarterServer,
  WEATHER_PARAMETERS,
  WEATHER_QUESTION,
  type StarterServer,
} from '../../support/clients/starter-server.ts';

let server: StarterServer;
let openai: OpenAI;
beforeAll(async () => {
  server = await openStarterServer();
  openai = new OpenAI({ baseURL: server.baseUrl, apiKey: KEY, maxRetries: 0 });
});
afterAll(() => server.close());

describe('completions', () => {
  const ask = { model: MODEL, prompt: 'Once upon a time', max_tokens: 8, temperature: 0, seed: 1 };

  test('of several prompts, with the older logprobs', async () => {
    const { choices, usage } = await openai.completions.create({ ...ask, prompt: ['One', 'Two'], n: 2, logprobs: 2 });
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    const tokens = choices.reduce((sum, { logprobs }) => sum + logprobs!.tokens!.length, 0);
    expect(tokens).toBe(usage!.completion_tokens);
  });

  test('stream the same text as the whole answer', async () => {
    const whole = await openai.completions.create({ ...ask, echo: true });
    let text = '';
    for await (const chunk of await openai.completions.create({ ...ask, echo: true, stream: true }))
      text += chunk.choices.map((choice) => choice.text).join('');
    expect(text).toBe(whole.choices[0]!.text);
  });
});

test('embeddings of texts are the same in both encodings, and alike where texts are', async () => {
  const input = ['What is 2 + 3?', 'What is 2 + 4?', 'Hello!'];
  const { data, usage } = await openai.embeddings.create({ model: MODEL, input }); // requests base64
  const plain = await openai.embeddings.create({ model: MODEL, input, encoding_format: 'float' });
  expect(plain.data).toEqual(data);
  expect(usage.prompt_tokens).toBeGreaterThan(3);
  const [sum, other, greeting] = data.map(({ embedding }) => embedding);
  const cosine = (vector: number[]) => vector.reduce((total, value, i) => total + value * sum![i]!, 0);
  expect(cosine(other!)).toBeGreaterThan(cosine(greeting!));
});

describe('responses', () => {
  const ask = (input: string) => ({ model: MODEL, input, temperature: 0 });
  const tools: OpenAI.Responses.FunctionTool[] = [
    {
      type: 'function',
      name: 'get_weather',
      description: 'Tells the weather',
      parameters: WEATHER_PARAMETERS,
      strict: null,
    },
  ];

  test('have a text, streamed as it is whole', async () => {
    const whole = await openai.responses.create(ask('Hello!'));
    expect(whole.output_text).not.toBe('');
    const stream = openai.responses.stream(ask('Hello!'));
    let text = '';
    stream.on('response.output_text.delta', ({ delta }) => (text += delta));
    const streamed = await stream.finalResponse();
    expect(streamed.output_text).toBe(whole.output_text);
    expect(text).toBe(whole.output_text);
  });

  test('call, also in a stream, and continue with the result', async () => {
    const first = await openai.responses.create({ ...ask(WEATHER_QUESTION), tools });
    const call = first.output.find((item) => item.type === 'function_call')!;
    expect(JSON.parse(call.arguments)).toEqual({ city: 'Paris' });
    const streamed = await openai.responses.stream({ ...ask(WEATHER_QUESTION), tools }).finalResponse();
    expect(streamed.output.find((item) => item.type === 'function_call')!.arguments).toBe(call.arguments);
    const second = await openai.responses.create({
      ...ask(''),
      tools,
      input: [
        { role: 'user', content: WEATHER_QUESTION },
        ...(first.output as OpenAI.Responses.ResponseInputItem[]),
        { type: 'function_call_output', call_id: call.call_id, output: '{"sky": "rainy", "degrees": 12}' },
      ],
    });
    expect(second.output_text).toContain('rainy');
  });

  test('are kept: retrieved, listed, gone on with, counted, deleted', async () => {
    const first = await openai.responses.create({ ...ask(WEATHER_QUESTION), tools });
    const { output_text: _, ...known } = first;
    expect(await openai.responses.retrieve(first.id)).toMatchObject(known);
    const call = first.output.find((item) => item.type === 'function_call')!;
    const result = {
      type: 'function_call_output' as const,
      call_id: call.call_id,
      output: '{"sky": "rainy", "degrees": 12}',
    };
    const continued = { tools, previous_response_id: first.id, input: [result] };
    const second = await openai.responses.create({ ...ask(''), ...continued });
    expect(second.output_text).toContain('rainy');
    const counted = await openai.responses.inputTokens.count({ model: MODEL, ...continued });
    expect(counted).toEqual({ object: 'response.input_tokens', input_tokens: second.usage!.input_tokens });
    const types: (string | undefined)[] = [];
    for await (const item of openai.responses.inputItems.list(second.id, { order: 'asc', limit: 1 }))
      types.push(item.type);
    expect(types).toEqual(['message', 'function_call', 'function_call_output']);
    await openai.responses.delete(first.id);
    await expect(openai.responses.retrieve(first.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  test('are answered in the background: polled, cancelled, streamed and streamed again', async () => {
    const whole = await openai.responses.create(ask('Hello!'));
    const { id, status } = await openai.responses.create({ ...ask('Hello!'), background: true });
    expect(status).toBe('queued');
    const answered = async () => (await openai.responses.retrieve(id)).status === 'completed';
    await vi.waitUntil(answered, { timeout: 60_000 });
    expect((await openai.responses.retrieve(id)).output_text).toBe(whole.output_text);
    expect((await openai.responses.cancel(id)).status).toBe('completed');
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    const stream = await openai.responses.create({ ...ask('Hello!'), background: true, stream: true });
    for await (const event of stream) events.push(event);
    const last = events.at(-1)!;
    if (last.type !== 'response.completed') throw new Error(`ends with ${last.type}`);
    const again: OpenAI.Responses.ResponseStreamEvent[] = [];
    const after = { stream: true as const, starting_after: 2 };
    for await (const event of await openai.responses.retrieve(last.response.id, after)) again.push(event);
    expect(again).toEqual(events.slice(3));
  });

  test('are parsed where they have a format', async () => {
    const Answer = z.object({ answer: z.enum(['yes', 'no']) });
    const { output_parsed: parsed } = await openai.responses.parse({
      ...ask('Is two more than one?'),
      text: { format: zodTextFormat(Answer, 'answer') },
    });
    expect(['yes', 'no']).toContain(parsed!.answer);
  });

  test('fail with the client’s own kinds of errors', async () => {
    await expect(openai.responses.create({ ...ask('Hi'), model: 'nope' })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(openai.responses.create({ ...ask('Hi'), conversation: 'conv_1' })).rejects.toMatchObject({
      status: 422,
    });
    await expect(openai.responses.retrieve('resp_1')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });
});
