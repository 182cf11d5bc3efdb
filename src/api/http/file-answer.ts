// Answers with the bytes of one file, or with the part that a Range header requests. The route knows what the file is and how
// to open it.
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#domain/errors';
import { beginning, readRange, type ByteRange } from './byte-range.ts';

interface FileOnServer {
  /** Name of the file in error messages. */
  readonly name: string;
  readonly sizeBytes: number;
  /** SHA-256 in hex. */
  readonly sha256: string;
  /** Opens its bytes from that offset. */
  readonly open: (from: number) => Promise<AsyncIterable<Uint8Array>>;
}

/** Throws `range_not_satisfiable`, and what `open` throws; no headers are sent before `open` has succeeded. */
export async function answerWithFile(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { name, sizeBytes, sha256, open }: FileOnServer,
  { contentType, disposition }: { readonly contentType: string; readonly disposition: string },
): Promise<FastifyReply> {
  const etag = `"${sha256}"`;
  const range = readRange(headers, sizeBytes, etag);
  if (range === 'beyond') {
    reply.header('content-range', `bytes */${sizeBytes}`);
    throw new AppError('range_not_satisfiable', `${name} has only ${sizeBytes} bytes: the range begins after its end.`);
  }
  const { first, last }: ByteRange = range ?? { first: 0, last: sizeBytes - 1 };
  const content = await open(first);
  if (range) reply.code(206).header('content-range', `bytes ${first}-${last}/${sizeBytes}`);
  return reply
    .headers({
      'content-type': contentType,
      'content-length': last + 1 - first,
      'content-disposition': disposition,
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      etag,
    })
    .send(Readable.from(last < sizeBytes - 1 ? beginning(content, last + 1 - first) : content));
}
