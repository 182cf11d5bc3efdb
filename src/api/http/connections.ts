// Limits on a connection, independent of its requests: time for headers, data that is not HTTP, clients that stop reading, peers
// that vanish. Each case has its own deadline. Bodies that are not read are in unread-bodies.ts.
import { STATUS_CODES, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { createRequestId } from '#base/ids';
import type { Log } from '#base/log';
import { endTinyChunks } from './tiny-chunks.ts';
import { lingerOverBodies, type LingerLimits } from './unread-bodies.ts';

export interface ConnectionLimits extends LingerLimits {
  /** Maximum number of concurrent connections; further ones are closed at once. Each costs a file descriptor and about 20 KB. */
  readonly connectionsMax: number;
  /** Time from the first byte of a request to the end of its headers. */
  readonly headersMs: number;
  /** A client that reads nothing for this long is considered gone. */
  readonly writeStallMs: number;
}

const HEADER_BYTES_MAX = 16_384; // Node's default, made explicit because clients can observe it
/** From an answer to input that is not HTTP, until its connection is destroyed. */
const CLOSE_MS = 1_000;
/** TCP keep-alive probes on idle connections detect peers that vanished. */
const KEEP_ALIVE_PROBE_MS = 30_000;

export const httpOptions = ({ headersMs }: ConnectionLimits): ServerOptions => ({
  headersTimeout: headersMs,
  requestTimeout: 0, // a large body may take long over a slow line; body-stream.ts checks its rate
  connectionsCheckingInterval: Math.max(100, Math.min(5_000, headersMs / 4)),
  maxHeaderSize: HEADER_BYTES_MAX,
  keepAlive: true,
  keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
});

export function watchConnections(app: FastifyInstance, limits: ConnectionLimits): void {
  const { connectionsMax, writeStallMs } = limits;
  app.server.maxConnections = connectionsMax;
  // Not for event streams (sse.ts), which may be idle.
  app.addHook('onSend', async (_request, { raw }) => void raw.setTimeout(writeStallMs, () => raw.destroy()));
  lingerOverBodies(app.server, limits);
  endTinyChunks(app.server);
}

interface ParserError extends Error {
  readonly code?: string;
  /** A Buffer, contrary to Fastify's declaration: the bytes received when the parser failed. */
  readonly rawPacket?: unknown;
}

/** For input that the HTTP parser rejects: it produces no request, so no hook sees it. */
export function refuseMalformed(log: Log): (error: ParserError, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const { status, message, headers = [] } = describe(error);
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
      ...headers,
      'connection: close',
    ];
    log.info('request.malformed', { requestId, status, code: error.code, problem: message });
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    // A client that never closes its side would keep its place for ever; one that is closed at once may not see the answer.
    const closing = setTimeout(() => socket.destroy(), CLOSE_MS);
    socket.once('close', () => clearTimeout(closing));
  };
}

const METHODS = 'GET, HEAD, POST, PUT, DELETE, OPTIONS';
const REQUEST_LINE = /^[\w-]+ \S+ HTTP\/1\.[01]\r?\n/;
/** The type of a TLS handshake, and the major version of TLS. */
const TLS_HELLO = [0x16, 0x03];

function describe({ code, rawPacket }: ParserError): {
  status: number;
  message: string;
  headers?: readonly string[];
} {
  if (code === 'HPE_INVALID_METHOD' && REQUEST_LINE.test(String(rawPacket)))
    return {
      status: 405,
      message: `Method Not Allowed: this server takes ${METHODS}, each on the paths that GET /docs lists.`,
      headers: [`allow: ${METHODS}`],
    };
  if (code === 'HPE_HEADER_OVERFLOW')
    return { status: 431, message: `The headers are over ${HEADER_BYTES_MAX} bytes. Send less in them.` };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { status: 408, message: 'The headers of the request arrived too slowly. Send it again.' };
  if (rawPacket instanceof Buffer && TLS_HELLO.every((byte, at) => rawPacket[at] === byte))
    return { status: 400, message: 'This server speaks HTTP, not TLS: its address begins with http://, not https://.' };
  return { status: 400, message: 'This is not an HTTP/1.1 request.' };
}
