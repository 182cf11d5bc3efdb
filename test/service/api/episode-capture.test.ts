// What episodes capture is what was sampled, whatever endpoint sampled it, however the calls hang together, and however they end.
import { expect, test, vi } from 'vitest';
import { AppError } from '#domain/errors';
import type { InferenceEngine, TokenEvent } from '#engine/inference-engine';
import { register } from '../../support/api/registered-model.ts';
import { BASE, chat, openTestServer, send, shareTestServer, type TestServer } from '../../support/api/test-server.ts';

/** How many tokens the engine samples before it fails; null: it does not. */
let failsAfter: number | null = null;

const server = await shareTestServer({
  wrapEngine: (real): InferenceEngine => ({
    ...real,
    prepare: (...call) => real.prepare(...call),
    generate(request, signal) {
      const stream = real.generate(request, signal);
      async function* events(): AsyncGenerator<TokenEvent> {
        let count = 0;
        for await (const event of stream) {
          if (failsAfter !== null && count++ === failsAfter) throw new AppError('engine_failed', 'It broke.');
          yield event;
        }
      }
      return { [Symbol.asyncIterator]: () => events(), cancelChoice: (index) => stream.cancelChoice(index) };
    },
  }),
});
const modelId = await register(server, 'agent');
const model = 'p/agent';

interface Choice {
  message: { role: string; content: string };
  token_ids: number[];
  logprobs: { content: { logprob: number }[] };
  finish_reason: string;
}

interface ChatAnswer {
  id: string;
  prompt_token_ids: number[];
  choices: Choice[];
}

interface Tokens {
  id: string;
  answer_id: string;
  parent_id: string | null;
  parent_choice: number | null;
  shared_tokens: number;
  policy_step: number | null;
  trained: boolean;
  cut: boolean;
  reshaped_by: string[];
  prompt_token_ids: number[];
  choices: { token_ids: number[]; logprobs: number[]; finish_reason: string | null; constrained: boolean }[];
}

const tokensOf = async (episode: string, on: TestServer = server): Promise<Tokens[]> => {
  const response = await send(on, { url: `/v1/preview/episodes/${episode}/tokens?limit=100` });
  expect(response.statusCode, response.body).toBe(200);
  return response.json<{ data: Tokens[] }>().data;
};

async function ask(episode: string, fields: object = {}, headers: Record<string, string> = {}): Promise<ChatAnswer> {
  const body = chat({ model, return_token_ids: true, ...fields });
  const response = await send(server, {
    url: '/v1/chat/completions',
    body,
    headers: { 'x-whetstone-episode': episode, ...headers },
  });
  expect(response.statusCode, response.body).toBe(200);
  return response.json<ChatAnswer>();
}

/** What a call must have stored for this answer. */
const storedAs = ({ id, prompt_token_ids: promptIds, choices }: ChatAnswer) => ({
  answer_id: id,
  prompt_token_ids: promptIds,
  choices: choices.map(({ token_ids: ids, logprobs, finish_reason: reason }, index) => ({
    index,
    token_ids: ids,
    logprobs: logprobs.content.map(({ logprob }) => expect.closeTo(logprob, 5) as unknown),
    texts: ids.map(() => expect.any(String) as unknown),
    finish_reason: reason,
    constrained: false,
  })),
});

const user = (content: string) => ({ role: 'user', content });
const system = (content: string) => ({ role: 'system', content });

test('a call stores exactly the tokens that its answer shows, of each choice, with the step', async () => {
  const answer = await ask('one', { n: 2, temperature: 1.3 });
  const [call, ...others] = await tokensOf('one');
  expect(others).toEqual([]);
  expect(call).toMatchObject({
    ...storedAs(answer),
    ...{ policy_step: 0, trained: true, cut: false, parent_id: null, reshaped_by: ['temperature'] },
  });
  const read = await send(server, { url: '/v1/preview/episodes/one' });
  expect(read.json()).toMatchObject({
    ...{ name: 'one', group: null, status: 'open', model_id: modelId, call_count: 1, has_more: false },
    calls: [
      {
        answer_id: answer.id,
        model: 'wandb-artifact:///default/p/agent:step0',
        messages: [user('Say something.')],
        prompt_tokens: answer.prompt_token_ids.length,
        sampling: { temperature: 1.3, seed: 1, maxTokens: 8 },
        choices: answer.choices.map(({ message, token_ids: ids, finish_reason: reason }, index) => ({
          ...{ index, completion_tokens: ids.length, finish_reason: reason, content: message.content },
        })),
      },
    ],
  });
});

test('agents that go on, retry, compact and start subagents make trees by their tokens', async () => {
  const opening = [system('You are careful.'), user('First.')];
  const first = await ask('tree', { messages: opening });
  const going = [...opening, { role: 'assistant', content: first.choices[0]!.message.content }, user('Second.')];
  const second = await ask('tree', { messages: going });
  const retry = await ask('tree', { messages: going, seed: 2 });
  const subagent = await ask('tree', { messages: [system('Other instructions.'), user('Search.')] });
  const compacted = await ask('tree', { messages: [system('You are careful.'), user('Summary of the first turn.')] });
  const calls = await tokensOf('tree');
  const answers = [first, second, retry, subagent, compacted];
  expect(calls).toEqual(answers.map((answer) => expect.objectContaining(storedAs(answer)) as unknown));
  const [a, b, c, d, e] = calls;
  expect(a!.parent_id).toBeNull();
  expect(b).toMatchObject({ parent_id: a!.id });
  expect(b!.shared_tokens).toBeGreaterThanOrEqual(a!.prompt_token_ids.length);
  expect(c).toMatchObject({ parent_id: b!.id, parent_choice: null, shared_tokens: b!.prompt_token_ids.length });
  expect(d!.parent_id).toBeNull();
  expect(e).toMatchObject({ parent_id: a!.id, parent_choice: null });
  const { calls: said, token_count: stored } = (
    await send(server, { url: '/v1/preview/episodes/tree?limit=100' })
  ).json<{
    calls: { messages: unknown[]; shared_messages: number }[];
    token_count: number;
  }>();
  expect(said.map(({ messages, shared_messages: shared }) => [shared, messages.length])).toEqual([
    [0, 2],
    [2, 2],
    [4, 0],
    [0, 2],
    [1, 1],
  ]);
  const all = calls.map(({ prompt_token_ids: ids, choices }) => ids.length + choices[0]!.token_ids.length);
  const shared = calls.map((call) => call.shared_tokens);
  const sum = (list: number[]) => list.reduce((total, each) => total + each, 0);
  expect(stored).toBe(sum(all) - sum(shared));
});

test('a tree is the same when another server, or a new cache, adds to it', async () => {
  const { storage, blobs, model: tiny, clock } = server;
  const other = await openTestServer({ given: { storage, blobs, model: tiny, clock } });
  const first = await ask('two-servers', { messages: [user('First.')] });
  const going = [user('First.'), { role: 'assistant', content: first.choices[0]!.message.content }, user('Second.')];
  await send(other, {
    url: '/e/two-servers/v1/chat/completions',
    body: chat({ model, messages: going, return_token_ids: true }),
  });
  const third = await ask('two-servers', { messages: going, seed: 3 });
  const [a, b, c] = await tokensOf('two-servers');
  await other.close();
  expect(b!.parent_id).toBe(a!.id);
  expect(c).toMatchObject({ parent_id: b!.id, ...storedAs(third) });
});

const ENDPOINTS: Readonly<Record<string, { url: string; body: object; idOf: (answer: string) => string }>> = {
  'chat, streamed': {
    url: '/chat/completions',
    body: chat({ model, stream: true }),
    idOf: (text) => /"id":"(chatcmpl-[^"]+)"/.exec(text)![1]!,
  },
  completions: {
    url: '/completions',
    body: { model, prompt: 'Say', max_tokens: 4, n: 2 },
    idOf: (text) => (JSON.parse(text) as { id: string }).id,
  },
  'completions, streamed': {
    url: '/completions',
    body: { model, prompt: 'Say', max_tokens: 4, stream: true },
    idOf: (text) => /"id":"(cmpl-[^"]+)"/.exec(text)![1]!,
  },
  messages: {
    url: '/messages',
    body: { model, messages: [user('Hi')], max_tokens: 4 },
    idOf: (text) => (JSON.parse(text) as { id: string }).id,
  },
  'messages, streamed': {
    url: '/messages',
    body: { model, messages: [user('Hi')], max_tokens: 4, stream: true },
    idOf: (text) => /"id":"(msg_[^"]+)"/.exec(text)![1]!,
  },
  responses: {
    url: '/responses',
    body: { model, input: 'Hi', max_output_tokens: 16 },
    idOf: (text) => (JSON.parse(text) as { id: string }).id,
  },
  'responses, streamed': {
    url: '/responses',
    body: { model, input: 'Hi', max_output_tokens: 16, stream: true },
    idOf: (text) => /"id":"(resp_[^"]+)"/.exec(text)![1]!,
  },
};

test.each(Object.entries(ENDPOINTS))(
  '%s under an episode’s address is stored, by the id that the client saw',
  async (what, { url, body, idOf }) => {
    const name = `at-${what.replaceAll(/\W+/g, '-')}`;
    const response = await send(server, { url: `/e/all/${name}/v1${url}`, body });
    expect(response.statusCode, response.body).toBe(200);
    const [call, ...others] = await tokensOf(name);
    expect(others).toEqual([]);
    expect(call).toMatchObject({ answer_id: idOf(response.body), policy_step: 0, trained: true, cut: false });
    expect(
      call!.choices.every(({ token_ids: ids, logprobs }) => ids.length > 0 && logprobs.length === ids.length),
    ).toBe(true);
    const read = (await send(server, { url: `/v1/preview/episodes/${name}` })).json<{ group: string }>();
    expect(read.group).toBe('all');
  },
);

test('the last part of a stream waits until the call is stored, and a call that cannot be stored is not answered', async () => {
  const real = server.storage.episodes.capture.bind(server.storage.episodes);
  const capture = vi.spyOn(server.storage.episodes, 'capture');
  const fault = new AppError('storage_unavailable', 'The disk is full.');
  capture.mockRejectedValueOnce(fault);
  const headers = { 'x-whetstone-episode': 'unstored' };
  const whole = await send(server, { url: '/v1/chat/completions', body: chat({ model }), headers });
  expect(whole.statusCode).toBe(503);
  capture.mockRejectedValueOnce(fault);
  const stream = await send(server, { url: '/v1/chat/completions', body: chat({ model, stream: true }), headers });
  expect(stream.body).toContain('The disk is full.');
  expect(stream.body).not.toContain('"finish_reason":"length"');
  let stored = 0;
  capture.mockImplementation(async (...call) => {
    const outcome = await real(...call);
    stored++;
    return outcome;
  });
  const answered = await send(server, { url: '/v1/chat/completions', body: chat({ model, stream: true }), headers });
  expect([stored, answered.body.includes('[DONE]')]).toEqual([1, true]);
  capture.mockRestore();
  expect(await tokensOf('unstored')).toHaveLength(1);
});

test('what was sampled before an answer broke off is kept as cut, and is not trained', async () => {
  failsAfter = 3;
  const headers = { 'x-whetstone-episode': 'cut' };
  const broken = await send(server, { url: '/v1/chat/completions', body: chat({ model, stream: true }), headers });
  failsAfter = null;
  expect(broken.body).toContain('It broke.');
  const [call, ...others] = await tokensOf('cut');
  expect(others).toEqual([]);
  expect(call).toMatchObject({ cut: true, trained: false, choices: [{ finish_reason: null }] });
  expect(call!.choices[0]!.token_ids).toHaveLength(3);
  const whole = await ask('cut');
  expect(whole.choices[0]!.token_ids.slice(0, 3)).toEqual(call!.choices[0]!.token_ids);
  expect(await tokensOf('cut')).toMatchObject([{ cut: true }, { cut: false, parent_id: call!.id }]);
});

test('answers have ids of their own, although a whole run sends one X-Request-Id', async () => {
  const answers = [];
  for (let calls = 0; calls < 2; calls++) answers.push(await ask('one-id', {}, { 'x-request-id': 'same' }));
  answers.push(await ask('one-id', { request_id: 'same' }));
  const ids = answers.map(({ id }) => id);
  expect(new Set(ids).size).toBe(3);
  for (const id of ids) expect(id).toMatch(/^chatcmpl-same-[0-9a-f]{12}$/);
  expect((await tokensOf('one-id')).map(({ answer_id: id }) => id)).toEqual(ids);
  const headers = { 'x-request-id': 'same', 'x-whetstone-episode': 'one-id' };
  const response = await send(server, { url: '/v1/chat/completions', body: chat({ model }), headers });
  expect(response.headers['x-request-id']).toBe('same');
});

test('an Idempotency-Key repeats an answer in its episode, and is refused in another', async () => {
  const respond = (url: string, more: Record<string, string> = {}) =>
    send(server, {
      url,
      body: { model, input: 'Hi', max_output_tokens: 16 },
      headers: { 'idempotency-key': 'once', ...more },
    });
  const first = await respond('/e/key-a/v1/responses');
  expect((await respond('/e/key-a/v1/responses')).json()).toEqual(first.json());
  for (const other of [
    await respond('/e/key-b/v1/responses'),
    await respond('/v1/responses'),
    await respond('/e/key-a/v1/responses', { 'x-whetstone-train': 'false' }),
    await respond('/e/g/key-a/v1/responses'),
  ])
    expect([other.statusCode, other.json<{ error: { code: string } }>().error.code]).toEqual([
      422,
      'idempotency_mismatch',
    ]);
  expect(await tokensOf('key-a')).toHaveLength(1);
});

test('an answer that came to a dead end is kept as cut, and is not trained', async () => {
  const { tokenizer } = server.model.text;
  const [first] = tokenizer.encode('Hello');
  const dead = { structured_outputs: { regex: 'Hello world' }, allowed_token_ids: [first] };
  const answer = await ask('dead', dead);
  expect(answer.choices[0]!.finish_reason).toBe('abort');
  const streamed = await send(server, {
    url: '/e/dead/v1/chat/completions',
    body: chat({ model, stream: true, ...dead }),
  });
  expect(streamed.body).toContain('"finish_reason":"abort"');
  const calls = await tokensOf('dead');
  expect(calls).toMatchObject([
    { answer_id: answer.id, cut: true, trained: false, choices: [{ token_ids: answer.choices[0]!.token_ids }] },
    { cut: true, trained: false },
  ]);
});

test.each([{}, { stream: true }, { n: 2, logprobs: 1 }])(
  'a text that is only scored (%j) is recorded without tokens, and nothing of it is trained',
  async (fields) => {
    const name = `scored-${Object.keys(fields).join('-')}`;
    const body = { model, prompt: 'Say something.', max_tokens: 0, echo: true, ...fields };
    const response = await send(server, { url: `/e/${name}/v1/completions`, body });
    expect(response.statusCode, response.body).toBe(200);
    const [call, ...others] = await tokensOf(name);
    expect(others).toEqual([]);
    expect(call).toMatchObject({ trained: false, cut: false });
    expect(call!.prompt_token_ids.length).toBeGreaterThan(0);
    expect(call!.choices.map(({ token_ids: ids, logprobs }) => [...ids, ...logprobs])).toEqual(
      Array.from({ length: 'n' in fields ? 2 : 1 }, () => []),
    );
    await ask(name);
    const read = (await send(server, { url: `/v1/preview/episodes/${name}` })).json<{ trained_token_count: number }>();
    expect(read.trained_token_count).toBe((await tokensOf(name))[1]!.choices[0]!.token_ids.length);
  },
);

test('a judge is recorded and not trained: by its header, or because the base model answers', async () => {
  await ask('judged');
  await ask('judged', {}, { 'x-whetstone-train': 'false' });
  await ask('judged', { model: BASE });
  const calls = await tokensOf('judged');
  expect(calls.map(({ trained, policy_step: step }) => [trained, step])).toEqual([
    [true, 0],
    [false, 0],
    [false, null],
  ]);
  const episode = (await send(server, { url: '/v1/preview/episodes/judged' })).json<{ trained_token_count: number }>();
  expect(episode.trained_token_count).toBe(calls[0]!.choices[0]!.token_ids.length);
});
