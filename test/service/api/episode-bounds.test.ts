// What bounds the episodes of an entity: calls, open episodes, tokens, stored bytes, and age. Each refusal is a sentence.
import { expect, test } from 'vitest';
import { register } from '../../support/api/registered-model.ts';
import { chat, openTestServer, send } from '../../support/api/test-server.ts';

const model = 'p/agent';

test('an episode with as many calls as it may have refuses the next one before it is answered', async () => {
  const bounded = await openTestServer();
  await register(bounded, 'agent');
  const call = () => send(bounded, { url: '/e/long/v1/chat/completions', body: chat({ model, max_tokens: 1 }) });
  for (let calls = 0; calls < 40; calls++) expect((await call()).statusCode).toBe(200);
  const refused = await call();
  await bounded.close();
  expect([refused.statusCode, refused.json<{ detail: string }>().detail]).toEqual([
    409,
    expect.stringContaining('has 40 calls, which is the limit'),
  ]);
});

test('more open episodes, or a longer prompt, than there may be are refused before anything is generated', async () => {
  const bounded = await openTestServer({ episodeBounds: { openMax: 1, callsMax: 9, tokensMax: 60 } });
  await register(bounded, 'agent');
  const call = (episode: string, fields: object = {}) =>
    send(bounded, { url: `/e/${episode}/v1/chat/completions`, body: chat({ model, max_tokens: 1, ...fields }) });
  const generated = async () => {
    const { data } = (await send(bounded, { url: '/v1/usage' })).json<{ data: { completion_tokens: number }[] }>();
    return data.reduce((sum, { completion_tokens: tokens }) => sum + tokens, 0);
  };
  expect((await call('one')).statusCode).toBe(200);
  const before = await generated();
  for (const stream of [true, false]) {
    const refused = await call('two', { stream });
    expect([refused.statusCode, refused.headers['retry-after'], refused.body]).toEqual([
      429,
      '10',
      expect.stringContaining('The limit of 1 open episode is reached'),
    ]);
  }
  const messages = [{ role: 'user', content: 'word '.repeat(90) }];
  const long = await call('one', { messages, stream: true });
  expect([long.statusCode, long.body]).toEqual([409, expect.stringContaining('would have more than 60 tokens')]);
  expect(await generated()).toBe(before);
  await bounded.close();
});

test('episodes without activity expire: told when they are rewarded or called again', async () => {
  const aging = await openTestServer();
  await register(aging, 'agent');
  const call = () => send(aging, { url: '/e/old/v1/chat/completions', body: chat({ model, max_tokens: 1 }) });
  await call();
  const kept = (await send(aging, { url: '/e/kept/v1/chat/completions', body: chat({ model, max_tokens: 1 }) })).json<{
    id: string;
  }>();
  const given = { reward: 1, turn_rewards: { [kept.id]: 0.5 } };
  const reward = (body: object) => send(aging, { url: '/v1/preview/episodes/kept/reward', body });
  expect((await reward(given)).statusCode).toBe(200);
  aging.clock.advance(10_000);
  await aging.services.episodes.expire(9_000);
  const [repeated, another] = [await reward(given), await reward({ ...given, reward: 2 })];
  const read = await send(aging, { url: '/v1/preview/episodes/old' });
  expect(read.json()).toMatchObject({ status: 'expired', calls: [], call_count: 1, stored_bytes: 0 });
  const rewarded = await send(aging, { url: '/v1/preview/episodes/old/reward', body: { reward: 1 } });
  const called = await call();
  aging.clock.advance(10_000);
  await aging.services.episodes.expire(9_000);
  const gone = await send(aging, { url: '/v1/preview/episodes/old' });
  await aging.close();
  expect([rewarded.statusCode, rewarded.json<{ detail: string }>().detail]).toEqual([
    409,
    expect.stringContaining('--episode-days'),
  ]);
  expect([called.statusCode, called.json<{ detail: string }>().detail]).toEqual([
    409,
    expect.stringContaining('has expired'),
  ]);
  expect(gone.statusCode).toBe(404);
  expect([repeated.statusCode, repeated.json()]).toMatchObject([200, { status: 'expired', reward: 1 }]);
  expect([another.statusCode, another.body]).toEqual([409, expect.stringContaining('has expired')]);
});

test('what an entity may store bounds its episodes too', async () => {
  const poor = await openTestServer();
  await register(poor, 'agent');
  const used = await poor.storage.accounts.storedBytes({ entity: 'default', keyId: null });
  await poor.storage.accounts.setLimits('default', { storedBytes: used + 10 });
  poor.clock.advance(5_000); // a server may remember limits for a second
  const refused = await send(poor, { url: '/e/big/v1/chat/completions', body: chat({ model }) });
  await poor.close();
  expect([refused.statusCode, refused.json<{ detail: string }>().detail]).toEqual([
    429,
    expect.stringContaining('stored bytes'),
  ]);
});
