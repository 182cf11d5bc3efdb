// Engines that run elsewhere, as the HTTP layer meets them: their connections, the files that they exchange with this server, and
// who is there. What is said over a connection is the engine's business.
import type { Readable } from 'node:stream';
import type { WebSocket } from 'ws';
import type { WorkerReport } from '#domain/worker';

export interface UploadProgress {
  readonly complete: boolean;
  /** Bytes that have arrived. */
  readonly offset: number;
}

/** Of a file that comes in pieces, in bytes. */
export interface Piece {
  readonly offset: number;
  readonly length: number;
  readonly total: number;
}

export interface Workers {
  /** Of a caller with the scope worker. */
  accept(connection: WebSocket): void;
  list(): readonly WorkerReport[];
  /** Files of adapters that calls name, by their hashes. */
  readonly offered: {
    /** Null: none of this hash. */
    find(sha256: string): { readonly path: string; readonly bytes: number } | null;
  };
  /** Files that workers bring. */
  readonly uploaded: {
    progress(sha256: string): Promise<UploadProgress>;
    /** Codes: `upload_conflict` (it does not continue what is there), `checksum_mismatch` (the whole is another file; it is forgotten). */
    append(sha256: string, piece: Piece, content: Readable): Promise<UploadProgress>;
  };
}
