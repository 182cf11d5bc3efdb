// The artifact store over HTTP: what can be uploaded, what can be read, and what stays hidden.
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  asOwner,
  BASE,
  containing,
  FILE_BYTES_MAX,
  openTestServer,
  send,
  type TestServer,
} from '../../support/api/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await openTestServer();
  await server.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => server.close());

const ROOT = '/v1/artifacts/default/p';
const hashOf = (content: string) => createHash('sha256').update(content).digest('hex');
/** As curl -T sends it: no content type. */
const put = (url: string, content: string) => {
  const payload = content === '' ? {} : { payload: Buffer.from(content) };
  return server.app.inject({ method: 'PUT', url, headers: asOwner, ...payload });
};
const read = async (url: string) => {
  const response = await send(server, { url });
  return response.statusCode === 200 ? response.json<Record<string, unknown>>() : response.statusCode;
};
const draft = async (name: string, path: string, content: string) => {
  expect((await put(`${ROOT}/${name}:draft/${path}`, content)).statusCode).toBe(200);
  return { path, sha256: hashOf(content) };
};

describe('a file', () => {
  test('that is uploaded under a name becomes a version of it, and comes back unchanged', async () => {
    const response = await put(`${ROOT}/single/some/train.jsonl?alias=best`, '{"a":1}\n');
    expect(response.statusCode, response.body).toBe(201);
    expect(response.json()).toMatchObject({
      version: 'v0',
      type: 'dataset',
      aliases: ['best'],
      uri: 'wandb-artifact:///default/p/single:v0',
      size_bytes: 8,
      files: [{ path: 'some/train.jsonl', size_bytes: 8, sha256: hashOf('{"a":1}\n') }],
    });
    const file = await send(server, { url: `${ROOT}/single:best/some/train.jsonl` });
    expect(file.body).toBe('{"a":1}\n');
    expect(file.headers).toMatchObject({ 'content-length': '8', etag: `"${hashOf('{"a":1}\n')}"` });
    expect((await put(`${ROOT}/single/some/train.jsonl`, '{"a":1}\n')).statusCode).toBe(200); // nothing new
    expect((await put(`${ROOT}/single/some/train.jsonl`, '')).json()).toMatchObject({ version: 'v1', size_bytes: 0 });
    expect(await read(`${ROOT}/single`)).toMatchObject({ version: 'v1' });
    expect(await read(`${ROOT}/single:v0`)).toMatchObject({ version: 'v0', aliases: ['best'] });
  });

  test('whose bytes do not match its checksum is refused, and nothing is kept', async () => {
    const blobs = (await server.blobs.list('artifacts')).length;
    const response = await put(`${ROOT}/wrong/a.txt?sha256=${hashOf('other')}`, 'content');
    expect(response.statusCode).toBe(422);
    expect(response.json()).toMatchObject({ error: { code: 'checksum_mismatch' } });
    expect(await read(`${ROOT}/wrong`)).toBe(404);
    expect(await server.blobs.list('artifacts')).toHaveLength(blobs);
  });

  test('over the limit is refused while it is being uploaded', async () => {
    const response = await put(`${ROOT}/large/a.bin`, 'x'.repeat(FILE_BYTES_MAX + 1));
    expect(response.statusCode).toBe(413);
    expect(await read(`${ROOT}/large`)).toBe(404);
  });

  test.each([
    ['../../etc/passwd'],
    ['/etc/passwd'],
    ['a/../b'],
    ['a//b'],
    ['a\\b'],
    ['a\0b'],
    ['c:/x'],
    ['a/.'],
    ['dots.'],
    ['x'.repeat(513)],
  ])('cannot be called %j', async (path) => {
    const response = await put(`${ROOT}/paths:draft/${encodeURIComponent(path)}`, 'content');
    expect([404, 414, 422]).toContain(response.statusCode);
    const body = { files: [{ path, sha256: hashOf('content') }] };
    expect((await send(server, { method: 'PUT', url: `${ROOT}/paths`, body })).statusCode).toBe(422);
  });

  test('whose upload is cut at any point leaves no version and no bytes', async () => {
    const { port } = server.app.server.address() as AddressInfo;
    const blobs = (await server.blobs.list('artifacts')).length;
    for (const sent of [0, 1, 70_000, 199_999]) {
      const upload = request({
        port,
        method: 'PUT',
        path: `${ROOT}/cut/a.bin`,
        headers: { ...asOwner, 'content-length': 200_000 },
      });
      upload.on('error', () => {}); // this test aborts it
      upload.flushHeaders();
      if (sent > 0) await new Promise((resolve) => upload.write(Buffer.alloc(sent), resolve));
      const ended = new Promise((resolve) => upload.once('close', resolve));
      setTimeout(() => upload.destroy(), 30);
      await ended;
    }
    const nothingIsLeft = async () => expect(await server.blobs.list('artifacts')).toHaveLength(blobs);
    await vi.waitFor(nothingIsLeft, { timeout: 30_000 });
    expect(await read(`${ROOT}/cut`)).toBe(404);
  });
});

test('a file may name the version it is to become, or an alias', async () => {
  expect((await put(`${ROOT}/numbered:v0/a`, '0')).json()).toMatchObject({ version: 'v0', aliases: [] });
  expect((await put(`${ROOT}/numbered:v1/a`, '1')).json()).toMatchObject({ version: 'v1' });
  expect((await put(`${ROOT}/numbered:latest/a`, '2')).json()).toMatchObject({ version: 'v2', aliases: [] });
  expect((await put(`${ROOT}/numbered:best/a`, '3')).json()).toMatchObject({ version: 'v3', aliases: ['best'] });
});

describe('several files', () => {
  test('become one version by a manifest, and the answer names those that are missing', async () => {
    const [a, b] = [await draft('many', 'a.txt', 'A'), { path: 'deep/b.txt', sha256: hashOf('B') }];
    const body = { type: 'dataset', metadata: { rows: 2 }, aliases: ['best'], files: [b, a] };
    const commit = () => send(server, { method: 'PUT', url: `${ROOT}/many`, body });
    const first = await commit();
    expect([first.statusCode, first.json()]).toEqual([202, { missing: [b.sha256] }]);
    expect(await read(`${ROOT}/many`)).toBe(404);
    await draft('many', 'anything', 'B'); // only the content counts
    const second = await commit();
    expect(second.statusCode, second.body).toBe(201);
    expect(second.json()).toMatchObject({ version: 'v0', metadata: { rows: 2 }, size_bytes: 2 });
    expect((await commit()).statusCode).toBe(200);
    expect((await send(server, { url: `${ROOT}/many:latest/deep/b.txt` })).body).toBe('B');
    expect(await read(`${ROOT}/many:v0/none.txt`)).toBe(404);
  });

  test('have metadata whose integers beyond 2^53 are kept as text', async () => {
    const body = JSON.stringify({ metadata: { id: 'LONG' }, files: [await draft('long', 'a', 'A')] });
    const url = `${ROOT}/long`;
    const response = await send(server, { method: 'PUT', url, body: body.replace('"LONG"', '12345678901234567890') });
    expect(response.statusCode, response.body).toBe(201);
    expect(await read(url)).toMatchObject({ metadata: { id: '12345678901234567890' } });
  });

  test('have manifests whose fields that nothing reads are named', async () => {
    const body = { alias: 'best', files: [await draft('described', 'a', 'A')] };
    const made = await send(server, { method: 'PUT', url: `${ROOT}/described`, body });
    expect(made.json()).toMatchObject({ aliases: [], warnings: [containing('alias is not a field')] });
    const aliased = { method: 'PUT' as const, url: `${ROOT}/described:v0`, body: { aliases: ['best'], add: true } };
    expect((await send(server, aliased)).json()).toMatchObject({ warnings: [containing('add is not a field')] });
  });

  test('with equal bytes are stored once', async () => {
    const before = (await server.blobs.list('artifacts')).length;
    const files = [await draft('twins', '1', 'same'), await draft('twins', '2', 'same')];
    expect((await send(server, { method: 'PUT', url: `${ROOT}/twins`, body: { files } })).statusCode).toBe(201);
    expect((await put(`${ROOT}/triplet/3`, 'same')).statusCode).toBe(201);
    expect(await server.blobs.list('artifacts')).toHaveLength(before + 1);
  });

  test.each([
    ['no files', { files: [] }],
    [
      'a path twice',
      {
        files: [
          { path: 'a', sha256: hashOf('A') },
          { path: 'a', sha256: hashOf('B') },
        ],
      },
    ],
    ['a hash that is none', { files: [{ path: 'a', sha256: 'xyz' }] }],
    ['an alias that is a version', { aliases: ['v7'], files: [{ path: 'a', sha256: hashOf('A') }] }],
    ['too much metadata', { metadata: { x: 'x'.repeat(40_000) }, files: [{ path: 'a', sha256: hashOf('A') }] }],
  ])('cannot have %s', async (_, body) => {
    const response = await send(server, { method: 'PUT', url: `${ROOT}/bad`, body });
    expect(response.statusCode, response.body).toBe(422);
  });
});

describe('a version', () => {
  test('never changes; aliases move', async () => {
    await put(`${ROOT}/fixed/a`, '0');
    await put(`${ROOT}/fixed/a`, '1');
    expect((await put(`${ROOT}/fixed:v0/b`, 'more')).statusCode).toBe(409);
    expect((await put(`${ROOT}/fixed:v7/b`, 'more')).json()).toMatchObject({ detail: containing('is v2') });
    const setAliases = (version: string) =>
      send(server, { method: 'PUT', url: `${ROOT}/fixed:${version}`, body: { aliases: ['prod'] } });
    expect((await setAliases('v0')).json()).toMatchObject({ version: 'v0', aliases: ['prod'] });
    expect((await setAliases('v1')).statusCode).toBe(200);
    expect(await read(`${ROOT}/fixed:prod`)).toMatchObject({ version: 'v1' });
    expect(await read(`${ROOT}/fixed:v0`)).toMatchObject({ aliases: [] });
    expect((await setAliases('v9')).statusCode).toBe(404);
  });

  test('is deleted once, with the bytes that no other version has, an hour later', async () => {
    await put(`${ROOT}/gone/a`, 'shared by both');
    await put(`${ROOT}/gone/b`, 'shared by both');
    await put(`${ROOT}/gone/c`, 'its own');
    const remove = (name: string) => send(server, { method: 'DELETE', url: `${ROOT}/${name}` });
    expect((await remove('gone:v2')).json()).toEqual({ deleted_count: 1 });
    expect((await remove('gone:v2')).statusCode).toBe(404);
    expect((await send(server, { url: `${ROOT}/gone:v0/a` })).body).toBe('shared by both');
    server.clock.advance(3_600_001);
    const blobs = new Set((await server.blobs.list('artifacts')).map(({ name }) => name));
    const contents = ['shared by both', 'its own'].map((text) =>
      server.storage.artifacts.findContent('default', hashOf(text)),
    );
    expect((await remove('gone')).json()).toEqual({ deleted_count: 2 });
    const [shared, own] = (await Promise.all(contents)).map((content) => content!.blob);
    expect([...blobs]).toEqual(expect.arrayContaining([shared, own]));
    expect(await server.blobs.find(shared!)).toBeNull();
    expect(await server.blobs.find(own!)).not.toBeNull(); // its bytes were too recent when the version was deleted
    server.clock.advance(86_400_000);
    await server.services.artifacts.cleanUp();
    expect(await server.blobs.find(own!)).toBeNull();
    expect(await read(`${ROOT}/gone`)).toBe(404);
  });

  test('is listed with others by project, name and type, in pages, sorted as a whole', async () => {
    for (const content of ['0', '1', '2']) await put(`/v1/artifacts/default/listed/a/f?type=lora`, content);
    await put(`/v1/artifacts/default/listed/b/f`, '0');
    const list = async (query: string) =>
      (await send(server, { url: `/v1/artifacts?project=listed&${query}` })).json<{
        data: { uri: string }[];
        last_id: string;
      }>();
    const uris = async (query: string) => (await list(query)).data.map(({ uri }) => uri.split('/').at(-1));
    expect(await uris('')).toEqual(['a:v0', 'a:v1', 'a:v2', 'b:v0']);
    expect(await uris('type=lora&limit=2')).toEqual(['a:v0', 'a:v1']);
    expect(await uris('name=b')).toEqual(['b:v0']);
    await put(`/v1/artifacts/default/listed/c/f`, 'larger');
    const newest = ['c:v0', 'b:v0', 'a:v2', 'a:v1', 'a:v0'];
    expect(await uris('order=desc')).toEqual(newest);
    const first = await list('sort=size&order=desc&limit=2');
    expect(first).toMatchObject({ has_more: true, counts: { versions: 5 } });
    expect(first.data.map(({ uri }) => uri.split('/').at(-1))).toEqual(['c:v0', 'b:v0']);
    expect(await uris(`sort=size&order=desc&after=${first.last_id}`)).toEqual(['a:v2', 'a:v1', 'a:v0']);
    expect(await uris('sort=name&order=desc')).toEqual(newest);
    expect(await list('name=a&limit=1')).toMatchObject({ counts: { versions: 3 } });
    expect(await list('name=none')).toMatchObject({ data: [], counts: { versions: 0 } });
    const wrong = await send(server, { url: '/v1/artifacts?sort=luck' });
    expect([wrong.statusCode, wrong.body]).toEqual([422, expect.stringContaining("'created', 'project'")]);
  });

  test('is hidden from other entities: 404 for every verb, as if it did not exist', async () => {
    await put(`${ROOT}/secret/a`, 'secret');
    const { secret } = await server.apiKeys.create({ entity: 'strangers', name: 'x' });
    const headers = { authorization: `Bearer ${secret}` };
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      for (const url of [`${ROOT}/secret`, `${ROOT}/secret:v0`, `${ROOT}/secret/a`, `${ROOT}/secret:draft/a`]) {
        if (method === 'DELETE' && url.endsWith('/a')) continue;
        const body = { aliases: ['x'], files: [{ path: 'a', sha256: hashOf('secret') }] };
        const response = await send(server, { method, url, headers, ...(method === 'PUT' ? { body } : {}) });
        expect(response.statusCode, `${method} ${url}`).toBe(404);
      }
    }
    const list = await send(server, { url: '/v1/artifacts', headers });
    expect(list.json()).toMatchObject({ data: [] });
    const own = { files: [{ path: 'a', sha256: hashOf('secret') }] }; // knowing a hash gives no access
    const probe = await send(server, { method: 'PUT', url: '/v1/artifacts/strangers/p/probe', headers, body: own });
    expect(probe.statusCode).toBe(202);
  });
});

describe('a model', () => {
  test('is an artifact of its checkpoints, read-only', async () => {
    const register = (name: string) =>
      send(server, { url: '/v1/preview/models', body: { project: 'p', name, base_model: BASE } });
    expect((await register('agent')).statusCode).toBe(200);
    for (const version of ['', ':latest', ':step0', ':v0']) {
      expect(await read(`${ROOT}/agent${version}`)).toMatchObject({
        version: 'step0',
        type: 'lora',
        aliases: ['latest', 'step0'],
        metadata: { 'wandb.base_model': BASE },
        files: [{ path: 'adapter_config.json' }, { path: 'adapter_model.safetensors' }],
      });
    }
    const config = await send(server, { url: `${ROOT}/agent:step0/adapter_config.json` });
    expect(config.json()).toMatchObject({ peft_type: 'LORA' });
    expect(await read(`${ROOT}/agent:step1`)).toBe(404);
    expect(await read(`${ROOT}/agent:step0/optimizer.safetensors`)).toBe(404);
    expect((await put(`${ROOT}/agent/a`, 'x')).statusCode).toBe(409);
    expect((await register('single')).statusCode).toBe(409); // the artifact of the first test
  });
});
