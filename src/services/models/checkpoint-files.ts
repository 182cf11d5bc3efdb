// The files of a checkpoint, for engines that read paths.
import type { Checkpoint } from '#domain/checkpoint';
import { AppError } from '#domain/errors';
import type { BlobStore } from '#storage/blobs';

/** Throws `damaged_data`. */
export async function getCheckpointFiles(
  blobs: Pick<BlobStore, 'findDirectory'>,
  { blobPrefix, step }: Checkpoint,
): Promise<string> {
  const directory = await blobs.findDirectory(blobPrefix);
  if (directory !== null) return directory;
  throw new AppError('damaged_data', `The files of checkpoint ${step} are gone from the blob store.`);
}
