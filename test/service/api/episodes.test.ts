// Episodes through the HTTP API: begun, rewarded, read by their entity alone, refused in sentences. What bounds them is
// in episode-bounds.test.ts.
import { expect, test, vi } from 'vitest';
import { register } from '../../support/api/registered-model.ts';
import { BASE, chat, send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();
const modelId = await register(server, 'agent');
const model = 'p/agent';

async function ask(
  episode: string,
  fields: object = {},
  headers: Record<string, string> = {},
): Promise<{ id: string }> {
  const response = await send(server, {
    url: '/v1/chat/completions',
    body: chat({ model, ...fields }),
    headers: { 'x-whetstone-episode': episode, ...headers },
  });
  expect(response.statusCode, response.body).toBe(200);
  return response.json<{ id: string }>();
}

const callsOf = async (episode: string): Promise<number> =>
  (await send(server, { url: `/v1/preview/episodes/${episode}` })).json<{ call_count: number }>().call_count;

test('a reward ends the episode; the same one is the same answer, another replaces it, and its turns are named by their answers', async () => {
  const { id } = await ask('rewarded');
  const reward = (body: object) => send(server, { url: '/v1/preview/episodes/rewarded/reward', body });
  const given = {
    reward: 0.5,
    metrics: { tests: 3, built: true },
    turn_rewards: { [id]: 1 },
    group: 'g',
    status: 'failed',
  };
  const first = await reward(given);
  expect(first.statusCode, first.body).toBe(200);
  const verdict = {
    reward: 0.5,
    metrics: { tests: 3, built: 1 },
    turn_rewards: { [id]: 1 },
    group: 'g',
    outcome: 'failed',
  };
  expect(first.json()).toMatchObject({ status: 'rewarded', ...verdict });
  server.clock.advance(1_000);
  expect((await reward(given)).body).toBe(first.body);
  expect((await reward({ reward: 1 })).json()).toMatchObject({ reward: 1, turn_rewards: {}, outcome: 'completed' });
  const refused = await send(server, { url: '/e/rewarded/v1/chat/completions', body: chat({ model }) });
  expect([refused.statusCode, refused.json<{ detail: string }>().detail]).toEqual([
    409,
    'The episode `rewarded` has ended with a reward: it takes no more calls. Begin another one under another name.',
  ]);
  expect(refused.headers['x-should-retry']).toBe('false'); // the SDKs repeat a 409 otherwise
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
  const long = await begin({ name: 'long', metadata: { seed: 2 ** 53 } });
  expect(long.json()).toMatchObject({ metadata: { seed: '9007199254740992' } });
  const again = async (metadata?: object) =>
    (await begin({ name: 'begun', group: 'g1', metadata })).json<{ id: string; warnings?: string[] }>();
  expect(await again({ seed: 8 })).toMatchObject({
    id,
    warnings: ['metadata was not used: the episode existed already.'],
  });
  for (const same of [undefined, { seed: 7 }]) expect((await again(same)).warnings).toBeUndefined();
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
  expect(await callsOf('begun')).toBe(1);
});

test('episodes are found by reward, by the job that used them, and by any text of theirs', async () => {
  const found = async (query: string): Promise<string[]> => {
    const { body, statusCode } = await send(server, { url: `/v1/preview/episodes?limit=100&${query}` });
    expect(statusCode, body).toBe(200);
    return (JSON.parse(body) as { data: { name: string }[] }).data.map(({ name }) => name);
  };
  for (const [at, word] of ['Wombat', 'quokka'].entries()) {
    await ask(`about-${word}`, { messages: [{ role: 'user', content: `Tell me about a ${word}` }] });
    await send(server, { url: `/v1/preview/episodes/about-${word}/reward`, body: { reward: at - 0.5 } });
  }
  const begun = { model_id: modelId, name: 'noted', metadata: { animal: 'wombat 2' } };
  await send(server, { url: '/v1/preview/episodes', body: begun });
  expect(await found('search=WOMBAT')).toEqual(['noted', 'about-Wombat']);
  expect(await found('search=a%20quokka&order=asc')).toEqual(['about-quokka']);
  expect(await found('search=user')).not.toContain('about-quokka');
  expect(await found('reward_min=-0.5&reward_max=-0.5')).toEqual(['about-Wombat']);
  expect(await found(`model_id=${modelId}&reward_min=0.25&reward_max=0.75&status=rewarded`)).toEqual(['about-quokka']);
  expect(await found('search=wombat&reward_min=-1')).toEqual(['about-Wombat']);
  expect(await found('training_job_id=nobody')).toEqual([]);
  const counted = async (query: string) =>
    (await send(server, { url: `/v1/preview/episodes?limit=1&${query}` })).json<{ counts: unknown }>().counts;
  const none = { open: 0, rewarded: 0, trained: 0, expired: 0 };
  expect(await counted(`model_id=${modelId}&reward_min=-0.5&reward_max=0.5&status=open`)).toEqual({
    ...none,
    rewarded: 2,
  });
  expect(await counted('training_job_id=nobody')).toEqual(none);
  expect(await counted('search=wombat')).toBeNull();
  const wrong = await send(server, { url: '/v1/preview/episodes?reward_min=much' });
  expect([wrong.statusCode, wrong.body]).toEqual([422, expect.stringContaining('reward_min')]);
  const { body } = await send(server, { url: '/v1/preview/episodes/about-quokka/tokens' });
  const { data } = JSON.parse(body) as { data: { choices: { token_ids: number[]; texts: string[] }[] }[] };
  const { token_ids: ids, texts } = data[0]!.choices[0]!;
  const read = await send(server, { url: '/v1/preview/episodes/about-quokka' });
  const { calls } = read.json<{ calls: { choices: { content: string }[] }[] }>();
  expect(texts).toHaveLength(ids.length);
  expect(texts.join('')).toContain(calls[0]!.choices[0]!.content);
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
  const { id: own } = theirs.json<{ id: string }>();
  for (const named of ['private', id]) {
    const groups = { model_id: own, episode_groups: [[named, 'another']] };
    const trained = await send(server, { url: '/v1/preview/training-jobs', headers, body: groups });
    expect([named, trained.statusCode]).toEqual([named, named === id ? 404 : 409]); // 'private' is their own, without a reward
  }
  expect(await callsOf('private')).toBe(1);
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
  ['the name v1', '/e/v1/v1/chat/completions', {}, {}, 400, 'A name in the address must not be "v1"'],
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
  expect([unknown.statusCode, unknown.json<{ detail: string }>().detail]).toEqual([
    404,
    expect.stringContaining('There is no episode `nobody`'),
  ]);
  const slashed = await send(server, { url: '/v1/preview/episodes/a%2Fb/reward', body: { reward: 1 } });
  expect([slashed.statusCode, slashed.json<{ detail: string }>().detail]).toEqual([
    404,
    expect.stringContaining('a name must have 1 to 128 characters'),
  ]);
  for (const body of [
    {},
    { reward: 'much' },
    { reward: null },
    { reward: 1, status: 'open' },
    { reward: 1, group: 'a/b' },
    { reward: 1, metrics: { a: 'b' } },
    { reward: true },
    '{"reward": NaN}',
    '{"reward": 1e999}',
    ...['metrics', 'turn_rewards', 'metadata'].map((field) => `{"reward": 1, "${field}": {"__proto__": 1}}`),
    { reward: 1, metadata: [] },
  ]) {
    const response = await send(server, { url: '/v1/preview/episodes/grouped/reward', body });
    expect(response.statusCode, response.body).toBe(422);
  }
});

test('an episode that is deleted during a call stays deleted', async () => {
  const headers = { 'x-whetstone-episode': 'vanishing' };
  await ask('vanishing');
  const capture = server.storage.episodes.capture.bind(server.storage.episodes);
  const deleting = vi.spyOn(server.storage.episodes, 'capture').mockImplementationOnce(async (...call) => {
    await send(server, { method: 'DELETE', url: '/v1/preview/episodes/vanishing' });
    return capture(...call);
  });
  const late = await send(server, { url: '/v1/chat/completions', body: chat({ model }), headers });
  deleting.mockRestore();
  expect([late.statusCode, late.body]).toEqual([409, expect.stringContaining('was deleted during this call')]);
  expect(late.headers).toMatchObject({ 'retry-after': '1' });
  expect((await send(server, { url: '/v1/preview/episodes/vanishing' })).statusCode).toBe(404);
});

test('an open episode joins a group that is named later; calls that begin it at once agree on the group', async () => {
  const begin = (name: string, group?: string) =>
    send(server, { url: '/v1/preview/episodes', body: { model_id: modelId, name, group } });
  await begin('lonely');
  expect((await begin('lonely', 'found')).json()).toMatchObject({ name: 'lonely', group: 'found' });
  expect((await begin('lonely', 'other')).statusCode).toBe(409);
  await begin('over');
  await send(server, { url: '/v1/preview/episodes/over/reward', body: { reward: 1 } });
  const over = await begin('over', 'late');
  expect([over.statusCode, over.body]).toEqual([409, expect.stringContaining('`over` has ended with a reward')]);
  const calls = ['g0', 'g1', 'g0', 'g1'].map((group) =>
    send(server, { url: `/e/${group}/rushed/v1/chat/completions`, body: chat({ model, max_tokens: 1 }) }),
  );
  const statuses = (await Promise.all(calls)).map(({ statusCode }) => statusCode);
  expect(statuses.toSorted()).toEqual([200, 200, 409, 409]);
  expect(await callsOf('rushed')).toBe(2);
});
