// Files between a server and its workers: addressed by hash, sent in pieces, checked at both ends, and no other files.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openWorkerFiles, type WorkerFiles } from '#engine/workers/worker-files';
import type { WireAdapter, WireFile } from '#engine/workers/worker-procedures';
import { WORKER_PROTOCOL } from '#domain/worker-protocol';
import { BOOTSTRAP_KEY, openTestServer, type TestServer } from '../../support/api/test-server.ts';

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

let server: TestServer;
let url: string;
let scratch: string;
let files: WorkerFiles;
let count = 0;
beforeAll(async () => {
  server = await openTestServer({ limits: { fileBytesMax: 64 << 20 } });
  url = await server.app.listen({ port: 0, host: '127.0.0.1' });
  scratch = await mkdtemp(join(tmpdir(), 'whetstone-worker-files-'));
});
beforeEach(async () => {
  const directory = join(scratch, `worker-${++count}`);
  files = await openWorkerFiles({ url, key: BOOTSTRAP_KEY, directory, cacheBytesMax: 1e9 });
});
afterAll(async () => {
  await server.close();
  await rm(scratch, { recursive: true, force: true });
});

async function makeAdapter(weights: Uint8Array, config = `{"r":${++count}}`): Promise<string> {
  const directory = join(scratch, `adapter-${++count}`);
  await mkdir(directory);
  await writeFile(join(directory, 'adapter_config.json'), config);
  await writeFile(join(directory, 'adapter_model.safetensors'), weights);
  await writeFile(join(directory, 'notes.txt'), 'not for workers');
  return directory;
}

const directoryOf = (from: WorkerFiles, adapter: WireAdapter): Promise<string> =>
  from.usingAdapter(adapter, async ({ directory }) => directory);

const isWhole = async (directory: string, bytes: number): Promise<boolean> =>
  (await readFile(join(directory, 'adapter_model.safetensors'))).length === bytes;

const put = (sha256: string, range: string, body: Uint8Array) =>
  fetch(`${url}/v1/workers/uploads/${sha256}`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${BOOTSTRAP_KEY}`,
      'content-range': range,
      'content-type': 'application/octet-stream',
    },
    body: Buffer.from(body),
  });

const receive = (brought: readonly WireFile[], target: string) =>
  server.workers.uploaded.receive(async () => brought, target);

test('a file that a worker uploads arrives in pieces, byte by byte, and is claimed once', async () => {
  const weights = randomBytes(WORKER_PROTOCOL.pieceBytesMax + 1_234); // two pieces
  const brought = await files.bring(await makeAdapter(weights));
  expect(brought.map(({ name }) => name)).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
  const target = join(scratch, `claimed-${count}`);
  await receive(brought, target);
  expect((await readFile(join(target, 'adapter_model.safetensors'))).equals(weights)).toBe(true);
  await expect(receive(brought, join(scratch, 'again'))).rejects.toMatchObject({
    code: 'engine_failed',
    message: expect.stringContaining('did not arrive completely') as string,
  });
});

test('equal files that several workers save at once are there for each of them, and deleted once all have them', async () => {
  const adapters = [randomBytes(1_000), randomBytes(1_000)].map((weights) => makeAdapter(weights, '{"r":8}'));
  let bothBrought = () => {};
  const both = new Promise<void>((resolve) => (bothBrought = resolve));
  const { uploaded } = server.workers;
  let savers = 0;
  const save = async (adapter: Promise<string>, target: string) => {
    const bring = async () => {
      const brought = await files.bring(await adapter);
      if (++savers === 2) bothBrought();
      await both;
      return brought;
    };
    await uploaded.receive(bring, target);
    return readFile(join(target, 'adapter_config.json'), 'utf8');
  };
  const [first, second] = await Promise.all(adapters.map((adapter, i) => save(adapter, join(scratch, `saved-${i}`))));
  expect(first).toBe(second);
  expect(await uploaded.progress(hashOf(Buffer.from(first!)))).toEqual({ complete: false, offset: 0 });
});

test('an interrupted upload resumes', async () => {
  const bytes = randomBytes(1_000);
  const sha256 = hashOf(bytes);
  expect(await (await put(sha256, 'bytes 0-399/1000', bytes.subarray(0, 400))).json()).toEqual({
    complete: false,
    offset: 400,
  });
  const directory = await makeAdapter(bytes);
  await files.bring(directory);
  expect(await server.workers.uploaded.progress(sha256)).toEqual({ complete: true, offset: 1_000 });
});

test.each([
  ['a gap', 'bytes 10-19/20', 409, /upload_conflict/],
  ['no range', 'bytes 0-', 400, /Content-Range: bytes FIRST-LAST\/TOTAL/],
  ['a piece that is too large', `bytes 0-${WORKER_PROTOCOL.pieceBytesMax}/99999999`, 400, /at most 16777216 bytes/],
  ['more bytes than it says', 'bytes 0-4/20', 400, /longer than the 5 bytes of its Content-Range/],
  ['a hash that is not the file’s', 'bytes 0-9/10', 422, /has the hash/],
])('an upload with %s is refused', async (_name, range, status, message) => {
  const response = await put('a'.repeat(64), range, randomBytes(10));
  expect(response.status).toBe(status);
  expect(await response.text()).toMatch(message);
  expect(await server.workers.uploaded.progress('a'.repeat(64))).toMatchObject({ complete: false });
});

test('files with names that an adapter does not have are written nowhere', async () => {
  const bytes = randomBytes(10);
  await put(hashOf(bytes), 'bytes 0-9/10', bytes);
  const file = { name: '../../outside', bytes: 10, sha256: hashOf(bytes) };
  await expect(receive([file], join(scratch, 'in'))).rejects.toMatchObject({ code: 'engine_failed' });
  await writeFile(join(scratch, 'secret'), bytes);
  const stolen = { name: 'adapter_config.json', bytes: 10, sha256: `../${basename(scratch)}/secret` };
  await expect(receive([stolen], join(scratch, 'in'))).rejects.toMatchObject({ code: 'engine_failed' });
  await expect(files.fetch([file])).rejects.toMatchObject({ code: 'bad_model_files' });
});

test('an adapter is fetched once, however often it is requested, and resumes after an interrupted download', async () => {
  const weights = randomBytes(3_000_000);
  const directory = await makeAdapter(weights);
  const offered = server.workers.offered;
  const wire = await offered.adapter({ id: 'one', directory });
  const [first, second] = await Promise.all([directoryOf(files, wire), directoryOf(files, wire)]);
  expect(first).toBe(second);
  expect((await readFile(join(first, 'adapter_model.safetensors'))).equals(weights)).toBe(true);

  const { sha256 } = wire.files[1]!;
  const part = await fetch(`${url}/v1/workers/files/${sha256}`, {
    headers: { authorization: `Bearer ${BOOTSTRAP_KEY}`, range: 'bytes=2999990-' },
  });
  expect(part.status).toBe(206);
  expect(part.headers.get('content-range')).toBe('bytes 2999990-2999999/3000000');
  expect(Buffer.from(await part.arrayBuffer()).equals(weights.subarray(2_999_990))).toBe(true);
});

test('a file that changed in transit is never used', async () => {
  const directory = await makeAdapter(randomBytes(1_000));
  const wire = await server.workers.offered.adapter({ id: 'spoilt', directory });
  await writeFile(join(directory, 'adapter_model.safetensors'), randomBytes(1_000));
  await expect(directoryOf(files, wire)).rejects.toMatchObject({
    message: expect.stringMatching(/arrived with the hash/) as string,
  });
}, 30_000);

test('files that were not offered cannot be fetched', async () => {
  const response = await fetch(`${url}/v1/workers/files/${'b'.repeat(64)}`, {
    headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` },
  });
  expect(response.status).toBe(404);
});

/** Bytes under a directory; hard links count once. */
async function bytesBelow(directory: string): Promise<number> {
  const found = new Map<number, number>();
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = await stat(join(entry.parentPath, entry.name)).catch(() => null); // it may be deleted at this moment
    if (file) found.set(file.ino, file.size);
  }
  return [...found.values()].reduce((sum, bytes) => sum + bytes, 0);
}

test('adapters take no more than their share of the disk, whatever their number, and the last used ones stay', async () => {
  const cacheBytesMax = 100_000;
  const directory = join(scratch, 'small');
  const small = await openWorkerFiles({ url, key: BOOTSTRAP_KEY, directory, cacheBytesMax });
  const load = async (id: string, bytes: number): Promise<string> => {
    const offered = await server.workers.offered.adapter({ id, directory: await makeAdapter(randomBytes(bytes)) });
    return directoryOf(small, offered);
  };

  const loaded: string[] = [];
  for (let i = 0; i < 20; i++) loaded.push(await load(`small-${i}`, 10_000));
  await expect.poll(() => bytesBelow(directory)).toBeLessThanOrEqual(cacheBytesMax);
  expect(await isWhole(loaded.at(-1)!, 10_000)).toBe(true);
  expect(await isWhole(loaded.at(-2)!, 10_000)).toBe(true);
  await expect(stat(loaded[0]!)).rejects.toMatchObject({ code: 'ENOENT' });

  const large = await load('large', 300_000); // accepted although it exceeds the limit alone
  expect(await isWhole(large, 300_000)).toBe(true);
  await load('next', 10_000);
  await expect.poll(() => bytesBelow(directory)).toBeLessThanOrEqual(cacheBytesMax);
});

test('an adapter in use stays, however many others arrive, and is deleted when its user has ended', async () => {
  const directory = join(scratch, 'in-use');
  const small = await openWorkerFiles({ url, key: BOOTSTRAP_KEY, directory, cacheBytesMax: 100_000 });
  const offer = async (id: string) =>
    server.workers.offered.adapter({ id, directory: await makeAdapter(randomBytes(10_000)) });
  const loadOthers = async (user: string) => {
    for (let i = 0; i < 10; i++) await directoryOf(small, await offer(`${user}-${i}`));
  };
  const used = await small.usingAdapter(await offer('used'), async (adapter) => {
    await loadOthers('meanwhile');
    await expect.poll(() => bytesBelow(directory)).toBeLessThanOrEqual(100_000);
    expect(await isWhole(adapter.directory, 10_000)).toBe(true);
    return adapter.directory;
  });
  await loadOthers('later');
  await expect.poll(() => stat(used).catch(() => null)).toBeNull();
});
