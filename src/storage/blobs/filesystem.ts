// Blobs as files below one directory. A blob is written under a temporary name, fsynced and renamed, so that it appears
// completely or not at all; the directories above it are fsynced too, so that its name survives power loss. A symbolic link
// that leads out of the directory is refused: nothing is read, written or deleted through it.
import type { Dirent } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { fileChunks } from '#base/file-chunks';
import { createId } from '#base/ids';
import { syncPath } from '#base/sync-path';
import { AppError } from '#domain/errors';
import { parseBlobName } from '../blob-name.ts';
import type { BlobReader, BlobStore } from '../blobs.ts';

/** Next to the blobs, on the same file system, under a name that no blob can have. */
const TEMPORARY = '.temporary';

/** For one process at a time: it removes files that a crash left incomplete. */
export async function prepareFilesystemBlobs({ root }: { root: string }): Promise<BlobStore> {
  await mkdir(root, { recursive: true });
  const base = await realpath(resolve(root));
  const temporary = join(base, TEMPORARY);
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary);
  await syncPath(dirname(base));
  return filesBelow(base, temporary);
}

/** For reading while a server may be writing. Changes nothing, not even a crash's leftovers. A missing directory counts as empty. */
export async function prepareFilesystemReader({ root }: { root: string }): Promise<BlobReader> {
  const base = (await realpath(resolve(root)).catch(nullIfMissing)) ?? resolve(root);
  return filesBelow(base, join(base, TEMPORARY));
}

function filesBelow(base: string, temporary: string): BlobStore {
  /** Throws `invalid_request` for an invalid name, and for one that a symbolic link takes out of the directory. */
  async function pathOf(name: string): Promise<string> {
    const path = join(base, ...parseBlobName(name));
    for (let at = path; at !== base; at = dirname(at)) {
      const real = await realpath(at).catch(nullIfMissing);
      // It does not exist, or another put has just created it: its parent decides.
      if (real === null && !(await lstat(at).catch(nullIfMissing))?.isSymbolicLink()) continue;
      if (real?.startsWith(`${base}${sep}`)) return path;
      throw new AppError(
        'invalid_request',
        `Blob ${name} is behind a symbolic link that leads out of the blob directory.`,
      );
    }
    return path;
  }

  async function put(name: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<{ sizeBytes: number }> {
    const path = await pathOf(name);
    const unfinished = join(temporary, createId());
    try {
      const sizeBytes = await writeDurably(unfinished, content);
      await mkdir(dirname(path), { recursive: true });
      await rename(unfinished, path);
      // All of them, each time: an existing directory may have been created by another put and not be synced yet.
      for (let at = dirname(path); at.length >= base.length; at = dirname(at)) await syncPath(at);
      return { sizeBytes };
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  return {
    put,

    find: async (name) => readFile(await pathOf(name)).catch(nullIfMissing),

    async stream(name, from = 0) {
      const file = await open(await pathOf(name), 'r').catch(nullIfMissing); // an open file survives a delete
      if (!file) return null;
      if ((await file.stat()).isFile()) return file.createReadStream({ start: from });
      await file.close();
      return null;
    },

    async list(prefix) {
      const directory = await pathOf(prefix);
      const found: { name: string; sizeBytes: number }[] = [];
      for await (const file of walk(directory)) {
        const known = await stat(join(directory, file)).catch(nullIfMissing); // null: deleted after the directory was listed
        if (known) found.push({ name: `${prefix}/${file}`, sizeBytes: known.size });
      }
      return found.sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    async delete(name) {
      await rm(await pathOf(name), { recursive: true, force: true }).catch(nullIfMissing);
    },

    async putDirectory(prefix, directory) {
      let sizeBytes = 0;
      for (const file of (await readdir(directory)).sort()) {
        sizeBytes += (await put(`${prefix}/${file}`, fileChunks(join(directory, file)))).sizeBytes;
      }
      return { sizeBytes };
    },

    async findDirectory(prefix) {
      const directory = await pathOf(prefix);
      for await (const _ of walk(directory)) return directory;
      return null; // does not exist, or became empty when its blobs were deleted
    },
  };
}

async function writeDurably(path: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<number> {
  const file = await open(path, 'wx');
  try {
    await writeFile(file, content);
    await file.sync();
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

/** Regular files below a directory, slash-separated. Symbolic links are not followed. */
async function* walk(directory: string, prefix = ''): AsyncGenerator<string> {
  const entries: Dirent[] = (await readdir(directory, { withFileTypes: true }).catch(nullIfMissing)) ?? [];
  for (const entry of entries) {
    if (entry.isDirectory()) yield* walk(join(directory, entry.name), `${prefix}${entry.name}/`);
    else if (entry.isFile()) yield `${prefix}${entry.name}`;
  }
}

/** ENOTDIR: a blob exists where the name needs a directory. EISDIR: the reverse. */
function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(error.code ?? '')) return null;
  throw error;
}
