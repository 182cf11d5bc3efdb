// Bodies that are not read to their end. Clients that ask before sending (Expect: 100-continue) get a 100 only when reading begins.
// Bytes that arrive after an answer are read and dropped, within limits: closing a connection with unread bytes resets it, and a
// client that sends before it reads would never see the answer. Does not know why a body was refused.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

export interface LingerLimits {
  /** The connection ends after about this long without a byte of the rest. */
  readonly lingerMs: number;
  /** Maximum time, however steadily the rest arrives. */
  readonly lingerMsMax: number;
  /** Maximum size, however fast the rest arrives. */
  readonly lingerBytesMax: number;
}

const asking = new WeakMap<IncomingMessage, ServerResponse>();

/** Call when reading begins, after all checks that can refuse the request. */
export function askForBody(request: IncomingMessage): void {
  asking.get(request)?.writeContinue();
  asking.delete(request);
}

export function lingerOverBodies(server: Server, limits: LingerLimits): void {
  // With a listener, Node leaves 100 Continue to us, and closes the connection if it was not sent.
  server.on('checkContinue', (request: IncomingMessage, answer: ServerResponse) => {
    asking.set(request, answer);
    server.emit('request', request, answer);
  });
  server.on('request', (request: IncomingMessage, answer: ServerResponse) => {
    // Runs before Node's own listener, which closes the connection if this was its last answer.
    answer.prependOnceListener('finish', () => {
      if (!request.complete && !request.socket.destroyed) drop(request, limits);
    });
  });
}

/** Ticks without a byte until a stall. Turns of the event loop lie between them, so that a busy server does not mistake itself for a slow client. */
const LOOKS = 4;

function drop(request: IncomingMessage, { lingerMs, lingerMsMax, lingerBytesMax }: LingerLimits): void {
  const { socket } = request;
  release(request);
  // Node calls this to close. Ending our side tells the client that the answer is complete; the client's side may continue.
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
  const stopLooking = () => clearInterval(timer);
  socket.once('close', stopLooking);
  request.once('end', () => {
    stopLooking();
    socket.off('close', stopLooking); // the connection may carry many more requests
    socket.destroySoon = close;
    if (socket.writableEnded) close();
  });
}

/** Detaches readers that abandoned it: while one of them is attached or full, no data flows. */
function release(request: IncomingMessage): void {
  request.unpipe();
  request.removeAllListeners('readable');
  request.removeAllListeners('data');
  setImmediate(() => request.resume()); // in between, the stream recounts its listeners
}
