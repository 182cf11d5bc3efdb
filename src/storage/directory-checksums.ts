// The list of checksums that completes a directory of blobs: its name and its format. blobs/checked-directories.ts writes and
// checks it.
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';
import type { BlobReader } from './blobs.ts';

export const CHECKSUMS = 'checksums.json';

/** Null: the directory was written before lists existed. Throws `damaged_data`. */
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

/** SHA-256 in hex, by file name. Null: the text is not such a list. */
export function parseChecksums(text: string): Readonly<Record<string, string>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as Record<string, string>) : null;
  } catch {
    return null;
  }
}
