// Workers as the HTTP layer sees them: their connections, the files that they exchange with this server, and the list of workers. The
// engine layer interprets the messages.
import type { Readable } from 'node:stream';
import type { WebSocket } from 'ws';
import type { WorkerReport } from '#domain/worker';

export interface UploadProgress {
  readonly complete: boolean;
  /** Bytes that have arrived. */
  readonly offset: number;
}

/** Total size of a file that comes in pieces. */
export interface Piece {
  readonly offset: number;
  readonly length: number;
  readonly total: number;
}

export interface Workers {
  /** The caller's key has the scope `worker`; `mayStay`: whether it still has. */
  accept(connection: WebSocket, mayStay: () => Promise<boolean>): void;
  list(): readonly WorkerReport[];
  /** Files of adapters that calls refer to, by hash. */
  readonly offered: {
    /** Null: there is no file with this hash. */
    find(sha256: string): { readonly path: string; readonly bytes: number } | null;
  };
  /** Files that workers upload. */
  readonly uploaded: {
    progress(sha256: string): Promise<UploadProgress>;
    /** Codes: `upload_conflict` (does not continue what has arrived), `checksum_mismatch` (the complete file has another hash and is dropped). */
    append(sha256: string, piece: Piece, content: Readable): Promise<UploadProgress>;
  };
}
