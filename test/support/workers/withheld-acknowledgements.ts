// The server's end of a worker's connection stops acknowledging, whatever the server itself has read: for tests of what a worker
// does then (docs/worker-protocol.md, section 2).
import type { WebSocket } from 'ws';
import { decodeMessage, encodeMessage } from '#engine/rpc/codec';

type Frame = readonly [seq: number, ack: number, message: unknown];
const frameOf = (bytes: Uint8Array) => decodeMessage(bytes) as Frame;

export interface WithheldAcknowledgements {
  /** Received from the worker and not acknowledged. */
  readonly unackedBytes: number;
  /** Acknowledges what was received, and continues as the server does. */
  release(): void;
}

export function withholdAcknowledgements(socket: WebSocket): WithheldAcknowledgements {
  const send = socket.send.bind(socket) as (bytes: Uint8Array, sent?: (error?: Error) => void) => void;
  /** The first acknowledged number from now on, repeated in every later message. */
  let said: number | null = null;
  let latest = 0;
  let unackedBytes = 0;
  socket.send = (bytes: Uint8Array, sent?: unknown) => {
    const [seq, ack, message] = frameOf(bytes);
    said ??= ack;
    latest = ack;
    send(encodeMessage([seq, said, message]), sent as () => void);
  };
  const count = (bytes: Buffer) => {
    const [seq] = frameOf(bytes);
    if (seq > (said ?? 0)) unackedBytes += bytes.length;
  };
  socket.on('message', count);
  return {
    get unackedBytes() {
      return unackedBytes;
    },
    release() {
      socket.off('message', count);
      socket.send = send as WebSocket['send'];
      send(encodeMessage([0, latest, null]));
    },
  };
}
