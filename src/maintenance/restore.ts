// Copies the blobs of a backup into an empty store. Rows come after them, so that every visible row has its blobs. Blobs that an
// interrupted restore left are written again; any others are a reason to stop.
import { AppError } from '#domain/errors';
import type { BlobReader, BlobStore } from '#storage/blobs';
import type { Inventory } from '#storage/inventory';
import { copyBlobs } from './backup.ts';
import { bytesOf, countReads, type OnProgress } from './read-progress.ts';
import { readStoredRows } from './stored-references.ts';
import { readStoredUnits } from './stored-units.ts';

export interface RestoreBlobsDeps {
  readonly inventory: Inventory;
  readonly source: BlobReader;
  readonly target: BlobStore;
  readonly onProgress?: OnProgress;
}

/** Throws `invalid_request` if the target has blobs that are not in this backup. */
export async function restoreBlobs({ inventory, source, target, onProgress }: RestoreBlobsDeps): Promise<void> {
  const { references } = await readStoredRows(inventory);
  for (const blob of (await readStoredUnits(target, references)).keys()) {
    if (references.has(blob)) continue;
    throw new AppError(
      'invalid_request',
      `The blob store is not empty: it has ${blob}. A backup is restored into an empty store: choose another.`,
    );
  }
  const ofBytes = bytesOf([...references.values()], await readStoredUnits(source, references));
  let doneBytes = 0;
  const counted = countReads(source, (bytes) => onProgress?.((doneBytes += bytes), ofBytes));
  onProgress?.(doneBytes, ofBytes);
  for (const reference of references.values()) await copyBlobs(reference, counted, target);
}
