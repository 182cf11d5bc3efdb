import { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import Fastify, { type FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
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
