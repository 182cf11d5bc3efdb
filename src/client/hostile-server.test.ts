// A server that is not to be trusted: what it sends becomes no path outside of the directory, no file without an end, and no endless error.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pullArtifact } from './artifact-files.ts';
import { createClient, type Client } from './client.ts';

let scratch: string;
let server: Server | null = null;
beforeEach(async () => void (scratch = await mkdtemp(join(tmpdir(), 'whetstone-hostile-'))));
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  await rm(scratch, { recursive: true });
});

async function against(answer: RequestListener): Promise<Client> {
  server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server!.once('listening', resolve));
  return createClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, apiKey: 'wk-x' });
}

const SHA = 'a'.repeat(64);

/** One version with this file; its bytes never end. */
const serving =
  (file: object): RequestListener =>
  (request, response) => {
    if (!request.url!.endsWith('/f')) {
      const about = { id: 'x', entity: 'e', project: 'p', name: 'n', version: 'v0', aliases: [], type: 'dataset' };
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ ...about, files: [{ path: 'f', size_bytes: 10, sha256: SHA, ...file }] }));
    }
    const write = (): void => {
      while (response.write('x'.repeat(1000)));
    };
    response.on('drain', write);
    write();
  };

const pull = async (client: Client) => pullArtifact(client, 'e/p/n:v0', join(scratch, 'out'));
const filesIn = async () => (await readdir(scratch, { recursive: true })).filter((name) => name !== 'out');

test.each([
  ['../../x', 'no SHA-256'],
  ['', 'no SHA-256'],
  [SHA.toUpperCase(), 'no SHA-256'],
])('the checksum %j is not taken into a path', async (sha256, message) => {
  await expect(pull(await against(serving({ sha256 })))).rejects.toThrow(message);
  expect(await filesIn()).toEqual([]);
});

test.each(['../x', '/etc/x', 'a/../../x', 'c:\\x', 'a\\..\\x', ''])('the path %j is refused', async (path) => {
  await expect(pull(await against(serving({ path })))).rejects.toThrow('outside of the directory');
  expect(await filesIn()).toEqual([]);
});

test('a file that does not end at its announced size is given up, and not asked for again', async () => {
  let asked = 0;
  const endless = serving({});
  const client = await against((request, response) => {
    if (request.url!.endsWith('/f')) asked++;
    endless(request, response);
  });
  await expect(pull(client)).rejects.toThrow('more than the 10 bytes');
  expect(asked).toBe(1);
});

test.each([null, 'many', -1, 1.5])('a file of the size %j is not received', async (size) => {
  await expect(pull(await against(serving({ size_bytes: size })))).rejects.toThrow('how many bytes');
});

test('an error that does not end is read to a megabyte', async () => {
  const client = await against((_request, response) => {
    response.writeHead(400, { 'content-type': 'text/plain' });
    const write = (): void => {
      while (response.write('no '.repeat(10_000)));
    };
    response.on('drain', write);
    write();
  });
  await expect(client.getArtifact('e/p/n:v0')).rejects.toThrow('400 no no');
});
