import type { Readable } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import Fastify, { type FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { readBytes } from './body-stream.ts';

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const)(
  'a compressed body comes in large pieces, of which each costs a turn of the event loop: %s',
  async (encoding, compress) => {
    const sizes: number[] = [];
    const app = Fastify({ bodyLimit: 20_000_000 });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => {
      for await (const piece of readBytes(request, payload, { stallMs: 30_000, bytesPerSecondMin: 1 }))
        sizes.push(piece.length);
    });
    app.post('/', async () => 'read');
    const payload = compress(Buffer.alloc(16_000_000, ' '));
    const headers = { 'content-encoding': encoding, 'content-type': 'text/plain' };
    const answer = await app.inject({ method: 'POST', url: '/', headers, payload });
    expect(answer.body).toBe('read');
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(16_000_000);
    expect(sizes.length).toBeLessThan(100);
    await app.close();
  },
);
