// The list of checksums that ends a directory of blobs: its name and its form. Who writes it and when is
// blobs/checked-directories.ts.
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';
import type { BlobReader } from './blobs.ts';

export const CHECKSUMS = 'checksums.json';

/** Null: the directory is older than the lists. Throws `damaged_data`. */
export async function findChecksums(
  blobs: Pick<BlobReader, 'find'>,
  prefix: string,
): Promise<Readonly<Record<string, string>> | null> {
  const list = await blobs.find(`${prefix}/${CHECKSUMS}`);
  if (list === null) return null;
  const checksums = parseChecksums(Buffer.from(list).toString('utf8'));
  if (checksums) return checksums;
  throw new AppError('damaged_data', `The stored list ${prefix}/${CHECKSUMS} is damaged. Restore it from a backup.`);
}

/** SHA-256 in hex, by name of the file. Null: that is no such list. */
export function parseChecksums(text: string): Readonly<Record<string, string>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as Record<string, string>) : null;
  } catch {
    return null;
  }
}
