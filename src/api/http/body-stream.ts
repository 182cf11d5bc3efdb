// The bytes of a request body as they arrive: decompressed, with limits on the decompressed size and on the time. It does not
// interpret them (request-body.ts does). A body that is abandoned is not destroyed here: that would close the connection before
// the answer that explains why (unread-bodies.ts drops the rest).
import type { IncomingMessage } from 'node:http';
import { Readable, type Transform } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { AppError } from '#domain/errors';
import { hadTinyChunks } from './tiny-chunks.ts';
import { askForBody } from './unread-bodies.ts';

export interface Pace {
  /** A body is abandoned after this long without a byte. */
  readonly stallMs: number;
  /** Minimum per stall time: a client that sends less holds a connection without need. */
  readonly bytesPerSecondMin: number;
}

/** Each piece costs a turn of the event loop: the thousand pieces of a 16 MB body, at the default size, take a minute on a busy server. */
const PIECES = { chunkSize: 262_144 };

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(PIECES),
  deflate: () => createInflate(PIECES),
  br: () => createBrotliDecompress(PIECES),
};

/** Throws `body_too_large`, `request_timeout`, `unsupported_encoding`, or `invalid_request` for bytes that cannot be decompressed or are incomplete. */
export async function* readBytes(request: FastifyRequest, payload: Readable, pace: Pace): AsyncGenerator<Buffer> {
  const limit = request.routeOptions.bodyLimit;
  const tooLarge = () =>
    new AppError(
      'body_too_large',
      `The request body is over this endpoint's limit of ${limit} bytes. Send less at once.`,
    );
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
  const decode = decoderOf(request);
  askForBody(request.raw);
  const sent = joined(readPaced(payload, pace));
  let size = 0;
  try {
    for await (const piece of decode === null ? sent : decoded(sent, decode())) {
      size += piece.length;
      if (size > limit) throw tooLarge();
      yield piece;
    }
  } catch (error) {
    if (request.raw.readableAborted && !(error instanceof AppError)) throw brokenOff(request.raw, error);
    if (!isZlibError(error)) throw error;
    const encoding = String(request.headers['content-encoding']).slice(0, 50);
    throw new AppError('invalid_request', `The body cannot be decoded with its Content-Encoding, ${encoding}.`, {
      cause: error,
    });
  }
}

/** Only logged: gives a lost connection a cause of its own, so that it is not mistaken for that of a store. */
function brokenOff(request: IncomingMessage, cause: unknown): AppError {
  const message = hadTinyChunks(request)
    ? 'The body was sent in chunks of a few bytes, so its connection was closed. Send larger chunks.'
    : 'The body is incomplete: the connection was closed before its end.';
  return new AppError('invalid_request', message, { cause });
}

const isZlibError = (error: unknown): boolean =>
  error instanceof Error &&
  /^(?:Z_|ERR__ERROR_|ERR_BROTLI|ERR_PADDING)/.test(String((error as NodeJS.ErrnoException).code));

/** Chunks are joined up to this size. */
const JOINED_BYTES = 65_536;

/** A client may send chunks of one byte, and each would hold a buffer of its own for as long as its body is read. */
async function* joined(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = EMPTY;
  let used = 0;
  for await (const chunk of chunks) {
    if (used === 0) bytes = chunk;
    else {
      if (used + chunk.length > bytes.length) {
        const longer = Buffer.allocUnsafe(Math.max(2 * used, used + chunk.length));
        bytes.copy(longer, 0, 0, used);
        bytes = longer;
      }
      bytes.set(chunk, used);
    }
    used += chunk.length;
    if (used < JOINED_BYTES) continue;
    yield bytes.subarray(0, used);
    [bytes, used] = [EMPTY, 0];
  }
  if (used > 0) yield bytes.subarray(0, used);
}
const SMALL_BYTES = 4_096;
const EMPTY: Buffer = Buffer.alloc(0);

/** Counts only the time spent waiting for bytes. What small chunks bring within a turn of the event loop is read in one piece. */
async function* readPaced(bytes: Readable, { stallMs, bytesPerSecondMin }: Pace): AsyncGenerator<Buffer> {
  const iterator = bytes.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>;
  const floor = (bytesPerSecondMin * stallMs) / 1000;
  const late = (came: number) =>
    new AppError(
      'request_timeout',
      `The body arrived too slowly: ${came} bytes within ${stallMs / 1000} s. Send it again over a better connection.`,
    );
  for (let came = 0, waitedMs = 0, small = 0; ;) {
    const startMs = performance.now();
    const next = await withinTime(iterator.next(), stallMs, () => late(came));
    if (next.done) return;
    came += next.value.length;
    waitedMs += performance.now() - startMs;
    if (waitedMs > stallMs) {
      if (came < floor) throw late(came);
      [came, waitedMs] = [0, 0];
    }
    yield next.value;
    if (next.value.length < SMALL_BYTES && small++ > 0) await setImmediate(); // most bodies have only one
  }
}

/** Like p-timeout, which however creates an error with a stack for each piece in advance: 2 % of the CPU of a server under hostile load. */
function withinTime<T>(promise: Promise<T>, ms: number, late: () => AppError): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Null: the bytes are sent as they are. */
function decoderOf({ headers }: FastifyRequest): (() => Transform) | null {
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return null;
  const decode = DECODERS[encoding];
  if (decode) return decode;
  throw new AppError(
    'unsupported_encoding',
    `Content-Encoding ${encoding.slice(0, 50)} is not one of ${Object.keys(DECODERS).join(', ')}.`,
  );
}

async function* decoded(sent: AsyncIterable<Buffer>, decoder: Transform): AsyncGenerator<Buffer> {
  const source = Readable.from(sent);
  source.once('error', (error) => decoder.destroy(error));
  try {
    for await (const piece of source.pipe(decoder)) yield piece as Buffer;
  } finally {
    source.destroy();
  }
}
