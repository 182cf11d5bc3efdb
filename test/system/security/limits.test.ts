// What keys and entities may use: the 429 of every limit says which one and when to retry, and freed amounts can be used again.
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { rowBytes } from '#domain/artifact';
import type { Caller } from '#domain/caller';
import type { Limits } from '#domain/limits';
import { BASE, chat, containing, QUEUED_JOBS_MAX, shareTestServer, send } from '../../support/api/test-server.ts';

const server = await shareTestServer();

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
  server.clock.advance(2_000); // one second, after which cached values are read again
}

type Headers = Record<string, string>;
const owner = (): Caller => ({ entity, keyId: 'any', scopes: ['read'], limits: {} });
const ask = (headers: Headers, fields = {}) =>
  send(server, { url: '/v1/chat/completions', headers, body: chat(fields) });
const register = async (headers: Headers) =>
  send(server, {
    url: '/v1/preview/models',
    headers,
    body: { project: 'p', name: `m-${Math.random()}`, base_model: BASE },
  });
/** One trajectory with so many characters. */
const saying = (characters: number) => [
  { trajectories: [{ messages_and_choices: [{ role: 'user', content: 'a'.repeat(characters) }], reward: 1 }] },
];
const submit = (headers: Headers, model_id: string, characters?: number) =>
  send(server, {
    url: '/v1/preview/training-jobs',
    headers,
    body: { model_id, trajectory_groups: characters === undefined ? [] : saying(characters) },
  });

function expectRefusal(response: Awaited<ReturnType<typeof send>>, what: RegExp): number {
  expect(response.statusCode, response.body).toBe(429);
  expect(response.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  expect(response.json<{ detail: string }>().detail).toMatch(what);
  const seconds = Number(response.headers['retry-after']);
  expect(seconds).toBeGreaterThan(0);
  return seconds;
}

describe('a key that makes another', () => {
  const make = (headers: Headers, fields: object) =>
    send(server, { url: '/v1/keys', headers, body: { name: 'new', ...fields } });
  const adminWith = async (limits: Limits) => {
    const { secret } = await server.apiKeys.create({ entity, name: 'admin', scopes: ['admin'], limits });
    return { authorization: `Bearer ${secret}` };
  };

  test('has no limits, because many limited keys together would have none', async () => {
    const admin = await adminWith({ tokensPerDay: 100 });
    for (const limits of [undefined, { tokens_per_day: 7 }, { tokens_per_day: 101 }]) {
      const refused = await make(admin, { limits });
      expect(refused.statusCode, refused.body).toBe(403);
      expect(refused.json()).toMatchObject({ error: { code: 'beyond_own_limits' } });
    }
  });

  test('grants only scopes that it has', async () => {
    const maker = { scopes: ['chat'] as const, limits: {} };
    await expect(server.apiKeys.create({ entity, name: 'n', scopes: ['chat', 'read'], maker })).rejects.toMatchObject({
      code: 'missing_scope',
    });
  });

  test('without limits grants any limits', async () => {
    expect((await make(await adminWith({}), {})).json()).toMatchObject({ limits: {} });
    expect((await make(await adminWith({}), { limits: { stored_bytes: 9 } })).json()).toMatchObject({
      limits: { stored_bytes: 9 },
    });
  });
});

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

  test('of one key do not block other keys', async () => {
    const [limited, free] = [await keyWith({ requestsInFlight: 0 }), await keyWith({})];
    expectRefusal(await ask(limited), /0 requests in flight/);
    expect((await ask(free)).statusCode).toBe(200);
  });
});

describe('tokens per day', () => {
  test('are refused once they are used up, until midnight UTC', async () => {
    const headers = await keyWith({ tokensPerDay: 1 });
    expect((await ask(headers)).statusCode).toBe(200);
    await send(server, { url: '/v1/usage', headers }); // writes the accounts
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

test('queued jobs are limited by key and by entity, and cancelling one makes room', async () => {
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

/** The adapter of an untrained model. */
async function adapterBytes(): Promise<number> {
  const other = `team-${++teams}`;
  const { secret } = await server.apiKeys.create({ entity: other, name: 'test' });
  await register({ authorization: `Bearer ${secret}` });
  return server.storage.accounts.storedBytes({ entity: other, keyId: null });
}

test('stored bytes are limited: files, adapters and jobs count, and deleted ones do not', async () => {
  const rows = rowBytes({ metadata: {}, files: [{ path: 'a.txt', sizeBytes: 0, sha256: '' }] }, 0);
  const adapter = await adapterBytes();
  const max = 500 + adapter + 2 * rows;
  const headers = await keyWith({ storedBytes: max });
  const put = (name: string, size: number) =>
    send(server, { method: 'PUT', url: `/v1/artifacts/~/p/${name}/a.txt`, headers, body: name.padEnd(size, '.') });
  expect((await put('a', adapter)).statusCode).toBe(201);
  expectRefusal(await put('b', 501), /over the 500 bytes/);
  expect((await put('c', 500)).statusCode).toBe(201);
  expectRefusal(await put('d', 1), new RegExp(`stores ${max} bytes, over its limit of ${max}`));
  expectRefusal(await register(headers), /stores \d+ bytes/);
  expect(await server.blobs.list('artifacts')).toHaveLength(2);

  expect((await send(server, { method: 'DELETE', url: '/v1/artifacts/~/p/a', headers })).statusCode).toBe(200);
  server.clock.advance(25 * 60 * 60 * 1000);
  await server.services.artifacts.cleanUp(); // the bytes of deleted versions stay for an hour
  const made = await register(headers);
  expect(made.statusCode, made.body).toBe(200);
  const { id: model } = made.json<{ id: string }>();
  expectRefusal(await register(headers), new RegExp(`over the ${rows} bytes`));
  expectRefusal(await submit(headers, model, 1_000), /over the \d+ bytes/);
  const account = { entity, keyId: null };
  const before = await server.storage.accounts.storedBytes(account);
  await send(server, { method: 'DELETE', url: `/v1/preview/models/${model}`, headers });
  expect(await server.storage.accounts.storedBytes(account)).toBeLessThan(before);
  expect(await server.storage.accounts.storedBytes(account)).toBe(500 + rows);
});

describe('concurrent uploads', () => {
  const ROWS = rowBytes({ metadata: {}, files: [{ path: 'a.bin', sizeBytes: 0, sha256: '' }] }, 0);
  /** Each of one letter, so that no two are equal. */
  const body = (i: number, size: number) => Buffer.alloc(size, 65 + i);

  /** Their results, in the order in which they started. */
  async function uploadAll(headers: Headers, count: number, size: number, name = (i: number) => `f${i}`) {
    const uploads = Array.from({ length: count }, async (_, i) => {
      const url = `/v1/artifacts/~/p/${name(i)}/a.bin`;
      const answer = await server.app.inject({ method: 'PUT', url, headers, payload: body(i, size) });
      return answer.statusCode;
    });
    return Promise.all(uploads);
  }
  const stored = () => server.storage.accounts.storedBytes({ entity, keyId: null });

  test('do not pass a limit together: their bytes are reserved before any is read', async () => {
    const headers = await keyWith({ storedBytes: 100_000 });
    const before = (await server.blobs.list('artifacts')).length;
    const put = vi.spyOn(server.blobs, 'put');
    const statuses = await uploadAll(headers, 40, 90_000);
    expect(put).toHaveBeenCalledTimes(1);
    put.mockRestore();
    expect(statuses.filter((status) => status === 429)).toHaveLength(39);
    expect(await server.blobs.list('artifacts')).toHaveLength(before + 1);
    expect(await stored()).toBe(90_000 + ROWS);
  });

  test('are all accepted if they fit, to the byte, also into one entity by several keys', async () => {
    const each = 1_000 + ROWS;
    const headers = await keyWith({ storedBytes: 10 * each });
    expect((await uploadAll(headers, 10, 1_000)).every((status) => status === 201)).toBe(true);
    expect(await stored()).toBe(10 * each);
    expect(await uploadAll(headers, 1, 1_000, () => 'one-more')).toEqual([429]);

    await limitEntity({ storedBytes: 14 * each });
    const others = await Promise.all([keyWith({}), keyWith({})]);
    const statuses = await Promise.all(others.map((key, k) => uploadAll(key, 4, 1_001 + k, (i) => `k${k}-${i}`)));
    expect(statuses.flat().filter((status) => status === 201)).toHaveLength(3); // four would fit if they were one byte smaller
    expect(await stored()).toBeLessThanOrEqual(14 * each);
  });

  test('release what they reserved when they end: refused, cut off, or with bytes that are already stored', async () => {
    const headers = await keyWith({ storedBytes: 100_000 });
    const url = '/v1/artifacts/~/p/a:draft/a.bin';
    const put = (query: string, payload: Buffer) =>
      server.app.inject({ method: 'PUT', url: `${url}${query}`, headers, payload });
    for (let i = 0; i < 3; i++) expect((await put(`?sha256=${'0'.repeat(64)}`, body(0, 90_000))).statusCode).toBe(422);
    for (let i = 0; i < 3; i++) expect((await put('', body(1, 60_000))).statusCode).toBe(i === 0 ? 200 : 429);
    expect((await put('', body(1, 40_000))).statusCode).toBe(200);
    expect(await stored()).toBe(100_000);
  });
});

describe('concurrent requests do not pass a limit together:', () => {
  const stored = () => server.storage.accounts.storedBytes({ entity, keyId: null });
  const statusesOf = async (ask: () => ReturnType<typeof send>) =>
    (await Promise.all(Array.from({ length: 40 }, ask))).map(({ statusCode }) => statusCode).sort();
  /** No body is written before every request was refused or is writing. */
  function askTogether(ask: () => ReturnType<typeof send>) {
    let [writing, refused] = [0, 0];
    const put = server.blobs.put.bind(server.blobs);
    const slow = vi.spyOn(server.blobs, 'put').mockImplementation(async (name, content) => {
      writing++;
      await vi.waitFor(() => expect(writing + refused).toBe(40), { timeout: 30_000 });
      return put(name, content);
    });
    const counted = async () => {
      const answer = await ask();
      if (answer.statusCode === 429) refused++;
      return answer;
    };
    return statusesOf(counted).finally(() => slow.mockRestore());
  }
  const ONE_OF_40 = [200, ...Array.from({ length: 39 }, () => 429)];

  test('models', async () => {
    const max = Math.floor(1.5 * (await adapterBytes()));
    const headers = await keyWith({ storedBytes: max });
    const before = (await server.blobs.list('checkpoints')).length;
    expect(await statusesOf(() => register(headers))).toEqual(ONE_OF_40);
    expect(await stored()).toBeLessThanOrEqual(max);
    const [of] = (await server.services.models.list(owner(), {}, { after: null, limit: 10 })).rows;
    const files = await server.blobs.list(`checkpoints/${of!.id}`);
    expect((await server.blobs.list('checkpoints')).length).toBe(before + files.length);
  });

  test.each([
    ['a key', async () => keyWith({ queuedJobs: 1 })],
    ['an entity', async () => (await limitEntity({ queuedJobs: 1 }), keyWith({}))],
  ])('jobs in the queue of %s', async (_, make) => {
    const headers = await make();
    const { id: model } = (await register(headers)).json<{ id: string }>();
    const before = (await server.blobs.list('jobs')).length;
    expect(await askTogether(() => submit(headers, model))).toEqual(ONE_OF_40);
    expect(await server.storage.jobs.count('queued', { entity, keyId: null })).toBe(1);
    expect(await server.blobs.list('jobs')).toHaveLength(before + 1);
    await server.services.models.delete(owner(), model);
  });

  test('jobs in the queue of the server', async () => {
    const headers = await keyWith({});
    const { id: model } = (await register(headers)).json<{ id: string }>();
    const queued = await server.storage.jobs.count('queued', null);
    const statuses = await askTogether(() => submit(headers, model));
    expect(statuses.filter((status) => status === 200)).toHaveLength(QUEUED_JOBS_MAX - queued);
    expect(await server.storage.jobs.count('queued', null)).toBe(QUEUED_JOBS_MAX);
    await server.services.models.delete(owner(), model);
  });

  test.each([
    ['jobs', 'jobs', (headers: Headers, model: string) => submit(headers, model, 200_000)],
    [
      'logged trajectories',
      'logs',
      (headers: Headers, model: string) =>
        send(server, {
          url: `/v1/preview/models/${model}/log`,
          headers,
          body: { split: 'val', trajectory_groups: saying(200_000) },
        }),
    ],
  ] as const)('the bytes of %s', async (_, blobs, ask) => {
    const { id: model } = (await register(await keyWith({}))).json<{ id: string }>();
    const max = (await stored()) + 300_000;
    await limitEntity({ storedBytes: max });
    const headers = await keyWith({});
    const before = (await server.blobs.list(blobs)).length;
    expect(await statusesOf(() => ask(headers, model))).toEqual(ONE_OF_40);
    expect(await server.blobs.list(blobs)).toHaveLength(before + 1);
    expect(await stored()).toBeLessThanOrEqual(max);
    expect(await stored()).toBeGreaterThan(max - 100_000);
    await server.services.models.delete(owner(), model);
  });
});

test('the rows of a manifest are charged, and a manifest over the remaining limit makes nothing', async () => {
  const headers = await keyWith({ storedBytes: 100_000 });
  const put = (url: string, payload: object | string) => send(server, { method: 'PUT', url, headers, body: payload });
  expect((await put('/v1/artifacts/~/p/many:draft/x', 'x')).statusCode).toBe(200);
  const sha256 = createHash('sha256').update('x').digest('hex');
  const files = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ path: `${'d/'.repeat(100)}${i}`, sha256 }));
  expectRefusal(await put('/v1/artifacts/~/p/many', { files: files(200) }), /The manifest takes 14\d{4} bytes/);
  expect((await send(server, { url: '/v1/artifacts/~/p/many', headers })).statusCode).toBe(404);
  expect((await put('/v1/artifacts/~/p/many', { files: files(100) })).statusCode).toBe(201);
  expectRefusal(await put('/v1/artifacts/~/p/many', { files: files(99) }), /manifest/);
  expect((await put('/v1/artifacts/~/p/many', { files: files(100) })).statusCode).toBe(200); // already stored
});

test('points of runs and files of artifacts in the W&B protocol are charged once, and those over the limit leave nothing', async () => {
  const headers = await keyWith({ storedBytes: 20_000 });
  const used = () => server.storage.accounts.storedBytes({ entity, keyId: null });
  const gql = async <T>(query: string, variables: object) => {
    const answer = await send(server, { url: '/graphql', headers, body: { query, variables } });
    expect(answer.statusCode, answer.body).toBe(200);
    return answer.json<{ data: T }>().data;
  };
  await gql(
    `mutation($of: String) { upsertBucket(input: { name: "r", modelName: "p", entityName: $of }) { inserted } }`,
    { of: entity },
  );
  const points = (offset: number, count: number) => {
    const content = Array.from({ length: count }, () => JSON.stringify({ text: 'a'.repeat(3_000) }));
    const body = { files: { 'wandb-history.jsonl': { offset, content } } };
    return send(server, { url: `/files/${entity}/p/r/file_stream`, headers, body });
  };
  expect((await points(0, 2)).statusCode).toBe(200);
  const before = await used();
  expect(before).toBeGreaterThan(6_000);
  for (let i = 0; i < 3; i++) expect((await points(0, 2)).statusCode).toBe(200); // a repeat
  expect(await used()).toBe(before);
  const refused = await points(2, 10);
  expect([refused.statusCode, refused.body]).toEqual([429, containing('history of this run')]);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  const runs = await send(server, { url: '/v1/runs?project=p', headers });
  expect(runs.json()).toMatchObject({ data: [{ name: 'r', history_lines: 2 }] });

  interface Created {
    createArtifact: { artifact: { id: string } };
  }
  interface Links {
    createArtifactFiles: { files: { edges: [{ node: { uploadUrl: string } }] } };
  }
  const input = {
    entityName: entity,
    projectName: 'p',
    artifactTypeName: 'dataset',
    artifactCollectionName: 'data',
    digest: '',
    clientID: 'c',
  };
  const { id } = (
    await gql<Created>('mutation($input: CreateArtifactInput!) { createArtifact(input: $input) { artifact { id } } }', {
      input,
    })
  ).createArtifact.artifact;
  const drafted = await used();
  const file = 'b'.repeat(20_000);
  const files = [{ artifactID: id, name: 'b', md5: createHash('md5').update(file).digest('base64') }];
  const LINKS =
    'mutation($files: [CreateArtifactFileSpecInput!]!) { createArtifactFiles(input: { artifactFiles: $files }) { files { edges { node { uploadUrl } } } } }';
  const { edges } = (await gql<Links>(LINKS, { files })).createArtifactFiles.files;
  const { pathname, search } = new URL(edges[0].node.uploadUrl);
  const put = await send(server, {
    method: 'PUT',
    url: `${pathname}${search}`,
    headers: { authorization: '' },
    body: file,
  });
  expect(put.statusCode, put.body).toBe(429);
  expect(await used()).toBe(drafted);
});
