// What happens to a connection beside its requests: how long headers may take, what is no HTTP, bodies nobody reads, readers
// that stop reading, peers that are gone without a word. Each ends by its own deadline.
import { STATUS_CODES, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { createRequestId } from '#base/ids';
import type { Log } from '#base/log';

export interface ConnectionLimits {
  /** At a time; more are closed at once. Each costs a file descriptor and about 20 KB. */
  readonly connectionsMax: number;
  /** From the first byte of a request to the end of its headers. */
  readonly headersMs: number;
  /** After an answer: for the rest of a body that was not read. Closing at once could cut off the answer. */
  readonly lingerMs: number;
  /** A reader that takes nothing for this long is gone. */
  readonly writeStallMs: number;
}

const HEADER_BYTES_MAX = 16_384; // as Node's default: written here because clients see it
/** Probes of the operating system on quiet connections find peers that vanished. */
const KEEP_ALIVE_PROBE_MS = 30_000;

export const httpOptions = ({ headersMs }: ConnectionLimits): ServerOptions => ({
  headersTimeout: headersMs,
  requestTimeout: 0, // a large body over a slow line may take its time: body-stream.ts watches its pace
  connectionsCheckingInterval: Math.max(100, Math.min(5_000, headersMs / 4)),
  maxHeaderSize: HEADER_BYTES_MAX,
  keepAlive: true,
  keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
});

export function watchConnections(app: FastifyInstance, limits: ConnectionLimits): void {
  const { connectionsMax, lingerMs, writeStallMs } = limits;
  app.server.maxConnections = connectionsMax;
  // Not for event streams (sse.ts), which are quiet at times.
  app.addHook('onSend', async (_request, { raw }) => void raw.setTimeout(writeStallMs, () => raw.destroy()));
  app.addHook('onResponse', async ({ raw }) => {
    if (raw.complete || raw.destroyed) return;
    raw.resume(); // into nothing
    const timer = setTimeout(() => raw.destroy(), lingerMs);
    timer.unref();
    raw.once('close', () => clearTimeout(timer));
    raw.once('end', () => clearTimeout(timer));
  });
}

/** For what the HTTP parser refuses: no request came of it, so no hook sees it. */
export function refuseMalformed(log: Log): (error: Error & { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const { status, message } = describe(error.code);
    const requestId = createRequestId();
    const body = JSON.stringify({
      detail: message,
      error: { message, type: 'invalid_request_error', param: null, code: 'malformed_request' },
    });
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      'connection: close',
    ];
    log.info('request.malformed', { requestId, status, code: error.code });
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  };
}

function describe(code: string | undefined): { status: number; message: string } {
  if (code === 'HPE_HEADER_OVERFLOW')
    return { status: 431, message: `The headers are over ${HEADER_BYTES_MAX} bytes. Send less in them.` };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { status: 408, message: 'The headers of the request came too slowly. Send it again.' };
  return { status: 400, message: 'This is not an HTTP/1.1 request.' };
}
