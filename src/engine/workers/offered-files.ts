// Files that workers may fetch by hash: those of adapters and saved training states that the server has handed to a worker.
// Knows no HTTP and no checkpoints.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { readBoundedText } from '#base/bounded-file';
import { fileChunks } from '#base/file-chunks';
import { digestOf } from '#base/stream-digest';
import { AppError } from '#domain/errors';
import { HEAD_MODULE } from '#model-files/decoder-parameters';
import { parsePeftConfig } from '#model-files/peft-config';
import { ADAPTER_CONFIG_FILE } from '#model-files/peft-directory';
import type { AdapterRef } from '../inference-engine.ts';
import type { WireAdapter, WireFile } from './worker-procedures.ts';

/** Adapters whose hashes are kept: more than the samplers hold. */
const ADAPTERS_MAX = 4_096;
const FILES_MAX = 4 * ADAPTERS_MAX;

/** All files that an engine reads or writes in a directory. */
export const ADAPTER_FILES: readonly string[] = [
  'adapter_config.json',
  'adapter_model.safetensors',
  'optimizer.safetensors',
  'gradients.safetensors',
];

export interface OfferedFile {
  readonly path: string;
  readonly bytes: number;
}

export interface OfferedFiles {
  /** Reads the files to compute their hashes, once per id. */
  adapter(adapter: AdapterRef): Promise<WireAdapter>;
  /** Whether it adapts the output head, which not every sampler supports. */
  isOnHead(adapter: AdapterRef): Promise<boolean>;
  directory(directory: string): Promise<readonly WireFile[]>;
  /** Returns null if no worker was given a file of this hash, or too long ago. */
  find(sha256: string): OfferedFile | null;
}

export function createOfferedFiles(): OfferedFiles {
  const adapters = new LRUCache<string, Promise<WireAdapter>>({ max: ADAPTERS_MAX });
  const files = new LRUCache<string, OfferedFile>({ max: FILES_MAX });
  const onHead = new LRUCache<string, boolean>({ max: ADAPTERS_MAX });

  async function offer(directory: string): Promise<readonly WireFile[]> {
    const entries = await readdir(directory).catch((cause: unknown) => {
      throw new AppError('bad_model_files', `There is no adapter in ${directory}.`, { cause });
    });
    const names = ADAPTER_FILES.filter((name) => entries.includes(name));
    return Promise.all(
      names.map(async (name) => {
        const path = join(directory, name);
        const { sizeBytes: bytes, sha256 } = await digestOf(fileChunks(path));
        files.set(sha256, { path, bytes });
        return { name, bytes, sha256 };
      }),
    );
  }

  return {
    async adapter({ id, directory }) {
      const known = adapters.get(id);
      if (known && (await isThere(await known, files))) return known;
      const hashed = offer(directory).then((offered) => ({ id, files: offered }));
      adapters.set(id, hashed);
      hashed.catch(() => adapters.delete(id));
      return hashed;
    },
    async isOnHead({ id, directory }) {
      const known = onHead.get(id);
      if (known !== undefined) return known;
      const path = join(directory, ADAPTER_CONFIG_FILE);
      const json = await readBoundedText(path).catch((cause: unknown) => {
        throw new AppError('bad_model_files', `There is no adapter in ${directory}.`, { cause });
      });
      const found = parsePeftConfig(json, path).targets.includes(HEAD_MODULE);
      onHead.set(id, found);
      return found;
    },
    directory: offer,
    find: (sha256) => files.get(sha256) ?? null,
  };
}

/** Local copies from a remote store are evicted and fetched again, so a hashed file may now be at another path. */
async function isThere(adapter: WireAdapter, files: LRUCache<string, OfferedFile>): Promise<boolean> {
  const paths = adapter.files.map(({ sha256 }) => files.get(sha256)?.path);
  const found = await Promise.all(
    paths.map(async (path) => path !== undefined && (await stat(path).catch(() => null))),
  );
  return found.every(Boolean);
}
