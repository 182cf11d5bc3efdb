// Pushing and pulling directories: what is transferred, what is left alone, and which paths neither side accepts.
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pullArtifact, pushArtifact } from '#client/artifact-files';
import { ApiError, createClient, type Artifact, type Client } from '#client/client';
import { asOwner, openTestServer, type TestServer } from '../../support/api/test-server.ts';
import { runCommand } from './run-command.ts';

let server: TestServer;
let client: Client;
let scratch: string;
beforeAll(async () => {
  server = await openTestServer();
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.app.server.address() as AddressInfo;
  client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: asOwner.authorization.slice(7) });
  scratch = await mkdtemp(join(tmpdir(), 'whetstone-files-'));
});
afterAll(async () => {
  await server.close();
  await rm(scratch, { recursive: true });
});

async function directory(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const path = join(scratch, name);
  for (const [file, content] of Object.entries(files)) {
    await mkdir(join(path, file, '..'), { recursive: true });
    await writeFile(join(path, file), content);
  }
  return path;
}

function recorder() {
  const lines: string[] = [];
  return { lines, onFile: (path: string, state: string) => void lines.push(`${state} ${path}`) };
}

test('the list is sorted on the command line and for a client as the server sorts it', async () => {
  for (const [name, content] of [
    ['b', 'largest'],
    ['a', '1'],
    ['c', 'larger'],
  ] as const)
    await pushArtifact(client, `~/sorted/${name}`, await directory(`sorted-${name}`, { f: content }));
  const names: string[] = [];
  for await (const { name } of client.listArtifacts({ project: 'sorted', sort: 'size', order: 'desc' }))
    names.push(name);
  expect(names).toEqual(['b', 'c', 'a']);
  const listed = async (...flags: string[]) => {
    const remote = ['--url', server.app.listeningOrigin, '--key', asOwner.authorization.slice(7)];
    const { stdout } = await runCommand('artifacts', 'ls', 'sorted', ...flags, ...remote);
    return [...stdout.matchAll(/^sorted\/(\w)/gm)].map(([, name]) => name);
  };
  expect(await listed()).toEqual(['b', 'a', 'c']);
  expect(await listed('--desc')).toEqual(['c', 'a', 'b']);
  expect(await listed('--sort', 'name')).toEqual(['a', 'b', 'c']);
});

test('a directory whose only file has its name is uploaded like any other', async () => {
  const source = await directory('rows', { rows: 'alone' });
  expect((await pushArtifact(client, '~/p/rows', source)).files).toMatchObject([{ path: 'rows', size_bytes: 5 }]);
});

test('a directory is uploaded and downloaded; files that are already there are not transferred again', async () => {
  const source = await directory('source', { 'a.txt': 'A', 'deep/er/b.txt': 'B', 'empty.txt': '' });
  const first = recorder();
  const pushed = await pushArtifact(client, '~/p/dir', source, { aliases: ['best'], metadata: { rows: 1 }, ...first });
  expect(pushed).toMatchObject({ version: 'v0', aliases: ['best'], metadata: { rows: 1 } });
  expect(first.lines).toEqual(['sent a.txt', 'sent deep/er/b.txt', 'sent empty.txt']);
  await writeFile(join(source, 'a.txt'), 'changed');
  const second = recorder();
  expect(await pushArtifact(client, '~/p/dir', source, second)).toMatchObject({ version: 'v1' });
  expect(second.lines).toEqual(['sent a.txt', 'there deep/er/b.txt', 'there empty.txt']);

  const target = join(scratch, 'target');
  await pullArtifact(client, '~/p/dir:best', target);
  expect(await readFile(join(target, 'a.txt'), 'utf8')).toBe('A');
  const third = recorder();
  await pullArtifact(client, '~/p/dir', target, third);
  expect(third.lines).toEqual(['fetched a.txt', 'there deep/er/b.txt', 'there empty.txt']);
  expect(await readdir(target)).toEqual(['a.txt', 'deep', 'empty.txt']); // no .part is left
});

test('a file that disappears while it is pushed is an error of that file, and is not sent again', async () => {
  const source = await directory('vanishing', { 'a.txt': 'soon gone' });
  const connection: unknown[] = [];
  const pushing = pushArtifact(client, '~/p/vanishing', source, {
    onBytes: (doing) => doing === 'reading' && rmSync(join(source, 'a.txt')),
    onConnection: (lost) => connection.push(lost),
  });
  await expect(pushing).rejects.toMatchObject({ code: 'ENOENT', path: join(source, 'a.txt') });
  expect(connection).toEqual([]);
});

test.each([
  ['a full quota', 429, 'This is over the limit of stored bytes. Delete models, checkpoints or artifacts.'],
  ['a name that is taken', 409, 'p/refused is the name of a model.'],
])('a push ends at once at %s', async (_, status, message) => {
  const source = await directory('refused', { 'a.txt': String(status) });
  const refuse = () => Promise.reject(new ApiError(status, message, null, null, null, 60_000));
  const connection: unknown[] = [];
  const onConnection = (lost: unknown) => void connection.push(lost);
  let sent = 0;
  const full: Client = { ...client, uploadArtifactFile: () => (sent++, refuse()) };
  await expect(pushArtifact(full, '~/p/refused', source, { onConnection })).rejects.toThrow(message);
  let commits = 0;
  const taken: Client = {
    ...client,
    commitArtifact: (name, manifest) => (commits++ === 0 ? client.commitArtifact(name, manifest) : refuse()),
  };
  await expect(pushArtifact(taken, '~/p/refused', source, { onConnection })).rejects.toThrow(message);
  expect({ sent, commits, connection }).toEqual({ sent: 1, commits: 2, connection: [] });
});

test('symbolic links are neither followed nor written through', async () => {
  const source = await directory('linked', { 'a.txt': 'A' });
  await symlink('/etc/passwd', join(source, 'b.txt'));
  await expect(pushArtifact(client, '~/p/linked', source)).rejects.toThrow('symbolic link');
  await rm(join(source, 'b.txt'));
  await pushArtifact(client, '~/p/linked', source);
  const outside = await directory('outside', { 'a.txt': 'mine' });
  const target = await directory('inside', {});
  await mkdir(target);
  await symlink(join(outside, 'a.txt'), join(target, 'a.txt'));
  await expect(pullArtifact(client, '~/p/linked', target)).rejects.toThrow('symbolic link');
  expect(await readFile(join(outside, 'a.txt'), 'utf8')).toBe('mine');
});

test.each(['../up.txt', '/etc/cron', 'a/../../b', 'C:/x', 'a\\..\\..\\b'])(
  'a server that says %j is not obeyed',
  async (path) => {
    const files = [{ path, size_bytes: 1, sha256: 'x' }];
    const artifact = { entity: 'e', project: 'p', name: 'n', version: 'v0', files } as unknown as Artifact;
    const evil = { ...client, getArtifact: async () => artifact };
    await expect(pullArtifact(evil, 'e/p/n', join(scratch, 'evil'))).rejects.toThrow('outside of the directory');
  },
);

test('bytes that arrive damaged are not stored', async () => {
  const source = await directory('whole', { 'a.txt': 'whole' });
  await pushArtifact(client, '~/p/whole', source);
  const liar = { ...client, downloadArtifactFile: async () => new Response('other').body! };
  const target = join(scratch, 'damaged');
  await expect(pullArtifact(liar, '~/p/whole', target)).rejects.toThrow('arrived damaged');
  expect(await readdir(target)).toEqual([]);
});

/** Simulates a connection that breaks after so many bytes. */
const breaking = (bytes: number): Client => ({
  ...client,
  async downloadArtifactFile(...args) {
    const reader = (await client.downloadArtifactFile(...args)).getReader();
    let left = bytes;
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value } = await reader.read();
        if (!value) return controller.close();
        controller.enqueue(value.subarray(0, left));
        left -= Math.min(left, value.length);
        if (left > 0) return;
        await reader.cancel();
        controller.error(new Error('the line broke'));
      },
    });
  },
});

test('an interrupted pull resumes after the bytes that are already there', async () => {
  const text = Array.from({ length: 60_000 }, (_, i) => `line ${i}\n`).join('');
  await pushArtifact(client, '~/p/large', await directory('large', { 'a.txt': text }));
  const target = join(scratch, 'resumed');
  const refusal = new ApiError(403, 'no more', null, null, null);
  const refused: Client = { ...breaking(200_000), resumeArtifactFile: () => Promise.reject(refusal) };
  await expect(pullArtifact(refused, '~/p/large', target)).rejects.toThrow('no more');
  const [part] = await readdir(target);
  const here = await readFile(join(target, part!));
  expect(here.equals(Buffer.from(text).subarray(0, here.length))).toBe(true);
  expect(here.length).toBeGreaterThan(0);

  const resumed: number[] = [];
  const watched: Client = {
    ...client,
    downloadArtifactFile: () => Promise.reject(new Error('asked for all of it again')),
    resumeArtifactFile(name, path, known, signal) {
      resumed.push(known.bytes);
      return client.resumeArtifactFile(name, path, known, signal);
    },
  };
  await pullArtifact(watched, '~/p/large', target);
  expect(resumed).toEqual([here.length]);
  expect(await readdir(target)).toEqual(['a.txt']);
  expect(await readFile(join(target, 'a.txt'), 'utf8')).toBe(text);
});

test('a pull resumes if the connection breaks, and reports its progress', async () => {
  const text = 'some words\n'.repeat(60_000);
  const source = await directory('long', { 'a.txt': text, 'b.txt': 'here alone' });
  const sent: [string, number, number][] = [];
  await pushArtifact(client, '~/p/long', source, { onBytes: (...said) => sent.push(said) });
  const received: [string, number, number][] = [];
  const target = join(scratch, 'long-pulled');
  await pullArtifact(breaking(200_000), '~/p/long', target, { onBytes: (...said) => received.push(said) });
  expect(await readFile(join(target, 'a.txt'), 'utf8')).toBe(text);
  const all = text.length + 'here alone'.length;
  expect(sent.filter(([doing]) => doing === 'reading').at(-1)).toEqual(['reading', all, all]);
  expect([sent.at(-1), received.at(-1)]).toEqual([
    ['sending', all, all],
    ['receiving', all, all],
  ]);
});

test('a part with wrong bytes is not kept, and one with too many is fetched anew', async () => {
  const source = await directory('parted', { 'a.txt': 'the right bytes' });
  const { files } = await pushArtifact(client, '~/p/parted', source);
  const target = await directory('parts', { [`a.txt.${files[0]!.sha256.slice(0, 12)}.part`]: 'the wro' });
  await expect(pullArtifact(client, '~/p/parted', target)).rejects.toThrow('arrived damaged');
  expect(await readdir(target)).toEqual([]);
  await directory('parts', { [`a.txt.${files[0]!.sha256.slice(0, 12)}.part`]: 'far more bytes than there are' });
  await pullArtifact(client, '~/p/parted', target);
  expect(await readFile(join(target, 'a.txt'), 'utf8')).toBe('the right bytes');
});

test('range requests for a file are answered as RFC 9110 requires', async () => {
  const text = 'x'.repeat(200_000) + 'the end';
  const { files } = await pushArtifact(client, '~/p/ranges', await directory('ranges', { 'a.txt': text }));
  const etag = `"${files[0]!.sha256}"`;
  const get = (headers: Record<string, string>) =>
    server.app.inject({ url: '/v1/artifacts/~/p/ranges/a.txt', headers: { ...asOwner, ...headers } });
  const whole = await get({});
  expect([whole.statusCode, whole.headers['accept-ranges'], whole.headers.etag]).toEqual([200, 'bytes', etag]);
  const end = await get({ range: 'bytes=200000-', 'if-range': etag });
  expect([end.statusCode, end.headers['content-range'], end.headers['content-length'], end.body]).toEqual([
    206,
    'bytes 200000-200006/200007',
    '7',
    'the end',
  ]);
  expect((await get({ range: 'bytes=-3' })).body).toBe('end');
  expect((await get({ range: 'bytes=199999-200002' })).body).toBe('xthe');
  for (const headers of [{ range: 'bytes=0-1,5-6' }, { range: 'bytes=200000-', 'if-range': '"other"' }])
    expect([(await get(headers)).statusCode, (await get(headers)).body.length]).toEqual([200, text.length]);
  const beyond = await get({ range: 'bytes=200007-' });
  expect([beyond.statusCode, beyond.headers['content-range']]).toEqual([416, 'bytes */200007']);
  expect(beyond.json()).toMatchObject({ error: { code: 'range_not_satisfiable' } });
});
