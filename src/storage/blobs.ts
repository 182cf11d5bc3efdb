// Bytes that are too large for rows: job bodies, adapters, logged trajectories. A blob appears whole or not at all, and
// once `put` has returned it survives power loss. Names are slash-separated segments of [A-Za-z0-9._-], no `..`;
// what is a blob has no blobs under it.
// Implemented by blobs/memory.ts, blobs/filesystem.ts and blobs/s3.ts; signed by test/contract/blobs.ts.

export interface BlobStore {
  /** Durable when it resolves: temporary name, fsync, rename, fsync of the directory. Overwrites. */
  put(name: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<{ sizeBytes: number }>;
  /** Null when there is none. The bytes are the caller's own. */
  find(name: string): Promise<Uint8Array | null>;
  /**
   * Ends whole even if the blob is overwritten or deleted meanwhile. The caller reads it or leaves its loop. `from`: so many bytes
   * at its beginning, fewer than it has, are left out and not read.
   */
  stream(name: string, from?: number): Promise<AsyncIterable<Uint8Array> | null>;
  /** Names that start with `prefix/`, sorted. */
  list(prefix: string): Promise<readonly { name: string; sizeBytes: number }[]>;
  /** The blob, and everything under `name/`. Idempotent. */
  delete(name: string): Promise<void>;
  /** Puts every file of a local directory under `prefix/`, in order of name. */
  putDirectory(prefix: string, directory: string): Promise<{ sizeBytes: number }>;
  /**
   * A local directory holding the files under `prefix/`, for engines that read paths. Read-only for the caller. Null when there are none.
   * `insteadOf`: what was given before, and is damaged; if it is a copy, it is dropped and another one is made.
   */
  findDirectory(prefix: string, insteadOf?: string): Promise<string | null>;
}

/** Of a store that must stay as it is. */
export type BlobReader = Pick<BlobStore, 'find' | 'stream' | 'list'>;
