// Chat answers as server-sent events: the chunks, their order, and what happens on failures.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppError, type ErrorCode } from '#domain/errors';
import type { InferenceEngine } from '#engine/inference-engine';
import {
  BASE,
  chat,
  openTestServer,
  send,
  type TestServer,
  type TestServerOptions,
} from '../../support/api/test-server.ts';

const url = '/v1/chat/completions';

interface Chunk {
  id: string;
  model: string;
  created: number;
  object: string;
  choices: {
    index: number;
    delta: { role?: string; content?: string };
    logprobs: { content: unknown[] } | null;
    finish_reason: string | null;
    stop_reason?: unknown;
    token_ids?: number[] | null;
  }[];
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  prompt_token_ids?: number[] | null;
}

async function stream(server: TestServer, fields: Readonly<Record<string, unknown>> = {}): Promise<Chunk[]> {
  const response = await send(server, { url, body: chat({ stream: true, temperature: 0, ...fields }) });
  expect(response.statusCode, response.body).toBe(200);
  expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
  const lines = response.body.split('\n\n');
  expect(lines.pop()).toBe('');
  expect(lines.pop()).toBe('data: [DONE]');
  return lines.map((line) => JSON.parse(line.replace(/^data: /, '')) as Chunk);
}

const textOf = (chunks: readonly Chunk[], index = 0): string =>
  chunks
    .flatMap(({ choices }) =>
      choices.filter((choice) => choice.index === index).map(({ delta }) => delta.content ?? ''),
    )
    .join('');

describe('a stream', () => {
  let server: TestServer;
  beforeAll(async () => void (server = await openTestServer()));
  afterAll(() => server.close());

  test('sends the role once, then text, then the finish reason', async () => {
    const chunks = await stream(server, { max_tokens: 5 });
    expect(chunks[0]!.choices).toEqual([
      { index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null },
    ]);
    expect(chunks.slice(1).every(({ choices }) => choices[0]!.delta.role === undefined)).toBe(true);
    expect(chunks.map(({ choices }) => choices[0]!.finish_reason)).toEqual([null, null, null, null, null, 'length']);
    expect(new Set(chunks.map(({ id, created, model, object }) => `${id} ${created} ${model} ${object}`)).size).toBe(1);
    expect(chunks[0]).toMatchObject({ object: 'chat.completion.chunk', model: BASE });
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false);
  });

  test('equals the whole answer', async () => {
    const whole = (await send(server, { url, body: chat({ temperature: 0, max_tokens: 20 }) })).json<{
      choices: [{ message: { content: string } }];
    }>();
    expect(textOf(await stream(server, { max_tokens: 20 }))).toBe(whole.choices[0].message.content);
  });

  test('begins with the echo as the whole answer does, also before calls', async () => {
    const fields = {
      messages: [
        { role: 'user', content: 'Go on.' },
        { role: 'assistant', content: 'Once' },
      ],
      echo: true,
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      temperature: 0,
      max_tokens: 100,
    };
    const response = await send(server, { url, body: chat(fields) });
    const { message } = response.json<{ choices: [{ message: { content: string; tool_calls: unknown[] } }] }>()
      .choices[0];
    expect(message.tool_calls).toHaveLength(1);
    expect(message.content).toBe('Once');
    expect(textOf(await stream(server, fields))).toBe(message.content);
  });

  test('holds back text that may be a stop string and never sends one', async () => {
    const text = textOf(await stream(server, { max_tokens: 20 }));
    const stop = text.slice(6, 10);
    const chunks = await stream(server, { max_tokens: 20, stop });
    expect(textOf(chunks)).toBe(text.slice(0, text.indexOf(stop)));
    expect(chunks.at(-1)!.choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: stop });
  });

  test('has usage in a last chunk of its own on request', async () => {
    const chunks = await stream(server, { max_tokens: 4, stream_options: { include_usage: true } });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 4 } });
    expect(chunks.slice(0, -1).some((chunk) => 'usage' in chunk)).toBe(false);
    expect((await stream(server, { stream_options: {} })).at(-1)!.usage).toBeDefined();
    expect((await stream(server, { stream_options: { include_usage: false } })).at(-1)!.usage).toBeUndefined();
  });

  test('has usage in every chunk with continuous_usage_stats', async () => {
    const chunks = await stream(server, { max_tokens: 3, stream_options: { continuous_usage_stats: true } });
    expect(chunks.map(({ usage }) => usage!.completion_tokens)).toEqual([0, 1, 2, 3, 3]);
  });

  test('has the logprobs of exactly the tokens of each chunk', async () => {
    const chunks = await stream(server, { max_tokens: 4, logprobs: true });
    expect(chunks.map(({ choices }) => choices[0]!.logprobs?.content.length ?? 0)).toEqual([0, 1, 1, 1, 1]);
  });

  test('has prompt ids in the role chunk and token ids in the others', async () => {
    const chunks = await stream(server, { max_tokens: 3, return_token_ids: true });
    expect(chunks[0]!.prompt_token_ids!.length).toBeGreaterThan(3);
    expect(chunks.slice(1).some((chunk) => 'prompt_token_ids' in chunk)).toBe(false);
    expect(chunks.map(({ choices }) => choices[0]!.token_ids?.length)).toEqual([undefined, 1, 1, 1]);
  });

  test('of several choices introduces all of them first, in order, and ends each once', async () => {
    const chunks = await stream(server, { n: 3, temperature: 1, max_tokens: 6 });
    expect(chunks.slice(0, 3).map(({ choices }) => [choices[0]!.index, choices[0]!.delta.role])).toEqual([
      [0, 'assistant'],
      [1, 'assistant'],
      [2, 'assistant'],
    ]);
    for (const index of [0, 1, 2]) {
      const ends = chunks.filter(({ choices }) => choices[0]!.index === index && choices[0]!.finish_reason !== null);
      expect(ends).toHaveLength(1);
    }
  });
});

describe('a dead end', () => {
  let server: TestServer;
  beforeAll(async () => void (server = await openTestServer()));
  afterAll(() => server.close());
  const allowed = (letters: string) => {
    const { tokenizer, eosTokenIds } = server.model.text;
    return [...[...letters].map((letter) => tokenizer.encode(letter)[0]!), ...eosTokenIds];
  };
  interface Ending {
    message: { content: string };
    finish_reason: string;
    stop_reason: unknown;
    token_ids: number[];
  }

  test('ends its choice, whole or in a stream; the others continue', async () => {
    const fields = {
      structured_outputs: { regex: 'abc|bbbb' },
      allowed_token_ids: allowed('ab'),
      return_token_ids: true,
      temperature: 2,
      n: 6,
    };
    const response = await send(server, { url, body: chat(fields) });
    expect(response.statusCode, response.body).toBe(200);
    const { choices, usage } = response.json<{ choices: Ending[]; usage: { completion_tokens: number } }>();
    const ends = choices.map(
      ({ message, finish_reason, stop_reason }) => `${message.content} ${finish_reason} ${String(stop_reason)}`,
    );
    expect(new Set(ends)).toEqual(new Set(['ab abort dead_end', 'bbbb stop null']));
    expect(usage.completion_tokens).toBe(choices.reduce((sum, { token_ids: ids }) => sum + ids.length, 0));

    const chunks = await stream(server, { ...fields, stream_options: { include_usage: true } });
    expect(choices.map((_, index) => textOf(chunks, index))).toEqual(choices.map(({ message }) => message.content));
    const finishes = chunks
      .flatMap((chunk) => chunk.choices)
      .filter(({ finish_reason: reason }) => reason !== null)
      .sort((a, b) => a.index - b.index);
    expect(finishes.map((each) => [each.finish_reason, each.stop_reason])).toEqual(
      choices.map((each) => [each.finish_reason, each.stop_reason]),
    );
    expect(chunks.at(-1)!.usage!.completion_tokens).toBe(usage.completion_tokens);
    expect(server.model.inference.status()).toMatchObject({ running: 0, waiting: 0 });
  });

  test('of a message is named in its warnings, because it has no stop_reason', async () => {
    const fields = { structured_outputs: { regex: 'abc|bbbb' }, allowed_token_ids: allowed('ab'), temperature: 2 };
    const body = { model: BASE, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 8, ...fields };
    const told = expect.arrayContaining([expect.stringContaining('No token could come next')]) as unknown;
    for (let seed = 0, isDead = false; !isDead; seed++) {
      const whole = (await send(server, { url: '/v1/messages', body: { ...body, seed } })).json<{
        stop_reason: unknown;
      }>();
      isDead = whole.stop_reason === null;
      if (!isDead) continue;
      expect(whole).toMatchObject({ warnings: told });
      const streamed = await send(server, { url: '/v1/messages', body: { ...body, seed, stream: true } });
      const [, delta] = /^event: message_delta\ndata: (.*)$/m.exec(streamed.body)!;
      expect(JSON.parse(delta!)).toMatchObject({ delta: { stop_reason: null }, warnings: told });
    }
  });

  test('at the very start is a 400, whole or in a stream', async () => {
    for (const streamed of [true, false]) {
      const fields = { stream: streamed, structured_outputs: { regex: 'c' }, allowed_token_ids: allowed('ab') };
      const response = await send(server, { url, body: chat(fields) });
      expect(response.statusCode).toBe(400);
      expect(response.json()).toMatchObject({ error: { code: 'dead_end' } });
    }
  });
});

/** The real engine, which fails after so many tokens of a request. */
function failingAfter(tokens: number, code: ErrorCode, times = Infinity): NonNullable<TestServerOptions['wrapEngine']> {
  let left = times;
  return (engine): InferenceEngine => ({
    ...engine,
    contextLength: engine.contextLength,
    vocabSize: engine.vocabSize,
    status: () => engine.status(),
    generate(request, signal) {
      const stream = engine.generate(request, signal);
      async function* events() {
        let given = 0;
        if (tokens === 0 && left-- > 0) throw new AppError(code, 'The engine failed.');
        for await (const event of stream) {
          yield event;
          if (++given === tokens && left-- > 0) throw new AppError(code, 'The engine failed.');
        }
      }
      return { [Symbol.asyncIterator]: events, cancelChoice: (index) => stream.cancelChoice(index) };
    },
  });
}

describe('an engine that fails', () => {
  test('before the first token gives a plain HTTP error, also for a stream', async () => {
    const server = await openTestServer({ wrapEngine: failingAfter(0, 'engine_unavailable') });
    for (const streamed of [true, false]) {
      const response = await send(server, { url, body: chat({ stream: streamed }) });
      expect(response.statusCode).toBe(503);
      expect(response.headers['retry-after']).toBe('1');
      expect(response.json()).toMatchObject({ detail: 'The engine failed.', error: { code: 'engine_unavailable' } });
    }
    await server.close();
  });

  test('in the middle of a stream sends an error event and a proper end', async () => {
    const server = await openTestServer({ wrapEngine: failingAfter(2, 'engine_failed') });
    const chunks = await stream(server);
    expect(textOf(chunks.slice(0, 3))).not.toBe('');
    expect(chunks.at(-1)).toEqual({
      error: { message: 'The engine failed.', type: 'server_error', param: null, code: 'engine_failed' },
    });
    await server.close();
  });

  test('in the middle of a response sends an error event with the next number', async () => {
    const server = await openTestServer({ wrapEngine: failingAfter(2, 'engine_failed') });
    const body = { model: BASE, input: 'Hi', max_output_tokens: 16, stream: true };
    const response = await send(server, { url: '/v1/responses', body });
    const numbers = [...response.body.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
    const [, event] = /^event: error\ndata: (.*)$/m.exec(response.body)!;
    const told = { message: 'The engine failed.', param: null, code: 'engine_failed' };
    expect(JSON.parse(event!)).toMatchObject({ ...told, type: 'error', error: { ...told, type: 'server_error' } });
    expect(numbers.length).toBeGreaterThan(2);
    expect(numbers).toEqual(Array.from(numbers, (_, index) => index));
    await server.close();
  });

  test('and comes back continues as if nothing had happened', async () => {
    const undisturbed = await openTestServer();
    const disturbed = await openTestServer({ wrapEngine: failingAfter(5, 'engine_unavailable', 2) });
    for (const fields of [{ temperature: 0 }, { temperature: 1, n: 3, seed: 9 }]) {
      const strip = (chunks: readonly Chunk[]) => [0, 1, 2].map((index) => textOf(chunks, index));
      expect(strip(await stream(disturbed, fields))).toEqual(strip(await stream(undisturbed, fields)));
    }
    await undisturbed.close();
    await disturbed.close();
  });
});

test('a full queue is a 429 that says when to retry', async () => {
  const server = await openTestServer({ engine: { maxRunning: 1, maxWaiting: 1 } });
  const statuses = await Promise.all(
    Array.from({ length: 6 }, async (_, seed) => {
      const response = await send(server, { url, body: chat({ seed, stream: seed % 2 === 0, max_tokens: 60 }) });
      if (response.statusCode === 429) {
        expect(response.headers['retry-after']).toMatch(/^\d+$/);
        expect(response.json()).toMatchObject({ error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' } });
      }
      return response.statusCode;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  await server.close();
});
