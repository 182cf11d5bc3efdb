// Episodes through the HTTP API: what is captured is what was sampled, whatever endpoint sampled it and however the calls hang together.
import { expect, test, vi } from 'vitest';
import { AppError } from '#domain/errors';
import type { InferenceEngine, TokenEvent } from '#engine/inference-engine';
import { register } from './registered-model.ts';
import { BASE, chat, openTestServer, send, shareTestServer, type TestServer } from './test-server.ts';

/** How many tokens the engine samples before it fails; null: it does not. */
let failsAfter: number | null = null;

const server = await shareTestServer({
  wrapEngine: (real): InferenceEngine => ({
    ...real,
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

test('a reward ends the episode; the same one is the same answer, another replaces it, and its turns are named by their answers', async () => {
  const { id } = await ask('rewarded');
  const reward = (body: object) => send(server, { url: '/v1/preview/episodes/rewarded/reward', body });
  const given = { reward: 0.5, metrics: { tests: 3 }, turn_rewards: { [id]: 1 }, group: 'g', status: 'failed' };
  const first = await reward(given);
  expect(first.statusCode, first.body).toBe(200);
  const told = { reward: 0.5, metrics: { tests: 3 }, turn_rewards: { [id]: 1 }, group: 'g', outcome: 'failed' };
  expect(first.json()).toMatchObject({ status: 'rewarded', ...told });
  server.clock.advance(1_000);
  expect((await reward(given)).body).toBe(first.body);
  expect((await reward({ reward: 1 })).json()).toMatchObject({ reward: 1, turn_rewards: {}, outcome: 'completed' });
  const refused = await send(server, { url: '/e/rewarded/v1/chat/completions', body: chat({ model }) });
  expect([refused.statusCode, refused.json<{ detail: string }>().detail]).toEqual([
    409,
    'The episode `rewarded` has ended with a reward: it takes no more calls. Begin another one under another name.',
  ]);
  const listed = await send(server, { url: `/v1/preview/episodes?model_id=${modelId}&group=g&status=rewarded` });
  expect(listed.json()).toMatchObject({ data: [{ name: 'rewarded', reward: 1 }], has_more: false });
  const unknown = await reward({ reward: 1, turn_rewards: { 'chatcmpl-nobody': 1 } });
  expect([unknown.statusCode, unknown.json<{ detail: string }>().detail]).toEqual([
    400,
    'turn_rewards: the episode `rewarded` has no answer with the id `chatcmpl-nobody`. Use the `id` of the answers that it got.',
  ]);
});

test('an episode that is begun before its first call has addresses for clients, and is found again by its name', async () => {
  const begin = (body: object) => send(server, { url: '/v1/preview/episodes', body: { model_id: modelId, ...body } });
  const made = await begin({ name: 'begun', group: 'g1', metadata: { seed: 7 } });
  const { id, ...episode } = made.json<{ id: string }>();
  expect(episode).toMatchObject({
    ...{ name: 'begun', group: 'g1', status: 'open', metadata: { seed: 7 }, call_count: 0 },
    base_url: 'http://localhost:80/e/g1/begun/v1',
    anthropic_base_url: 'http://localhost:80/e/g1/begun',
  });
  const again = await begin({ name: 'begun', group: 'g1' });
  expect(again.json()).toMatchObject({ id, warnings: ['metadata was not used: the episode existed already.'] });
  expect((await begin({ name: 'begun', group: 'g2' })).statusCode).toBe(409);
  const unnamed = (await begin({})).json<{ name: string; base_url: string }>();
  expect(unnamed.name).toMatch(/^episode-[0-9a-f]{18}$/);
  expect(unnamed.base_url).toBe(`http://localhost:80/e/${unnamed.name}/v1`);
  await ask('begun');
  expect((await send(server, { url: `/v1/preview/episodes/${id}` })).json()).toMatchObject({ call_count: 1 });
  const gone = await send(server, { url: `/v1/preview/episodes/${id}`, method: 'DELETE' });
  expect(gone.json()).toEqual({ id, object: 'episode', deleted: true });
  expect((await send(server, { url: `/v1/preview/episodes/begun` })).statusCode).toBe(404);
  await ask('begun');
  expect(await tokensOf('begun')).toHaveLength(1);
});

test('two models of one entity may have an episode of the same name, and model_id says which is meant', async () => {
  const other = await register(server, 'other');
  await ask('shared');
  await ask('shared', { model: 'p/other' });
  const unclear = await send(server, { url: '/v1/preview/episodes/shared' });
  expect(unclear.statusCode).toBe(409);
  const { detail } = unclear.json<{ detail: string }>();
  for (const id of [modelId, other]) expect(detail).toContain(id);
  const clear = await send(server, {
    url: `/v1/preview/episodes/shared/reward?model_id=${other}`,
    body: { reward: 1 },
  });
  expect(clear.json()).toMatchObject({ model_id: other, reward: 1 });
});

test('nobody sees, rewards, deletes or adds to another entity’s episode, whose name is simply free', async () => {
  await ask('private');
  const { secret } = await server.apiKeys.create({
    entity: 'rivals',
    name: 'theirs',
    scopes: ['chat', 'train', 'read'],
    limits: {},
  });
  const headers = { authorization: `Bearer ${secret}` };
  const { id } = (await send(server, { url: '/v1/preview/episodes/private' })).json<{ id: string }>();
  for (const named of ['private', id]) {
    const url = `/v1/preview/episodes/${named}`;
    const answers = [
      await send(server, { url, headers }),
      await send(server, { url: `${url}/tokens`, headers }),
      await send(server, { url: `${url}/reward`, headers, body: { reward: 1 } }),
      await send(server, { url: `${url}?model_id=${modelId}`, headers }),
      await send(server, { url, headers, method: 'DELETE' }),
    ];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404, 404, 404]);
  }
  const theirs = await send(server, {
    url: '/v1/preview/models',
    headers,
    body: { project: 'p', name: 'agent', base_model: BASE },
  });
  expect(theirs.statusCode).toBe(200);
  const call = await send(server, { url: '/e/private/v1/chat/completions', headers, body: chat({ model }) });
  expect(call.statusCode, call.body).toBe(200);
  expect((await send(server, { url: '/v1/preview/episodes', headers })).json()).toMatchObject({
    data: [{ call_count: 1 }],
    has_more: false,
  });
  expect((await send(server, { url: `/v1/preview/episodes?model_id=${modelId}`, headers })).json()).toMatchObject({
    data: [],
  });
  const begun = await send(server, { url: '/v1/preview/episodes', headers, body: { model_id: modelId } });
  expect(begun.statusCode).toBe(404);
  expect(await tokensOf('private')).toHaveLength(1);
});

const E = 'x-whetstone-episode';
test.each([
  [
    'a slash in the name',
    '/v1/chat/completions',
    { [E]: 'a/b' },
    {},
    400,
    'X-Whetstone-Episode must have 1 to 128 characters',
  ],
  ['an empty name', '/v1/chat/completions', { [E]: '' }, {}, 400, 'must have 1 to 128 characters'],
  ['a long name', '/v1/chat/completions', { [E]: 'x'.repeat(129) }, {}, 400, 'must have 1 to 128 characters'],
  ['the name v1', '/e/v1/v1/chat/completions', {}, {}, 400, 'must not be "v1"'],
  [
    'an id as a name',
    '/v1/chat/completions',
    { [E]: '0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01' },
    {},
    400,
    'form of an id',
  ],
  ['an escaped slash', '/e/a%2Fb/v1/chat/completions', {}, {}, 400, 'must have 1 to 128 characters'],
  ['a wrong escape', '/e/a%zz/v1/chat/completions', {}, {}, 400, 'must have 1 to 128 characters'],
  ['three parts', '/e/a/b/c/v1/chat/completions', {}, {}, 400, 'names have no slash'],
  ['a group alone', '/v1/chat/completions', { 'x-whetstone-group': 'g' }, {}, 400, 'Send X-Whetstone-Episode with it'],
  ['two names', '/e/one-name/v1/chat/completions', { [E]: 'another' }, {}, 400, 'Send one of them'],
  [
    'a train header of neither',
    '/v1/chat/completions',
    { [E]: 'x', 'x-whetstone-train': 'no' },
    {},
    400,
    'is true or false',
  ],
  ['no trained model', '/v1/chat/completions', { [E]: 'of-base' }, { model: BASE }, 400, 'POST /v1/preview/episodes'],
  [
    'best_of beyond n',
    '/v1/completions',
    { [E]: 'x' },
    { prompt: 'a', best_of: 2, n: 1, messages: undefined },
    400,
    'best_of equal to n',
  ],
  [
    'the background',
    '/v1/responses',
    { [E]: 'x' },
    { input: 'a', background: true, messages: undefined, max_tokens: undefined, seed: undefined },
    400,
    'background: false',
  ],
] as const)('%s is refused with a sentence', async (_, url, headers, fields, status, words) => {
  const response = await send(server, { url, headers: { ...headers }, body: chat({ model, ...fields }) });
  expect([response.statusCode, response.json<{ detail: string }>().detail]).toEqual([
    status,
    expect.stringContaining(words),
  ]);
  expect((await send(server, { url: '/v1/preview/episodes/x' })).statusCode).toBe(404);
});

test('another group than the episode’s, and an unknown or deleted episode, are refused with a sentence', async () => {
  await ask('grouped', {}, { 'x-whetstone-group': 'g' });
  const elsewhere = await send(server, { url: '/e/h/grouped/v1/chat/completions', body: chat({ model }) });
  expect(elsewhere.statusCode).toBe(409);
  expect(elsewhere.json<{ detail: string }>().detail).toContain('is in the group `g`, not `h`');
  const unknown = await send(server, { url: '/v1/preview/episodes/nobody/reward', body: { reward: 1 } });
  expect([unknown.statusCode, unknown.json<{ detail: string }>().detail]).toEqual([404, expect.stringContaining('There is no episode `nobody`')]); // prettier-ignore
  for (const body of [
    {},
    { reward: 'much' },
    { reward: null },
    { reward: 1, status: 'open' },
    { reward: 1, group: 'a/b' },
    { reward: 1, metrics: { a: 'b' } },
    { reward: 1, metadata: [] },
  ]) {
    const response = await send(server, { url: '/v1/preview/episodes/grouped/reward', body });
    expect(response.statusCode, response.body).toBe(422);
  }
});

test('an episode with as many calls as it may have refuses the next one before it is answered', async () => {
  const bounded = await openTestServer();
  await register(bounded, 'agent');
  const call = () => send(bounded, { url: '/e/long/v1/chat/completions', body: chat({ model, max_tokens: 1 }) });
  for (let calls = 0; calls < 40; calls++) expect((await call()).statusCode).toBe(200);
  const refused = await call();
  await bounded.close();
  expect([refused.statusCode, refused.json<{ detail: string }>().detail]).toEqual([409, expect.stringContaining('has 40 calls, which is the limit')]); // prettier-ignore
});

test('episodes without activity expire: told when they are rewarded or called again', async () => {
  const aging = await openTestServer();
  await register(aging, 'agent');
  const call = () => send(aging, { url: '/e/old/v1/chat/completions', body: chat({ model, max_tokens: 1 }) });
  await call();
  aging.clock.advance(10_000);
  await aging.services.episodes.expire(9_000);
  const read = await send(aging, { url: '/v1/preview/episodes/old' });
  expect(read.json()).toMatchObject({ status: 'expired', calls: [], call_count: 1, stored_bytes: 0 });
  const rewarded = await send(aging, { url: '/v1/preview/episodes/old/reward', body: { reward: 1 } });
  const called = await call();
  aging.clock.advance(10_000);
  await aging.services.episodes.expire(9_000);
  const gone = await send(aging, { url: '/v1/preview/episodes/old' });
  await aging.close();
  expect([rewarded.statusCode, rewarded.json<{ detail: string }>().detail]).toEqual([409, expect.stringContaining('--episode-days')]); // prettier-ignore
  expect([called.statusCode, called.json<{ detail: string }>().detail]).toEqual([409, expect.stringContaining('has expired')]); // prettier-ignore
  expect(gone.statusCode).toBe(404);
});

test('what an entity may store bounds its episodes too', async () => {
  const poor = await openTestServer();
  await register(poor, 'agent');
  const used = await poor.storage.accounts.storedBytes({ entity: 'default', keyId: null });
  await poor.storage.accounts.setLimits('default', { storedBytes: used + 10 });
  poor.clock.advance(5_000); // a server may remember limits for a second
  const refused = await send(poor, { url: '/e/big/v1/chat/completions', body: chat({ model }) });
  await poor.close();
  expect([refused.statusCode, refused.json<{ detail: string }>().detail]).toEqual([429, expect.stringContaining('stored bytes')]); // prettier-ignore
});
