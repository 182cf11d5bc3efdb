// Where `doctor --repair` puts what no row refers to: out of the store's sight, under the names that it had, so that it can be put
// back when it turns out to be somebody's. Only people delete there.
import { join } from 'node:path';
import type { StoreConfig } from '#config';
import { blobsPath } from '#data-directory';
import type { BlobStore } from '#storage/blobs';

/** For people. */
export const quarantinePlace = ({ dataDirectory, s3 }: StoreConfig, quarantine: string): string =>
  s3 ? `s3://${s3.bucket}/${s3.prefix}${quarantine}` : join(blobsPath(dataDirectory), quarantine);

/** A blob, or all that is under its name. The caller deletes the original. */
export async function copyToQuarantine(blobs: BlobStore, blob: string, quarantine: string): Promise<void> {
  const under = (await blobs.list(blob)).map(({ name }) => name);
  for (const name of under.length === 0 ? [blob] : under) {
    const content = await blobs.stream(name);
    if (content !== null) await blobs.put(`${quarantine}/${name}`, content);
  }
}
