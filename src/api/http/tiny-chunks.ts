// Ends connections that send a body in chunks of a few bytes. Node calls back for each chunk, and the event loop takes megabytes from one
// connection before it turns to the next: bodies of millions of such chunks would hold all others up for seconds. Where the chunks
// arrive is the only place in time, and reading on until an answer can be sent would do what such a client wants. Does not know whether
// the body is read or dropped.
import type { IncomingMessage, Server } from 'node:http';

/** Chunks of any size. */
const FREE_CHUNKS = 8_192;
/** On average, of further chunks. Python's `json.JSONEncoder().iterencode` makes larger ones. */
const CHUNK_BYTES_MIN = 4;

const ended = new WeakSet<IncomingMessage>();

/** Whether its connection was ended for this reason. */
export const hadTinyChunks = (request: IncomingMessage): boolean => ended.has(request);

export function endTinyChunks(server: Server): void {
  server.prependListener('request', (request: IncomingMessage) => {
    if (request.headers['transfer-encoding'] === undefined) return;
    const push = request.push.bind(request);
    let [chunks, bytes] = [0, 0];
    request.push = (chunk: Buffer | null, encoding) => {
      if (chunk === null) return push(chunk, encoding);
      chunks++;
      bytes += chunk.length;
      if (chunks <= FREE_CHUNKS + bytes / CHUNK_BYTES_MIN) return push(chunk, encoding);
      ended.add(request);
      request.socket.destroy();
      return false;
    };
  });
}
