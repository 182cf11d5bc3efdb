// The slow reference for filesystem.ts: a map. Only files that engines read by path are on disk, until the process ends.
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { invariant } from '#base/invariant';
import { parseBlobName } from '../blob-name.ts';
import type { BlobStore } from '../blobs.ts';

export function createMemoryBlobs(): BlobStore {
  const blobs = new Map<string, Uint8Array>();
  const checked = (name: string): string => parseBlobName(name).join('/');
  const under = (prefix: string) => {
    const start = `${checked(prefix)}/`;
    return [...blobs.keys()].filter((name) => name.startsWith(start)).sort();
  };

  async function put(name: string, content: Uint8Array | AsyncIterable<Uint8Array>) {
    const above = [...checked(name).matchAll(/\//g)].map((slash) => name.slice(0, slash.index));
    invariant(under(name).length === 0 && !above.some((each) => blobs.has(each)), `${name} is a blob and a prefix`);
    const parts: Uint8Array[] = [];
    if (content instanceof Uint8Array) parts.push(content);
    else for await (const part of content) parts.push(part);
    const whole = Buffer.concat(parts);
    blobs.set(name, whole);
    return { sizeBytes: whole.length };
  }

  return {
    put,
    async find(name) {
      const blob = blobs.get(checked(name));
      return blob ? Buffer.from(blob) : null;
    },
    async stream(name, from = 0) {
      const blob = blobs.get(checked(name));
      return blob ? streamOf(blob.subarray(from)) : null;
    },
    async list(prefix) {
      return under(prefix).map((name) => ({ name, sizeBytes: blobs.get(name)!.length }));
    },
    async delete(name) {
      for (const gone of [checked(name), ...under(name)]) blobs.delete(gone);
    },
    async putDirectory(prefix, directory) {
      let sizeBytes = 0;
      for (const file of (await readdir(directory)).sort())
        sizeBytes += (await put(`${prefix}/${file}`, await readFile(join(directory, file)))).sizeBytes;
      return { sizeBytes };
    },
    async findDirectory(prefix) {
      const names = under(prefix);
      if (names.length === 0) return null;
      const directory = await mkdtemp(join(directories(), 'blobs-'));
      for (const name of names) {
        const path = join(directory, name.slice(prefix.length + 1));
        await mkdir(dirname(path), { recursive: true });
        const blob = blobs.get(name);
        if (!blob) return null; // deleted meanwhile, as in S3
        await writeFile(path, blob);
      }
      return directory;
    },
  };
}

async function* streamOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

let root: string | null = null;

/** One temporary directory for everything that this process opens. */
function directories(): string {
  if (root !== null) return root;
  const made = mkdtempSync(join(tmpdir(), 'whetstone-memory-blobs-'));
  process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  return (root = made);
}
