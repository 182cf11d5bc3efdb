// Blobs as files below one directory. A blob is written under a temporary name, fsynced and renamed, so that it appears
// whole or not at all; the directory is fsynced too, so that the name survives power loss.
import { createReadStream, type Dirent } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createId } from '#base/ids';
import { parseBlobName } from '../blob-name.ts';
import type { BlobStore } from '../blobs.ts';

/** Beside the blobs, on the same file system, under a name no blob can have. */
const TEMPORARY = '.temporary';

export async function openFilesystemBlobs({ root }: { root: string }): Promise<BlobStore> {
  const base = resolve(root);
  const temporary = join(base, TEMPORARY);
  await rm(temporary, { recursive: true, force: true }); // what a crash left half-written
  await mkdir(temporary, { recursive: true });
  const pathOf = (name: string): string => join(base, ...parseBlobName(name));

  async function put(name: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<{ sizeBytes: number }> {
    const path = pathOf(name);
    const unfinished = join(temporary, createId());
    try {
      const sizeBytes = await writeDurably(unfinished, content);
      await makeDirectory(dirname(path), base);
      await rename(unfinished, path);
      await syncDirectory(dirname(path));
      return { sizeBytes };
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  return {
    put,

    find: (name) => readFile(pathOf(name)).catch(nullIfMissing),

    async stream(name) {
      const path = pathOf(name);
      const found = await stat(path).catch(nullIfMissing);
      return found?.isFile() ? createReadStream(path) : null;
    },

    async list(prefix) {
      const directory = pathOf(prefix);
      const found: { name: string; sizeBytes: number }[] = [];
      for await (const file of walk(directory)) {
        found.push({ name: `${prefix}/${file}`, sizeBytes: (await stat(join(directory, file))).size });
      }
      return found.sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    async delete(name) {
      await rm(pathOf(name), { recursive: true, force: true });
    },

    async putDirectory(prefix, directory) {
      for (const file of (await readdir(directory)).sort()) {
        await put(`${prefix}/${file}`, createReadStream(join(directory, file)));
      }
    },

    async openDirectory(prefix) {
      const path = pathOf(prefix);
      const found = await stat(path).catch(nullIfMissing);
      return found?.isDirectory() ? path : null;
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

/** mkdir -p whose every new entry is fsynced in its parent. */
async function makeDirectory(path: string, base: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let at = path; at !== base && at.length >= dirname(first).length; at = dirname(at))
    await syncDirectory(dirname(at));
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
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

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(error.code ?? '')) return null;
  throw error;
}
