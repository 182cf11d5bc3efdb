// Downloads from a server that is slow, or goes silent.
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openWorkerFiles } from './worker-files.ts';

const CONTENT = Buffer.from('one two three four five six');
const FILE = {
  name: 'adapter_config.json',
  bytes: CONTENT.length,
  sha256: createHash('sha256').update(CONTENT).digest('hex'),
};

/** Fetches the file; `send` answers each request with the content from `offset` on. Returns the offsets that were requested. */
async function fetchFrom(
  requestMs: number,
  send: (response: ServerResponse, offset: number) => Promise<void>,
): Promise<number[]> {
  const offsets: number[] = [];
  const answer = ({ headers }: IncomingMessage, response: ServerResponse) => {
    const offset = Number(/bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0);
    offsets.push(offset);
    response.writeHead(offset > 0 ? 206 : 200);
    void send(response, offset);
  };
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const root = await mkdtemp(join(tmpdir(), 'whetstone-worker-files-'));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const files = await openWorkerFiles({ url, key: 'k', directory: join(root, 'files'), cacheBytesMax: 1e6, requestMs });
  onTestFinished(async () => {
    await files.close();
    server.close().closeAllConnections();
    await rm(root, { recursive: true, force: true });
  });
  const directory = await files.fetch([FILE]);
  expect(await readFile(join(directory, FILE.name))).toEqual(CONTENT);
  return offsets;
}

test('a download that takes longer than the limit of a request is not interrupted while bytes arrive', async () => {
  const requestMs = 2_000;
  const offsets = await fetchFrom(requestMs, async (response) => {
    for (const [i, byte] of CONTENT.entries()) {
      response.write(Uint8Array.of(byte));
      if (i % 2 === 0) await sleep((1.5 * requestMs) / (CONTENT.length / 2));
    }
    response.end();
  });
  expect(offsets).toEqual([0]);
});

test('a download from a server that goes silent is resumed', async () => {
  const offsets = await fetchFrom(500, async (response, offset) => {
    response.write(CONTENT.subarray(offset, offset + 8));
    if (offset > 0) response.end(CONTENT.subarray(offset + 8));
  });
  expect(offsets).toEqual([0, 8]);
});
