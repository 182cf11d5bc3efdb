// Where `doctor --repair` moves blobs that no row refers to: outside the store, under their old names, so that they can be put
// back if they turn out to be needed. Only the operator deletes them.
import { join } from 'node:path';
import type { StoreConfig } from '#config/server-config';
import { blobsPath } from '#config/data-directory';
import type { BlobStore } from '#storage/blobs';

/** The place, for messages. */
export const quarantinePlace = ({ dataDirectory, s3 }: StoreConfig, quarantine: string): string =>
  s3 ? `s3://${s3.bucket}/${s3.prefix}${quarantine}` : join(blobsPath(dataDirectory), quarantine);

/** A blob, or everything under its name. The caller deletes the original. */
export async function copyToQuarantine(blobs: BlobStore, blob: string, quarantine: string): Promise<void> {
  const under = (await blobs.list(blob)).map(({ name }) => name);
  for (const name of under.length === 0 ? [blob] : under) {
    const content = await blobs.stream(name);
    if (content !== null) await blobs.put(`${quarantine}/${name}`, content);
  }
}
