import { connect, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import Fastify, { type FastifyRequest } from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readBytes } from './body-stream.ts';

/** What a handler reads. */
async function readPieces(payload: Buffer | Readable, headers: Readonly<Record<string, string>>) {
  const pieces: Buffer[] = [];
  const app = Fastify({ bodyLimit: 20_000_000 });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest, body: Readable) => {
    for await (const piece of readBytes(request, body, { stallMs: 30_000, bytesPerSecondMin: 1 })) pieces.push(piece);
  });
  app.post('/', async () => 'read');
  const sent = { method: 'POST', url: '/', headers: { 'content-type': 'text/plain', ...headers }, payload } as const;
  expect((await app.inject(sent)).body).toBe('read');
  await app.close();
  return pieces;
}

test('chunks of a byte are joined: each would hold a buffer of its own', async () => {
  const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, i) => i % 251));
  const chunks = Array.from(bytes, (byte) => Buffer.of(byte));
  const pieces = await readPieces(Readable.from(chunks, { objectMode: false }), {});
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  expect(pieces.length).toBeLessThan(3);
});

test('a connection that sends millions of tiny chunks is ended, one with a few of them is not', async () => {
  const app = Fastify({ bodyLimit: 20_000_000 });
  app.removeAllContentTypeParsers();
  let size = 0;
  app.addContentTypeParser('*', async (request: FastifyRequest, body: Readable) => {
    for await (const piece of readBytes(request, body, { stallMs: 30_000, bytesPerSecondMin: 1 })) size += piece.length;
  });
  app.post('/', async () => 'read');
  await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  const head = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n';
  const answerTo = async (chunks: string) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.on('data', (bytes) => (answer += String(bytes))).on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`${head}${chunks}`);
    await Promise.race([closed, vi.waitUntil(() => answer.includes('read'), 20_000)]);
    socket.destroy();
    return answer.split('\r\n')[0];
  };
  expect(await answerTo(`${'1\r\nx\r\n'.repeat(2_000)}0\r\n\r\n`)).toBe('HTTP/1.1 200 OK');
  expect(size).toBe(2_000);
  expect(await answerTo(`${'1\r\nx\r\n'.repeat(200_000)}0\r\n\r\n`)).toBe('');
  expect(size).toBeLessThan(202_000);
});

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const)(
  'a compressed body comes in large pieces, of which each costs a turn of the event loop: %s',
  async (encoding, compress) => {
    const payload = compress(Buffer.alloc(16_000_000, ' '));
    const pieces = await readPieces(payload, { 'content-encoding': encoding });
    expect(Buffer.concat(pieces)).toHaveLength(16_000_000);
    expect(pieces.length).toBeLessThan(100);
  },
);
