// Bytes that changed on disk are never delivered as complete: the download is refused or breaks off before its end,
// and the log names the file.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCheckedDirectories } from '#storage/blobs/checked-directories';
import { prepareFilesystemBlobs } from '#storage/blobs/filesystem';
import { createRecordingLog } from '../../support/serving/recording-log.ts';
import { register } from '../../support/api/registered-model.ts';
import { asOwner, BASE, containing, openTestServer, type TestServer } from '../../support/api/test-server.ts';
import { openTinyChatModel } from '../../support/api/tiny-chat-model.ts';
import { openStorageInMemory } from '../../support/storage-in-memory.ts';

const root = await mkdtemp(join(tmpdir(), 'whetstone-damaged-'));
const log = createRecordingLog();
let server: TestServer;
let base: string;
beforeAll(async () => {
  server = await openTestServer({
    log,
    given: {
      storage: await openStorageInMemory(),
      blobs: createCheckedDirectories(await prepareFilesystemBlobs({ root })),
      model: await openTinyChatModel(BASE),
      clock: { now: Date.now, advance: () => {} },
    },
  });
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  base = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await server.close();
  await rm(root, { recursive: true });
});

const get = (path: string) => fetch(`${base}${path}`, { headers: asOwner });

/** In the middle of the file, where comparing the first bytes shows nothing. */
async function flipBit(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(path, bytes);
}

async function store(name: string, bytes: Buffer): Promise<{ url: string; path: string }> {
  const before = await readdir(join(root, 'artifacts')).catch((): string[] => []);
  const url = `/v1/artifacts/~/p/${name}/data.bin`;
  const response = await fetch(`${base}${url}`, { method: 'PUT', headers: asOwner, body: bytes });
  expect(response.status).toBe(201);
  const [blob] = (await readdir(join(root, 'artifacts'))).filter((each) => !before.includes(each));
  return { url, path: join(root, 'artifacts', blob!) };
}

const loggedErrors = () =>
  log.lines
    .filter(({ level }) => level === 'error')
    .map(({ event, fields }) => [event, (fields['err'] as Error).message]);

/** Expects anything but a complete download. */
async function expectRefused(response: Response): Promise<void> {
  expect(response.status).toBe(500);
  expect(response.headers.get('etag')).toBeNull();
  expect(await response.json()).toMatchObject({ error: { code: 'damaged_data', message: containing('damaged') } });
}

describe('a file of an artifact', () => {
  test('in one piece is refused', async () => {
    const { url, path } = await store('small', Buffer.from('whole'));
    await flipBit(path);
    await expectRefused(await get(url));
    expect(loggedErrors()).toEqual([['request.failed', containing('data.bin is damaged')]]);
  });

  test.each(['changed', 'cut off', 'made longer'])('in several pieces breaks off if it was %s', async (how) => {
    const { url, path } = await store(how.replace(' ', '-'), Buffer.alloc(300_000, how));
    expect((await (await get(url)).arrayBuffer()).byteLength).toBe(300_000);
    const bytes = await readFile(path);
    if (how === 'changed') await flipBit(path);
    else await writeFile(path, how === 'cut off' ? bytes.subarray(0, 200_000) : Buffer.concat([bytes, bytes]));
    log.lines.length = 0;
    const response = await get(url);
    expect(response.status).toBe(200); // the damage is found only at the end
    await expect(response.arrayBuffer()).rejects.toThrow('terminated');
    expect(loggedErrors()).toEqual([['response.broken', containing('data.bin is damaged')]]);
  });
});

test.each(['adapter_model.safetensors', 'adapter_config.json'])('a checkpoint is refused: %s', async (file) => {
  const name = `m-${file.split('.')[1]}`;
  const id = await register(server, name);
  const downloads = [`/v1/preview/models/${id}/checkpoints/0/download`, `/v1/artifacts/~/p/${name}:step0/${file}`];
  for (const url of downloads) expect((await get(url)).status).toBe(200);
  await flipBit(join(root, 'checkpoints', id, '0', file));
  for (const url of downloads) await expectRefused(await get(url));
});
