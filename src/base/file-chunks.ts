// The bytes of a file, opened when the first is asked for. A bare read stream opens at once, and an error that it reports before
// somebody listens (EMFILE, a file that has gone) ends the process; here the reader of the bytes gets it.
import { createReadStream } from 'node:fs';

export interface ChunkOptions {
  /** Skips this many bytes. */
  readonly from?: number;
  readonly chunkBytes?: number;
}

export async function* fileChunks(path: string, { from = 0, chunkBytes }: ChunkOptions = {}): AsyncGenerator<Buffer> {
  const size = chunkBytes === undefined ? {} : { highWaterMark: chunkBytes };
  const start = from === 0 ? {} : { start: from }; // a pipe has no positions
  yield* createReadStream(path, { ...start, ...size }) as AsyncIterable<Buffer>;
}
