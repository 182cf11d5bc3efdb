// Bytes that are too large for rows: job bodies, adapters, logged trajectories. A blob appears completely or not at all, and
// once `put` has returned it survives power loss. Names are slash-separated segments of [A-Za-z0-9._-], no `..`;
// no blob's name is a prefix directory of another.
// Implemented by blobs/memory.ts, blobs/filesystem.ts and blobs/s3.ts; contract suite: test/support/contract/blobs.ts.

export interface BlobStore {
  /** Durable when it resolves: temporary name, fsync, rename, fsync of the directory. Overwrites. */
  put(name: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<{ sizeBytes: number }>;
  /** Null if there is none. The caller may modify the bytes. */
  find(name: string): Promise<Uint8Array | null>;
  /**
   * Returns the complete blob even if it is overwritten or deleted meanwhile. The caller must read to the end or leave the loop.
   * `from`: skips this many bytes at the beginning, fewer than the blob has.
   */
  stream(name: string, from?: number): Promise<AsyncIterable<Uint8Array> | null>;
  /** Names that start with `prefix/`, sorted. */
  list(prefix: string): Promise<readonly { name: string; sizeBytes: number }[]>;
  /** The blob, and everything under `name/`. Idempotent. */
  delete(name: string): Promise<void>;
  /** Puts every file of a local directory under `prefix/`, in order of name. */
  putDirectory(prefix: string, directory: string): Promise<{ sizeBytes: number }>;
  /**
   * A local directory holding the files under `prefix/`, for engines that read paths. Read-only for the caller. Null if there are none.
   * `insteadOf`: a previously returned path that is damaged; if it is a copy, it is dropped and fetched again.
   */
  findDirectory(prefix: string, insteadOf?: string): Promise<string | null>;
}

/** For a store that must not be changed. */
export type BlobReader = Pick<BlobStore, 'find' | 'stream' | 'list'>;
