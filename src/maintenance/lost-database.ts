// Detects at a server's start that the database does not belong to the blobs: an empty database next to blobs that are only
// stored for rows has lost its rows or is the wrong one. A server that started on it would look like new.
import { parseBlobOwner, stepZeroBlob } from '#domain/blob-names';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { BlobReader } from '#storage/blobs';
import type { Inventory } from '#storage/inventory';
import { readStoredUnits } from './stored-units.ts';

/** A fresh model's step 0. It holds random numbers from a seed: without its row, no data is lost. */
function isFresh(blob: string): boolean {
  const owner = parseBlobOwner(blob);
  return owner?.kind === 'checkpoint' && blob === stepZeroBlob(owner.modelId, 'fresh');
}
/**
 * Throws `invalid_request` that says what to do. Uploads are stored before their first row: a new server that is killed in its first
 * requests leaves any number of them, and must be able to start again. They are not deleted, in case their rows were lost.
 */
export async function refuseLostDatabase(
  inventory: Inventory,
  blobs: Pick<BlobReader, 'list'>,
  log: Log,
): Promise<void> {
  const tables = [inventory.models(), inventory.jobs(), inventory.artifactContents(), inventory.storedBlobs()];
  for (const rows of tables) for await (const _ of rows) return;
  const stored = [...(await readStoredUnits(blobs, new Map())).keys()];
  const others = stored.filter((blob) => !isFresh(blob));
  if (others.every((blob) => parseBlobOwner(blob) === null)) {
    if (others.length > 0)
      log.warn('storage.uploads_without_rows', {
        uploads: others.length,
        remedy:
          'If this server is not new, its database was lost or is the wrong one: stop the server and restore a backup.',
      });
    return;
  }
  throw new AppError(
    'invalid_request',
    `The database is empty, but the blob store has data of models, jobs or artifacts (such as ${others.at(0)}): the rows were lost, or this is the wrong database. ` +
      'Check --data and WHETSTONE_DATABASE_URL, or restore a backup into an empty store with `whetstone restore`. To start with an empty store, move the blobs away first.',
  );
}
