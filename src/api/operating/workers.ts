// Workers over HTTP: the list of connected workers, the connection itself, and adapter files by hash (docs/worker-protocol.md).
// A worker reads the prompts of all users, so only the operator can grant the scope worker.
import { Readable } from 'node:stream';
import { fileChunks } from '#base/file-chunks';
import { AppError } from '#domain/errors';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { parse } from '#validation/parse';
import {
  readContentRange,
  readRangeStart,
  sha256,
  toWorkerResponse,
  uploadProgress,
  workersResponse,
} from './worker.ts';

export function workerRoutes({ workers }: Pick<ApiServices, 'workers'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/workers',
      tag: 'Workers',
      summary: 'List the workers connected to this server',
      access: 'worker',
      role: 'every',
      answer: workersResponse,
      handle: async () => ({ object: 'list', data: workers.list().map(toWorkerResponse) }),
    }),
    endpoint({
      method: 'GET',
      path: '/v1/workers/connect',
      tag: 'Workers',
      summary: 'Connect a worker over a WebSocket (see docs/worker-protocol.md)',
      access: 'worker',
      role: 'every',
      errors: [426],
      answer: null,
      acceptSocket: (socket, mayStay) => workers.accept(socket, mayStay),
      async handle({ reply }) {
        reply.header('upgrade', 'websocket');
        throw new AppError('upgrade_required', 'This is a WebSocket: send Upgrade: websocket.');
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/workers/files/{sha256}',
      tag: 'Workers',
      summary: 'Download a file of an adapter named in a call. Resume with `Range: bytes=N-`',
      access: 'worker',
      role: 'every',
      errors: [404],
      answer: ['application/octet-stream'],
      async handle({ params, request, reply }) {
        const hash = parse(sha256, params.sha256, 'path');
        const file = workers.offered.find(hash);
        if (!file) throw new AppError('not_found', `No file ${hash} was offered to a worker of this server.`);
        const start = readRangeStart(request.headers.range, file.bytes);
        reply.headers({ 'content-type': 'application/octet-stream', 'content-length': file.bytes - (start ?? 0) });
        if (start !== null) {
          reply.code(206).header('content-range', `bytes ${start}-${file.bytes - 1}/${file.bytes}`);
        }
        return reply.send(Readable.from(fileChunks(file.path, { from: start ?? 0 }), { objectMode: false }));
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/workers/uploads/{sha256}',
      tag: 'Workers',
      summary: 'Read how much of a file has been uploaded',
      access: 'worker',
      role: 'every',
      answer: uploadProgress,
      handle: ({ params }) => workers.uploaded.progress(parse(sha256, params.sha256, 'path')),
    }),
    endpoint({
      method: 'PUT',
      path: '/v1/workers/uploads/{sha256}',
      tag: 'Workers',
      summary: 'Upload the next part of a file, with `Content-Range: bytes FIRST-LAST/TOTAL`',
      access: 'worker',
      role: 'every',
      errors: [409],
      bodySize: 'file',
      requiredHeaders: ['Content-Range'],
      answer: uploadProgress,
      async handle({ params, request }) {
        const piece = readContentRange(request.headers['content-range']);
        const content = (request.body as Readable | undefined) ?? Readable.from([]);
        return workers.uploaded.append(
          parse(sha256, params.sha256, 'path'),
          piece,
          Readable.from(atMost(piece.length, content)),
        );
      },
    }),
  ];
}

/** Fails if more bytes arrive than declared. */
async function* atMost(bytes: number, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const chunk of content) {
    left -= chunk.length;
    if (left < 0) {
      throw new AppError('invalid_request', `The body is longer than the ${bytes} bytes of its Content-Range.`);
    }
    yield chunk;
  }
}
