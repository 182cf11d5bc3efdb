// Decides whether a model's files are the ones from which something was made, without reading gigabytes: by names, sizes, times of
// change, and blocks of their content spread evenly. A file that was rewritten or replaced is recognized by its time, or, if the
// time was copied too, by its content. It misses only changes to single numbers by someone who also restores the time.
import { createHash, type Hash } from 'node:crypto';
import { open, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { findGgufPointer } from '#model-files/gguf/gguf-model';

/** Weights, and the index that maps tensors to shards. */
const WEIGHTS = /\.(?:safetensors|safetensors\.index\.json)$/;
const BLOCK_BYTES = 4096;
/** Per file: a megabyte is read in milliseconds. */
const BLOCKS = 256;

/** In hex. Does not include paths: a copied directory that keeps its times has the same mark. */
export async function markSource(modelPath: string): Promise<string> {
  const hash = createHash('sha256');
  for (const path of await weightFiles(modelPath)) await addFile(hash, path);
  return hash.digest('hex');
}

async function weightFiles(modelPath: string): Promise<readonly string[]> {
  if (!(await stat(modelPath)).isDirectory()) return [modelPath];
  const pointer = await findGgufPointer(modelPath);
  if (pointer !== null) return [pointer.file];
  const names = await readdir(modelPath);
  return names
    .filter((name) => WEIGHTS.test(name))
    .sort()
    .map((name) => join(modelPath, name));
}

async function addFile(hash: Hash, path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    const { size, mtimeNs } = await handle.stat({ bigint: true });
    hash.update(`${JSON.stringify(basename(path))} ${size} ${mtimeNs}\n`);
    const block = new Uint8Array(BLOCK_BYTES);
    const step = Math.max(BLOCK_BYTES, Math.floor(Number(size) / BLOCKS));
    for (let at = 0; at < size; at += step) {
      const { bytesRead } = await handle.read(block, 0, BLOCK_BYTES, at);
      hash.update(block.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}
