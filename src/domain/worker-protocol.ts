// Constants that both ends of a worker's connection, and the HTTP layer between them, must agree on (docs/worker-protocol.md).

export const WORKER_PROTOCOL = {
  version: 1,
  /** Subprotocol of the WebSocket. */
  subprotocol: 'whetstone.worker.v1',
  /** Maximum size of one message: a row of a million tokens is 20 MB. */
  frameBytesMax: 64 << 20,
  /** Maximum size of one upload request; longer files are sent in several. */
  pieceBytesMax: 16 << 20,
} as const;
