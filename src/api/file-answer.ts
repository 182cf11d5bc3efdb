// Answers with the bytes of one file, or with the part that a Range header asks for. What the file is, and how its bytes are opened,
// the route knows.
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#domain/errors';
import { beginning, readRange, type ByteRange } from './byte-range.ts';

interface FileOnServer {
  /** As errors name it. */
  readonly name: string;
  readonly sizeBytes: number;
  /** Hex. */
  readonly sha256: string;
  /** Its bytes from there on. */
  readonly open: (from: number) => Promise<AsyncIterable<Uint8Array>>;
}

/** Throws `range_not_satisfiable`, and what `open` throws; until that has answered nothing is said of the file. */
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
    throw new AppError('range_not_satisfiable', `${name} has ${sizeBytes} bytes: none from where the range begins.`);
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
