// A file for browsers: read once, held in memory, and gzipped for clients that accept it. Knows no routes.
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface WebFile {
  readonly type: string;
  readonly content: Buffer;
  readonly gzipped: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** For names that contain a content hash. */
export const ASSET_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'public, max-age=31536000, immutable',
};

export async function readWebFile(path: string): Promise<WebFile> {
  const content = await readFile(path);
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  return { type, content, gzipped: await promisify(gzip)(content, { level: 9 }) };
}

export function sendWebFile({ headers }: FastifyRequest, reply: FastifyReply, file: WebFile): FastifyReply {
  const takesGzip = /\bgzip\b/.test(headers['accept-encoding'] ?? '');
  reply.type(file.type).header('vary', 'accept-encoding');
  if (!takesGzip) return reply.send(file.content);
  return reply.header('content-encoding', 'gzip').send(file.gzipped);
}
