// Files between a worker and its server, from the worker's side: adapters are fetched by hash into a cache on disk, checked before
// they are used; what a trainer saved is brought in pieces (docs/worker-protocol.md, section 6).
import { createReadStream, createWriteStream } from 'node:fs';
import { link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { LRUCache } from 'lru-cache';
import pRetry from 'p-retry';
import { createId } from '#base/ids';
import { makePrivateDirectory } from '#base/private-directory';
import { digestOf } from '#base/stream-digest';
import { AppError } from '#domain/errors';
import { WORKER_PROTOCOL } from '#domain/worker-protocol';
import type { AdapterRef } from '../inference-engine.ts';
import { ADAPTER_FILES } from './offered-files.ts';
import type { UploadProgress } from './uploaded-files.ts';
import type { WireAdapter, WireFile } from './worker-procedures.ts';

const RETRIES = { retries: 5, minTimeout: 200, maxTimeout: 5_000 };
/** Of one request: a piece of an upload, or a quiet download. */
const REQUEST_MS = 120_000;

export interface WorkerFiles {
  /** A directory with these files, the caller's to remove. */
  fetch(files: readonly WireFile[]): Promise<string>;
  /** A directory that stays as long as the adapter is among those used last. */
  adapter(adapter: WireAdapter): Promise<AdapterRef>;
  /** Brings all adapter files of a directory. */
  bring(directory: string): Promise<readonly WireFile[]>;
  /** An empty directory for an engine to save into. */
  makeDirectory(): Promise<string>;
  close(): Promise<void>;
}

export interface WorkerFilesOptions {
  readonly url: string;
  readonly key: string;
  /** For it alone: what is there was left by another start. */
  readonly directory: string;
  /** On disk: half of it for files by their hashes, half for directories of adapters. What is larger than that stays alone. */
  readonly cacheBytesMax: number;
}

export async function openWorkerFiles({
  url,
  key,
  directory,
  cacheBytesMax,
}: WorkerFilesOptions): Promise<WorkerFiles> {
  await rm(directory, { recursive: true, force: true });
  await makePrivateDirectory(directory);
  const base = `${url.replace(/\/$/, '')}/v1/workers`;
  const headers = { authorization: `Bearer ${key}` };
  const maxSize = Math.max(1, Math.floor(cacheBytesMax / 2));
  const sizeOf = (files: readonly WireFile[]): number =>
    Math.min(
      maxSize,
      files.reduce((sum, { bytes }) => sum + bytes, 1),
    );
  const cached = new LRUCache<string, string>({ maxSize, dispose: (path) => void rm(path, { force: true }) });
  const adapters = new LRUCache<string, Promise<string>>({
    maxSize,
    dispose: (made) => void made.then((path) => rm(path, { recursive: true, force: true })).catch(() => {}),
  });
  const fetching = new Map<string, Promise<string>>();

  async function request(path: string, init: RequestInit & { duplex?: 'half' } = {}): Promise<Response> {
    const response = await fetch(`${base}${path}`, {
      ...init,
      headers: { ...headers, ...init.headers },
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    if (response.ok || response.status === 409) return response;
    const text = (await response.text()).slice(0, 500);
    throw new AppError('engine_unavailable', `${path} answered ${response.status}: ${text}`);
  }

  /** Gives the path of a file of this hash. */
  function fetchFile(file: WireFile): Promise<string> {
    const { sha256 } = file;
    const known = cached.get(sha256);
    if (known) return Promise.resolve(known);
    let running = fetching.get(sha256);
    if (!running) {
      running = pRetry(() => download(file), RETRIES).finally(() => fetching.delete(sha256));
      fetching.set(sha256, running);
    }
    return running;
  }

  async function download(file: WireFile): Promise<string> {
    const { sha256, bytes } = file;
    const path = join(directory, sha256);
    const partial = `${path}.part`;
    const offset = (await stat(partial).catch(() => null))?.size ?? 0;
    const response = await request(`/files/${sha256}`, offset > 0 ? { headers: { range: `bytes=${offset}-` } } : {});
    const flags = response.status === 206 ? 'a' : 'w';
    await pipeline(Readable.fromWeb(response.body as never), createWriteStream(partial, { flags }));
    const { sha256: found, sizeBytes } = await digestOf(createReadStream(partial));
    if (found !== sha256 || sizeBytes !== bytes) {
      await rm(partial, { force: true });
      throw new AppError('engine_unavailable', `The file ${sha256} arrived with the hash ${found}.`);
    }
    await rename(partial, path);
    cached.set(sha256, path, { size: sizeOf([file]) });
    return path;
  }

  async function bringFile(path: string, { sha256, bytes }: WireFile): Promise<void> {
    let { complete, offset } = (await (await request(`/uploads/${sha256}`)).json()) as UploadProgress;
    const file = await open(path);
    try {
      while (!complete) {
        const piece = Buffer.alloc(Math.min(WORKER_PROTOCOL.pieceBytesMax, bytes - offset));
        await file.read(piece, 0, piece.length, offset);
        const range = `bytes ${offset}-${offset + piece.length - 1}/${bytes}`;
        const response = await request(`/uploads/${sha256}`, {
          method: 'PUT',
          body: piece,
          headers: { 'content-range': range, 'content-type': 'application/octet-stream' },
        });
        if (response.status === 409) throw new AppError('engine_unavailable', `Another brings ${sha256}.`);
        ({ complete, offset } = (await response.json()) as UploadProgress);
      }
    } finally {
      await file.close();
    }
  }

  async function fetchAll(files: readonly WireFile[]): Promise<string> {
    const target = join(directory, createId());
    await mkdir(target);
    for (const file of files) {
      if (!ADAPTER_FILES.includes(file.name))
        throw new AppError('bad_model_files', `No adapter has a file ${file.name}.`);
      await link(await fetchFile(file), join(target, file.name)); // stays when the cache drops the other name
    }
    return target;
  }

  return {
    fetch: fetchAll,
    async adapter({ id, files }) {
      let made = adapters.get(id);
      if (!made) {
        made = fetchAll(files);
        adapters.set(id, made, { size: sizeOf(files) });
        made.catch(() => adapters.delete(id));
      }
      return { id, directory: await made };
    },
    async bring(from) {
      const brought: WireFile[] = [];
      for (const name of ADAPTER_FILES) {
        const path = join(from, name);
        if (!(await stat(path).catch(() => null))) continue;
        const { sizeBytes: bytes, sha256 } = await digestOf(createReadStream(path));
        const file = { name, bytes, sha256 };
        await pRetry(() => bringFile(path, file), RETRIES);
        brought.push(file);
      }
      return brought;
    },
    async makeDirectory() {
      const made = join(directory, createId());
      await mkdir(made);
      return made;
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}
