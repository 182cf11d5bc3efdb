// What keys and entities may use: every limit is a 429 that says which and when, and what was freed can be used again.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Limits } from '#domain/limits';
import { BASE, chat, openTestServer, send, type TestServer } from '../api/test-server.ts';

let server: TestServer;
beforeAll(async () => void (server = await openTestServer()));
afterAll(() => server.close());

/** A team of its own for each test. */
let entity: string;
let teams = 0;
beforeEach(() => void (entity = `team-${++teams}`));

async function keyWith(limits: Limits): Promise<{ authorization: string }> {
  const { secret } = await server.apiKeys.create({ entity, name: 'test', limits });
  return { authorization: `Bearer ${secret}` };
}

async function limitEntity(limits: Limits): Promise<void> {
  await server.storage.accounts.setLimits(entity, limits);
  server.clock.advance(2_000); // a second, and what was read is read again
}

type Headers = Record<string, string>;
const ask = (headers: Headers, fields = {}) =>
  send(server, { url: '/v1/chat/completions', headers, body: chat(fields) });
const register = async (headers: Headers) =>
  send(server, {
    url: '/v1/preview/models',
    headers,
    body: { project: 'p', name: `m-${Math.random()}`, base_model: BASE },
  });
const submit = (headers: Headers, model_id: string) =>
  send(server, { url: '/v1/preview/training-jobs', headers, body: { model_id, trajectory_groups: [] } });

function expectRefusal(response: Awaited<ReturnType<typeof send>>, what: RegExp): number {
  expect(response.statusCode, response.body).toBe(429);
  expect(response.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  expect(response.json<{ detail: string }>().detail).toMatch(what);
  const seconds = Number(response.headers['retry-after']);
  expect(seconds).toBeGreaterThan(0);
  return seconds;
}

describe('requests in flight', () => {
  test.each([
    ['a key', async () => keyWith({ requestsInFlight: 2 }), /this key has 2/i],
    ['an entity', async () => (await limitEntity({ requestsInFlight: 2 }), keyWith({})), /team-\d+ has 2/i],
  ])('of %s are limited, and are free again when they end', async (_, make, what) => {
    const headers = await make();
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => ask(headers)));
    const refused = answers.filter(({ statusCode }) => statusCode !== 200);
    expect(refused).toHaveLength(3);
    expectRefusal(refused[0]!, what);
    expect((await ask(headers)).statusCode).toBe(200);
  });

  test('of one key leave the others alone', async () => {
    const [held, free] = [await keyWith({ requestsInFlight: 0 }), await keyWith({})];
    expectRefusal(await ask(held), /0 requests in flight/);
    expect((await ask(free)).statusCode).toBe(200);
  });
});

describe('tokens per day', () => {
  test('are refused when they are used up, until midnight UTC', async () => {
    const headers = await keyWith({ tokensPerDay: 1 });
    expect((await ask(headers)).statusCode).toBe(200);
    await send(server, { url: '/v1/usage', headers }); // the accounts are written
    const seconds = expectRefusal(await ask(headers), /tokens today, over its limit of 1/);
    server.clock.advance((seconds - 1) * 1000);
    expectRefusal(await ask(headers), /tokens today/);
    server.clock.advance(1_000);
    expect((await ask(headers)).statusCode).toBe(200);
  });

  test('count all keys of an entity together', async () => {
    await limitEntity({ tokensPerDay: 1 });
    const [one, other] = [await keyWith({}), await keyWith({})];
    expect((await ask(one)).statusCode).toBe(200);
    await send(server, { url: '/v1/usage', headers: one });
    expectRefusal(await ask(other), /team-\d+ has used/i);
  });
});

test('queued jobs are limited by key and by entity, and a cancelled one makes room', async () => {
  const [one, other] = [await keyWith({ queuedJobs: 1 }), await keyWith({})];
  const { id: model } = (await register(one)).json<{ id: string }>();
  const first = await submit(one, model);
  expect(first.statusCode, first.body).toBe(200);
  expectRefusal(await submit(one, model), /this key has 1 training jobs/i);
  expect((await submit(other, model)).statusCode).toBe(200);
  await limitEntity({ queuedJobs: 2 });
  expectRefusal(await submit(other, model), /team-\d+ has 2 training jobs/i);
  const { id } = first.json<{ id: string }>();
  const cancelled = await send(server, { method: 'POST', url: `/v1/preview/training-jobs/${id}/cancel`, headers: one });
  expect(cancelled.statusCode).toBe(200);
  expect((await submit(one, model)).statusCode).toBe(200);
});

test('stored bytes are limited: files, adapters and jobs count, and what is deleted does not', async () => {
  const headers = await keyWith({ storedBytes: 2_000 });
  const put = (name: string, size: number) =>
    send(server, { method: 'PUT', url: `/v1/artifacts/~/p/${name}/a.txt`, headers, body: name.padEnd(size, '.') });
  expect((await put('a', 1_500)).statusCode).toBe(201);
  expectRefusal(await put('b', 501), /over the 500 bytes/);
  expect((await put('c', 500)).statusCode).toBe(201);
  expectRefusal(await put('d', 1), /stores 2000 bytes, over its limit of 2000/);
  expectRefusal(await register(headers), /stores 2000 bytes/);
  expect(await server.blobs.list('artifacts')).toHaveLength(2);

  expect((await send(server, { method: 'DELETE', url: '/v1/artifacts/~/p/a', headers })).statusCode).toBe(200);
  server.clock.advance(25 * 60 * 60 * 1000);
  await server.services.artifacts.cleanUp(); // the bytes of deleted versions stay for an hour
  const made = await register(headers);
  expect(made.statusCode, made.body).toBe(200);
  const { id: model } = made.json<{ id: string }>();
  expectRefusal(await submit(headers, model), /over its limit of 2000/); // its adapter is larger than that
  const account = { entity, keyId: null };
  const before = await server.storage.accounts.storedBytes(account);
  await send(server, { method: 'DELETE', url: `/v1/preview/models/${model}`, headers });
  expect(await server.storage.accounts.storedBytes(account)).toBeLessThan(before);
  expect(await server.storage.accounts.storedBytes(account)).toBe(500);
});
