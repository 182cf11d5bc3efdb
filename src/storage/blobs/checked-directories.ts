// Directories of blobs with checksums: the last file under a prefix lists the checksums of the others. Opening a directory returns
// exactly what was put there, or throws an error that names the damaged file. A damaged local copy is fetched again on each opening,
// because the store may have been repaired in the meantime. Files that passed are checked again when the file system reports a change.
// Single blobs have checksums of their own where needed.
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { LRUCache } from 'lru-cache';
import { fileChunks } from '#base/file-chunks';
import { AppError } from '#domain/errors';
import type { BlobStore } from '../blobs.ts';
import { CHECKSUMS, parseChecksums } from '../directory-checksums.ts';

/** Number of prefixes remembered as good; about 100 bytes each. */
const REMEMBERED_MAX = 10_000;

export function createCheckedDirectories<B extends BlobStore>(blobs: B): B {
  /** Prefix → the stamp of the files that were found good. */
  const good = new LRUCache<string, string>({ max: REMEMBERED_MAX });
  const forget = (name: string) => {
    for (const prefix of [...good.keys()]) if (prefix === name || prefix.startsWith(`${name}/`)) good.delete(prefix);
  };

  /** Null: everything is intact. */
  async function findFault(prefix: string, directory: string): Promise<string | null> {
    const stamp = await stampOf(directory);
    if (good.get(prefix) === stamp) return null;
    const fault = await findDamage(directory);
    if (fault === null) good.set(prefix, stamp);
    return fault;
  }

  return {
    ...blobs,

    async putDirectory(prefix: string, directory: string) {
      forget(prefix);
      const { sizeBytes } = await blobs.putDirectory(prefix, directory);
      const checksums = Buffer.from(`${JSON.stringify(await checksumsOf(directory), null, 1)}\n`);
      await blobs.put(`${prefix}/${CHECKSUMS}`, checksums);
      return { sizeBytes };
    },

    async findDirectory(prefix: string) {
      const directory = await blobs.findDirectory(prefix);
      if (directory === null || (await findFault(prefix, directory)) === null) return directory;
      const again = await blobs.findDirectory(prefix, directory);
      const fault = again === null ? null : await findFault(prefix, again);
      if (fault === null) return again;
      throw new AppError(
        'damaged_data',
        `The stored files ${prefix} are damaged: ${fault}. Restore them from a backup, or delete what they belong to.`,
      );
    },

    async delete(name: string) {
      forget(name);
      await blobs.delete(name);
    },
  };
}

/** By file name; files of an earlier put are not included. */
async function checksumsOf(directory: string): Promise<Record<string, string>> {
  const names = (await readdir(directory)).filter((name) => name !== CHECKSUMS).sort();
  const sums: Record<string, string> = {};
  for (const name of names) sums[name] = await sha256Of(join(directory, name));
  return sums;
}

/** Changes when a file is written, replaced or removed, or when the directory moves. */
async function stampOf(directory: string): Promise<string> {
  const names = (await readdir(directory).catch(() => [])).sort();
  const stamps = names.map(async (name) => {
    const { size, mtimeMs, ctimeMs } = await stat(join(directory, name)).catch(() => ({
      size: 0,
      mtimeMs: 0,
      ctimeMs: 0,
    }));
    return [name, size, mtimeMs, ctimeMs];
  });
  return JSON.stringify([directory, ...(await Promise.all(stamps))]);
}

/** A directory without a list was written before lists existed. */
async function findDamage(directory: string): Promise<string | null> {
  const text = await readFile(join(directory, CHECKSUMS), 'utf8').catch(nullIfUnreadable);
  if (text === null) return null;
  const expected = parseChecksums(text);
  if (expected === null) return `${CHECKSUMS} is not JSON`;
  for (const [name, sum] of Object.entries(expected)) {
    const actual = await sha256Of(join(directory, name)).catch(nullIfUnreadable);
    if (actual === null) return `${name} cannot be read`;
    if (actual !== sum) return `${name} has changed since it was stored`;
  }
  return null;
}

/** Too many open files of this process say nothing about this one. */
function nullIfUnreadable(error: NodeJS.ErrnoException): null {
  if (error.code === 'EMFILE' || error.code === 'ENFILE') throw error;
  return null;
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(fileChunks(path), hash);
  return hash.digest('hex');
}
