// Directories of blobs that know their bytes: the last file under a prefix lists the checksums of the others, and who opens
// the directory gets what was put there or an error that names the file. Looked at once per prefix and path: nothing under a
// prefix changes while it is used, but what is fetched again lies elsewhere. Single blobs carry their own checksums, where somebody depends on them.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError } from '#domain/errors';
import type { BlobStore } from '../blobs.ts';
import { CHECKSUMS, parseChecksums } from '../directory-checksums.ts';

/** Prefixes remembered as good; about 100 bytes each. */
const REMEMBERED_MAX = 10_000;

export function createCheckedDirectories<B extends BlobStore>(blobs: B): B {
  /** Prefix → where it was found good. */
  const good = new Map<string, string>();
  const forget = (name: string) => {
    for (const prefix of good.keys()) if (prefix === name || prefix.startsWith(`${name}/`)) good.delete(prefix);
  };
  return {
    ...blobs,

    async putDirectory(prefix: string, directory: string) {
      forget(prefix);
      const { sizeBytes } = await blobs.putDirectory(prefix, directory);
      const checksums = Buffer.from(`${JSON.stringify(await checksumsOf(directory), null, 1)}\n`);
      await blobs.put(`${prefix}/${CHECKSUMS}`, checksums);
      return { sizeBytes };
    },

    async openDirectory(prefix: string) {
      const directory = await blobs.openDirectory(prefix);
      if (directory === null || good.get(prefix) === directory) return directory;
      const fault = await findFault(directory);
      if (fault !== null) {
        throw new AppError('damaged_data', `The stored files ${prefix} are damaged: ${fault}. Restore them from a backup, or delete what they belong to.`); // prettier-ignore
      }
      if (good.size >= REMEMBERED_MAX) good.clear();
      good.set(prefix, directory);
      return directory;
    },

    async delete(name: string) {
      forget(name);
      await blobs.delete(name);
    },
  };
}

/** By name of the file; files of an earlier put are not among them. */
async function checksumsOf(directory: string): Promise<Record<string, string>> {
  const names = (await readdir(directory)).filter((name) => name !== CHECKSUMS).sort();
  const sums: Record<string, string> = {};
  for (const name of names) sums[name] = await sha256Of(join(directory, name));
  return sums;
}

/** Null: all is as it was put. A directory without a list is older than the lists. */
async function findFault(directory: string): Promise<string | null> {
  const text = await readFile(join(directory, CHECKSUMS), 'utf8').catch(() => null);
  if (text === null) return null;
  const expected = parseChecksums(text);
  if (expected === null) return `${CHECKSUMS} is not JSON`;
  for (const [name, sum] of Object.entries(expected)) {
    const actual = await sha256Of(join(directory, name)).catch(() => null);
    if (actual === null) return `${name} cannot be read`;
    if (actual !== sum) return `${name} has other bytes than were stored`;
  }
  return null;
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
