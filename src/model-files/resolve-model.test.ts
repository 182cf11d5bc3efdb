// The Hub is a server in this process that speaks the endpoints a download uses; nothing leaves the machine.
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { joinInside, parseHubFile } from './hub-file.ts';
import { resolveModelDirectory, type ResolveModelOptions } from './resolve-model.ts';

const COMMIT = 'c'.repeat(40);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

interface Hub {
  files: Record<string, Buffer>;
  /** Sent instead of what is listed: a broken connection or disk on the other side. */
  sent: Record<string, Buffer>;
  /** What the listing says in place of the truth, by file. */
  lies: Record<string, object>;
  commit: string;
  requiredToken: string | null;
  requests: string[];
}

let root: string;
let server: Server;
let hub: Hub;
let options: ResolveModelOptions;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'resolve-model-'));
  hub = {
    files: {
      'config.json': Buffer.from('{"model_type":"qwen3"}'),
      'tokenizer.json': Buffer.from('{}'),
      'tokenizer_config.json': Buffer.from('{}'),
      'model.safetensors': Buffer.alloc(200_000, 7),
      'pytorch_model.bin': Buffer.from('not wanted'),
      'README.md': Buffer.from('not wanted'),
    },
    sent: {},
    lies: {},
    commit: COMMIT,
    requiredToken: null,
    requests: [],
  };
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  options = {
    starterDirectory: join(root, 'starter'),
    hfHome: join(root, 'hf'),
    hfToken: null,
    hfEndpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    parts: 'everything',
    log: silentLog,
    signal: new AbortController().signal,
  };
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  await rm(root, { recursive: true });
});

function answer(request: IncomingMessage, response: ServerResponse): void {
  hub.requests.push(request.url!);
  const json = (status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (hub.requiredToken && request.headers.authorization !== `Bearer ${hub.requiredToken}`)
    return void json(401, { error: 'Access denied' });
  const path = new URL(request.url!, 'http://hub').pathname;
  if (path === '/api/models/owner/tiny/revision/main')
    return void json(200, { _id: '1', id: 'owner/tiny', sha: hub.commit });
  if (path === `/api/models/owner/tiny/tree/${encodeURIComponent(hub.commit)}`) {
    const entries = Object.entries(hub.files).map(([name, bytes]) => ({
      type: 'file',
      path: name,
      size: bytes.length,
      oid: createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex'),
      ...(name.endsWith('.safetensors') ? { lfs: { oid: sha256(bytes), size: bytes.length, pointerSize: 130 } } : {}),
      ...hub.lies[name],
    }));
    return void json(200, entries);
  }
  const name = path.split(`/owner/tiny/resolve/${encodeURIComponent(hub.commit)}/`)[1];
  const bytes = name === undefined ? undefined : (hub.sent[name] ?? hub.files[name]);
  if (!bytes) return void json(404, { error: 'Repository not found' });
  const headers = { etag: '"x"', 'content-type': 'application/octet-stream' };
  if (request.headers.range === 'bytes=0-0')
    response.writeHead(206, { ...headers, 'content-range': `bytes 0-0/${bytes.length}` }).end(bytes.subarray(0, 1));
  else response.writeHead(200, headers).end(bytes);
}

async function writeModel(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true });
  for (const name of ['config.json', 'tokenizer.json', 'model.safetensors'])
    await writeFile(join(directory, name), '{}');
  return directory;
}

const rejection = (message: RegExp, code = 'base_model_not_found') => ({
  code,
  message: expect.stringMatching(message) as string,
});

test('the starter model goes by two names', async () => {
  const directory = await writeModel(options.starterDirectory);
  expect(await resolveModelDirectory('starter', options)).toEqual({ id: 'whetstone/starter', directory });
  expect(await resolveModelDirectory('whetstone/starter', options)).toEqual({ id: 'whetstone/starter', directory });
});

test('a directory is used where it is and named by its last part', async () => {
  const directory = await writeModel(join(root, 'models', 'mine'));
  expect(await resolveModelDirectory(directory, options)).toEqual({ id: 'mine', directory });
});

test('a directory that lacks weights says what a model needs', async () => {
  const directory = await writeModel(join(root, 'half'));
  await rm(join(directory, 'model.safetensors'));
  await expect(resolveModelDirectory(directory, options)).rejects.toMatchObject(
    rejection(/half is not a complete model: .*model\.safetensors/, 'bad_model_files'),
  );
});

test('a Hub id is downloaded once, in the layout of the Hub’s own cache, and only the files that matter', async () => {
  const resolved = await resolveModelDirectory('owner/tiny', options);
  const folder = join(root, 'hf', 'hub', 'models--owner--tiny');
  expect(resolved).toEqual({ id: 'owner/tiny', directory: join(folder, 'snapshots', COMMIT) });
  expect((await readdir(resolved.directory)).sort()).toEqual([
    'config.json',
    'model.safetensors',
    'tokenizer.json',
    'tokenizer_config.json',
  ]);
  expect(await readFile(join(folder, 'refs', 'main'), 'utf8')).toBe(COMMIT);
  expect(await readlink(join(resolved.directory, 'model.safetensors'))).toBe(
    `../../blobs/${sha256(hub.files['model.safetensors']!)}`,
  );
  expect((await readFile(join(resolved.directory, 'model.safetensors'))).equals(hub.files['model.safetensors']!)).toBe(
    true,
  );

  hub.requests = [];
  expect(await resolveModelDirectory('owner/tiny', options)).toEqual(resolved);
  expect(hub.requests).toEqual([]);
});

test('in a cache that a group shares, what is downloaded is for the group too, whatever the umask', async () => {
  const cache = join(root, 'hf', 'hub');
  await mkdir(cache, { recursive: true });
  await chmod(cache, 0o750);
  const before = process.umask(0o077);
  try {
    const { directory } = await resolveModelDirectory('owner/tiny', options);
    const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
    expect(await modeOf(directory)).toBe('750');
    expect(await modeOf(join(directory, 'model.safetensors'))).toBe('640');
    expect(await modeOf(join(cache, 'models--owner--tiny', 'refs', 'main'))).toBe('640');
  } finally {
    process.umask(before);
  }
});

test('what is cached works without a network', async () => {
  const resolved = await resolveModelDirectory('owner/tiny', options);
  expect(await resolveModelDirectory('owner/tiny', { ...options, hfEndpoint: 'http://127.0.0.1:1' })).toEqual(resolved);
});

test('an interrupted download goes on with the files that are missing', async () => {
  hub.sent['tokenizer.json'] = Buffer.alloc(0);
  hub.sent['model.safetensors'] = hub.files['model.safetensors']!.subarray(0, 100_000);
  await expect(resolveModelDirectory('owner/tiny', options)).rejects.toMatchObject(rejection(/failed/));
  hub.sent = {};
  hub.requests = [];
  const { directory } = await resolveModelDirectory('owner/tiny', options);
  expect(hub.requests.some((url) => url.endsWith('/config.json'))).toBe(false);
  expect((await readFile(join(directory, 'model.safetensors'))).length).toBe(200_000);
});

test.each([
  ['cut short', (bytes: Buffer) => bytes.subarray(0, 1000), /ended after 1000 of 200000 bytes/],
  ['changed on the way', (bytes: Buffer) => Buffer.alloc(bytes.length, 8), /model\.safetensors arrived damaged/],
])('weights that were %s never become a model', async (_, damage, message) => {
  hub.sent['model.safetensors'] = damage(hub.files['model.safetensors']!);
  await expect(resolveModelDirectory('owner/tiny', options)).rejects.toMatchObject(rejection(message));
  const blobs = await readdir(join(root, 'hf', 'hub', 'models--owner--tiny', 'blobs'));
  expect(blobs.some((name) => name.includes('incomplete') || name === sha256(hub.files['model.safetensors']!))).toBe(
    false,
  );
});

test('a tokenizer that was changed on the way never becomes a model', async () => {
  hub.sent['tokenizer.json'] = Buffer.from('[]');
  await expect(resolveModelDirectory('owner/tiny', options)).rejects.toMatchObject(
    rejection(/tokenizer\.json arrived damaged/),
  );
});

const OUTSIDE = '../../../../outside';
const lie = (name: string, about: object) => () => void (hub.lies[name] = about);
test.each([
  ['a Git hash that is a path', lie('config.json', { oid: OUTSIDE }), /config\.json the hash "\.\.\/.*which is none/],
  ['an LFS hash that is a path', lie('model.safetensors', { lfs: { oid: OUTSIDE, size: 200_000 } }), /which is none/],
  ['an absolute path for a hash', lie('config.json', { oid: '/tmp/outside' }), /which is none/],
  ['no hash', lie('config.json', { oid: undefined }), /which is none/],
  ['a commit that is a path', () => void (hub.commit = OUTSIDE), /names the commit "\.\.\/.*which is not a hash/],
])('a Hub that gives %s is refused, and nothing is written', async (_, tell, message) => {
  tell();
  await expect(resolveModelDirectory('owner/tiny', options)).rejects.toMatchObject(rejection(message));
  expect(await readdir(root)).toEqual([]);
});

test.each(['../config.json', '/config.json', 'a/../config.json', 'a\\config.json', 'C:config.json', './x', 'a//b', ''])(
  'a Hub that lists %j is refused',
  (path) => {
    const file = { type: 'file' as const, path, size: 1, oid: COMMIT };
    expect(() => parseHubFile(file)).toThrow('which is not a path inside a model');
  },
);

test('what is joined and does not lie inside is an error', () => {
  expect(joinInside('/cache', 'blobs', COMMIT)).toBe(join('/cache', 'blobs', COMMIT));
  for (const name of ['..', '../x', '.', '../cache/../x'])
    expect(() => joinInside('/cache', name)).toThrow('not inside');
});

test('offline and not cached, the error names the cache, the Hub and the reason', async () => {
  const offline = { ...options, hfEndpoint: 'http://127.0.0.1:1' };
  const message =
    /Cannot get model owner\/tiny\. .*not complete in the cache .*hf.hub, and downloading it from http:\/\/127\.0\.0\.1:1 failed: .+/;
  await expect(resolveModelDirectory('owner/tiny', offline)).rejects.toMatchObject(rejection(message));
});

test('a model that the Hub does not know is not found', async () => {
  await expect(resolveModelDirectory('owner/other', options)).rejects.toMatchObject(
    rejection(/No model owner\/other\. .*does not know it/),
  );
});

test('a gated model asks for a token, and is downloaded with it', async () => {
  hub.requiredToken = 'hf_secret';
  await expect(resolveModelDirectory('owner/tiny', options)).rejects.toMatchObject(rejection(/Set HF_TOKEN/));
  expect(await resolveModelDirectory('owner/tiny', { ...options, hfToken: 'hf_secret' })).toMatchObject({
    id: 'owner/tiny',
  });
});

test('an abort ends the download', async () => {
  await expect(resolveModelDirectory('owner/tiny', { ...options, signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'cancelled',
  });
});

test('a name that is neither a directory nor a Hub id is refused without asking anyone', async () => {
  await expect(resolveModelDirectory('nonsense', options)).rejects.toMatchObject(
    rejection(/no such directory, and it is not a Hub id/),
  );
  expect(hub.requests).toEqual([]);
});

test('what runs elsewhere needs no weights here: they stay on the Hub', async () => {
  const { directory } = await resolveModelDirectory('owner/tiny', { ...options, parts: 'without weights' });
  expect((await readdir(directory)).sort()).toEqual(['config.json', 'tokenizer.json', 'tokenizer_config.json']);
  const whole = await resolveModelDirectory('owner/tiny', options);
  expect(await readdir(whole.directory)).toContain('model.safetensors');
});
