// The progress of long work on blobs: bytes read so far, of all that will be read. Does not know what the bytes are for.
import type { BlobReader } from '#storage/blobs';
import type { StoredUnits } from './stored-units.ts';

export type OnProgress = (doneBytes: number, ofBytes: number) => void;

/** Wraps the reader; calls `onRead` with the size of each piece that is read. */
export const countReads = (blobs: BlobReader, onRead: (bytes: number) => void): BlobReader => ({
  list: (prefix) => blobs.list(prefix),
  async find(name) {
    const found = await blobs.find(name);
    onRead(found?.length ?? 0);
    return found;
  },
  async stream(name, from) {
    const content = await blobs.stream(name, from);
    return content && countedPieces(content, onRead);
  },
});

async function* countedPieces(content: AsyncIterable<Uint8Array>, onRead: (bytes: number) => void) {
  for await (const piece of content) {
    onRead(piece.length);
    yield piece;
  }
}

/** The size of the existing blobs among these. */
export const bytesOf = (references: readonly { readonly blob: string }[], units: StoredUnits): number =>
  references.reduce((sum, { blob }) => sum + (units.get(blob)?.sizeBytes ?? 0), 0);
