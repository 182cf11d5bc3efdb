// What both ends of a worker's connection, and the HTTP layer between them, must agree on (docs/worker-protocol.md).

export const WORKER_PROTOCOL = {
  version: 1,
  /** Of the WebSocket. */
  subprotocol: 'whetstone.worker.v1',
  /** Of one message: a row of a million tokens is 20 MB. */
  frameBytesMax: 64 << 20,
  /** Of one request that brings a file; longer files come in several. */
  pieceBytesMax: 16 << 20,
} as const;
