// The worker's side of file transfer: downloads adapters by hash into a disk cache and verifies them; uploads in pieces what a
// trainer saved (docs/worker-protocol.md, section 6).
import { createWriteStream } from 'node:fs';
import { link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pRetry from 'p-retry';
import { fileChunks } from '#base/file-chunks';
import { createId } from '#base/ids';
import { makePrivateDirectory } from '#base/private-directory';
import { limitSilence } from '#base/silence-limit';
import { digestOf } from '#base/stream-digest';
import { AppError } from '#domain/errors';
import { WORKER_PROTOCOL } from '#domain/worker-protocol';
import type { AdapterRef } from '../inference-engine.ts';
import { createDiskCache } from './disk-cache.ts';
import { ADAPTER_FILES } from './offered-files.ts';
import type { UploadProgress } from './uploaded-files.ts';
import type { WireAdapter, WireFile } from './worker-procedures.ts';

const RETRIES = { retries: 5, minTimeout: 200, maxTimeout: 5_000 };
/** Limit for one request with a small answer, and for a download that receives nothing. */
const REQUEST_MS = 120_000;

export interface WorkerFiles {
  /** Returns a directory with these files, which the caller must remove. */
  fetch(files: readonly WireFile[]): Promise<string>;
  /** The adapter's directory stays until `use` has ended, and afterwards as long as the cache keeps it. */
  usingAdapter<T>(adapter: WireAdapter, use: (adapter: AdapterRef) => Promise<T>): Promise<T>;
  /** Uploads all adapter files of a directory. */
  bring(directory: string): Promise<readonly WireFile[]>;
  /** Creates an empty directory for an engine to save into. */
  makeDirectory(): Promise<string>;
  close(): Promise<void>;
}

export interface WorkerFilesOptions {
  readonly url: string;
  readonly key: string;
  /** Used by this worker alone: existing contents are left over from an earlier start. */
  readonly directory: string;
  /** Disk space: half for files by hash, half for directories of adapters. A larger file or directory is kept alone. */
  readonly cacheBytesMax: number;
  /** Default: 120 s. Tests set a shorter limit. */
  readonly requestMs?: number;
}

export async function openWorkerFiles({
  url,
  key,
  directory,
  cacheBytesMax,
  requestMs = REQUEST_MS,
}: WorkerFilesOptions): Promise<WorkerFiles> {
  await rm(directory, { recursive: true, force: true });
  await makePrivateDirectory(directory);
  const base = `${url.replace(/\/$/, '')}/v1/workers`;
  const headers = { authorization: `Bearer ${key}` };
  const [cached, adapters] = [createDiskCache(cacheBytesMax / 2), createDiskCache(cacheBytesMax / 2)];

  async function request(path: string, init: RequestInit & { duplex?: 'half' } = {}): Promise<Response> {
    const response = await fetch(`${base}${path}`, {
      signal: AbortSignal.timeout(requestMs),
      ...init,
      headers: { ...headers, ...init.headers },
    });
    if (response.ok || response.status === 409) return response;
    const text = (await response.text()).slice(0, 500);
    throw new AppError('engine_unavailable', `${path} answered ${response.status}: ${text}`);
  }

  async function download({ sha256, bytes }: WireFile): Promise<string> {
    const partial = join(directory, `${sha256}.part`);
    const offset = (await stat(partial).catch(() => null))?.size ?? 0;
    const silence = limitSilence(requestMs);
    try {
      const headers = offset > 0 ? { range: `bytes=${offset}-` } : {};
      const { status, body } = await request(`/files/${sha256}`, { headers, signal: silence.signal });
      const flags = status === 206 ? 'a' : 'w';
      await pipeline(silence.hear(Readable.fromWeb(body as never)), createWriteStream(partial, { flags }));
    } finally {
      silence.end();
    }
    const { sha256: found, sizeBytes } = await digestOf(fileChunks(partial));
    if (found !== sha256 || sizeBytes !== bytes) {
      await rm(partial, { force: true });
      throw new AppError('engine_unavailable', `The file ${sha256} arrived with the hash ${found}.`);
    }
    const path = join(directory, createId()); // a new path each time: the cache may still be deleting the last one
    await rename(partial, path);
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
        if (response.status === 409)
          throw new AppError('engine_unavailable', `The file ${sha256} is already being uploaded.`);
        ({ complete, offset } = (await response.json()) as UploadProgress);
      }
    } finally {
      await file.close();
    }
  }

  async function fetchAll(files: readonly WireFile[]): Promise<string> {
    const target = join(directory, createId());
    await mkdir(target);
    try {
      for (const file of files) {
        if (!ADAPTER_FILES.includes(file.name))
          throw new AppError('bad_model_files', `No adapter has a file ${file.name}.`);
        const fetchFile = () => pRetry(() => download(file), RETRIES);
        // The hard link remains when the cache deletes its own.
        await cached.using(file.sha256, file.bytes, fetchFile, (path) => link(path, join(target, file.name)));
      }
    } catch (fault) {
      await rm(target, { recursive: true, force: true });
      throw fault;
    }
    return target;
  }

  return {
    fetch: fetchAll,
    usingAdapter({ id, files }, use) {
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      return adapters.using(
        id,
        bytes,
        () => fetchAll(files),
        (made) => use({ id, directory: made }),
      );
    },
    async bring(from) {
      const brought: WireFile[] = [];
      for (const name of ADAPTER_FILES) {
        const path = join(from, name);
        if (!(await stat(path).catch(() => null))) continue;
        const { sizeBytes: bytes, sha256 } = await digestOf(fileChunks(path));
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
