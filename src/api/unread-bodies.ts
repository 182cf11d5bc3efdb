// Bodies that are not read to their end. Clients that ask before they send (Expect: 100-continue) are told to go on only where
// reading begins. What comes after an answer is taken and dropped, within bounds: closing a connection over bytes that nobody
// took resets it, and a client that sends before it reads never sees the answer. Why a body was refused it does not know.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

export interface LingerLimits {
  /** Without a byte of the rest for about this long, the connection ends. */
  readonly lingerMs: number;
  /** However steadily the rest comes. */
  readonly lingerMsMax: number;
  /** However fast it comes. */
  readonly lingerBytesMax: number;
}

const asking = new WeakMap<IncomingMessage, ServerResponse>();

/** Call where reading begins, after all that can be refused before. */
export function askForBody(request: IncomingMessage): void {
  asking.get(request)?.writeContinue();
  asking.delete(request);
}

export function lingerOverBodies(server: Server, limits: LingerLimits): void {
  // With a listener, Node leaves it to us when to say 100 Continue, and closes the connection where nobody did.
  server.on('checkContinue', (request: IncomingMessage, answer: ServerResponse) => {
    asking.set(request, answer);
    server.emit('request', request, answer);
  });
  server.on('request', (request: IncomingMessage, answer: ServerResponse) => {
    // Before Node's own listener, which closes the connection where this was its last answer.
    answer.prependOnceListener('finish', () => {
      if (!request.complete && !request.socket.destroyed) drop(request, limits);
    });
  });
}

/** Of them without a byte: a stall. Turns of the event loop lie between, so that a busy server does not take itself for a slow client. */
const LOOKS = 4;

function drop(request: IncomingMessage, { lingerMs, lingerMsMax, lingerBytesMax }: LingerLimits): void {
  const { socket } = request;
  release(request);
  // What Node calls to close. That our side has ended tells the client that this was all; its side may go on.
  socket.destroySoon = () => void socket.end();
  const close = () => Socket.prototype.destroySoon.call(socket);
  const startMs = performance.now();
  const startBytes = socket.bytesRead;
  let [seenBytes, quietLooks] = [startBytes, 0];
  const timer = setInterval(() => {
    quietLooks = socket.bytesRead === seenBytes ? quietLooks + 1 : 0;
    seenBytes = socket.bytesRead;
    const over = performance.now() - startMs > lingerMsMax || seenBytes - startBytes > lingerBytesMax;
    if (over || quietLooks === LOOKS) close();
  }, lingerMs / LOOKS);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
  request.once('end', () => {
    clearInterval(timer);
    socket.destroySoon = close;
    if (socket.writableEnded) close();
  });
}

/** From readers that gave it up: while one of them waits or is full, nothing flows. */
function release(request: IncomingMessage): void {
  request.unpipe();
  request.removeAllListeners('readable');
  request.removeAllListeners('data');
  setImmediate(() => request.resume()); // the stream counts its listeners again in between
}
