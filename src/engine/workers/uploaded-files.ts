// Files that workers upload in pieces, each under its hash until a call claims it (docs/worker-protocol.md, section 6).
// Unclaimed files are removed. Knows no HTTP.
import { createWriteStream } from 'node:fs';
import { link, mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileChunks } from '#base/file-chunks';
import { makePrivateDirectory } from '#base/private-directory';
import { digestOf } from '#base/stream-digest';
import { syncPath } from '#base/sync-path';
import { createKeyedLock } from '#base/keyed-lock';
import { AppError } from '#domain/errors';
import { ADAPTER_FILES } from './offered-files.ts';
import type { WireFile } from './worker-procedures.ts';

/** A worker's upload is claimed when its call ends. */
const UNCLAIMED_MS = 3_600_000;
/** Validates a hash from a worker before it becomes part of a path. */
const SHA256 = /^[0-9a-f]{64}$/;

export interface UploadProgress {
  readonly complete: boolean;
  /** Bytes received. */
  readonly offset: number;
}

export interface UploadedFiles {
  progress(sha256: string): Promise<UploadProgress>;
  /**
   * Appends a piece. Codes: `upload_conflict` (the piece does not continue the file), `checksum_mismatch` (the complete file has
   * another hash and was removed).
   */
  append(sha256: string, piece: Piece, content: Readable): Promise<UploadProgress>;
  /**
   * Moves the complete files that `bring` uploaded into an existing directory, fsynced. If several workers upload equal files at once,
   * each uploads them once: a file claimed by one call stays available to the others. Code: `engine_failed` if a file is missing or
   * unexpected.
   */
  receive(bring: () => Promise<readonly WireFile[]>, directory: string): Promise<void>;
  close(): Promise<void>;
}

export interface Piece {
  readonly offset: number;
  readonly length: number;
  /** Size of the whole file. */
  readonly total: number;
}

/** `directory` is used by this object alone; files found there were left by a crash and are removed. */
export async function openUploadedFiles(directory: string): Promise<UploadedFiles> {
  await rm(directory, { recursive: true, force: true });
  await makePrivateDirectory(directory);
  const complete = (sha256: string) => join(directory, sha256);
  const partial = (sha256: string) => join(directory, `${sha256}.part`);
  /** Already claimed, but other calls may need it too. */
  const kept = (sha256: string) => join(directory, `${sha256}.kept`);
  const sizeOf = async (path: string) => (await stat(path).catch(() => null))?.size ?? null;
  const removals = new Map<string, NodeJS.Timeout>();
  /** By hash. */
  const locked = createKeyedLock();
  const receiving = new Set<symbol>();
  /** The calls that were receiving when a file was claimed, by its hash. */
  const keptFor = new Map<string, Set<symbol>>();

  function keepFor(sha256: string): void {
    clearTimeout(removals.get(sha256));
    const timer = setTimeout(() => void forget(sha256), UNCLAIMED_MS).unref();
    removals.set(sha256, timer);
  }
  async function forget(sha256: string): Promise<void> {
    clearTimeout(removals.get(sha256));
    removals.delete(sha256);
    await Promise.all([complete(sha256), partial(sha256)].map((path) => rm(path, { force: true })));
  }

  async function progress(sha256: string): Promise<UploadProgress> {
    const whole = await sizeOf(complete(sha256));
    if (whole !== null) return { complete: true, offset: whole };
    return { complete: false, offset: (await sizeOf(partial(sha256))) ?? 0 };
  }

  async function append(sha256: string, { offset, total }: Piece, content: Readable): Promise<UploadProgress> {
    const before = await progress(sha256);
    if (before.complete) return before;
    if (before.offset !== offset) {
      throw new AppError('upload_conflict', `The file ${sha256} continues at byte ${before.offset}, not at ${offset}.`);
    }
    keepFor(sha256);
    await pipeline(content, createWriteStream(partial(sha256), { flags: 'a', mode: 0o600 }));
    const after = await progress(sha256);
    if (after.offset < total) return after;
    const { sha256: found } = await digestOf(fileChunks(partial(sha256)));
    if (found !== sha256) {
      await forget(sha256);
      throw new AppError('checksum_mismatch', `The file uploaded as ${sha256} has the hash ${found}. Upload it again.`);
    }
    await rename(partial(sha256), complete(sha256));
    return progress(sha256);
  }

  /** Claimed by one of those that receive, `by`. */
  async function claim({ name, bytes, sha256 }: WireFile, target: string, by: symbol): Promise<void> {
    const isNamed = ADAPTER_FILES.includes(name) && SHA256.test(sha256);
    const isHere = isNamed && (await sizeOf(complete(sha256))) === bytes;
    const fault = !isNamed
      ? 'has a name that no adapter file has'
      : !isHere && (await sizeOf(kept(sha256))) !== bytes
        ? 'did not arrive completely'
        : null;
    if (fault) throw new AppError('engine_failed', `A worker's file ${JSON.stringify(name).slice(0, 100)} ${fault}.`);
    if (isHere) {
      await rename(complete(sha256), kept(sha256));
      await forget(sha256);
      const others = [...receiving].filter((other) => other !== by);
      keptFor.set(sha256, new Set([...(keptFor.get(sha256) ?? []), ...others]));
    }
    await link(kept(sha256), join(target, name));
    await syncPath(join(target, name));
    await dropKept(sha256, by);
  }

  async function dropKept(sha256: string, by: symbol): Promise<void> {
    const others = keptFor.get(sha256);
    others?.delete(by);
    if (!others || others.size > 0) return;
    keptFor.delete(sha256);
    await rm(kept(sha256), { force: true });
  }

  return {
    progress,
    append: (sha256, piece, content) => locked(sha256, () => append(sha256, piece, content)),
    async receive(bring, target) {
      const self = Symbol('receives');
      receiving.add(self);
      try {
        const files = await bring();
        await mkdir(target, { recursive: true });
        for (const file of files) await locked(file.sha256, () => claim(file, target, self));
        await syncPath(target);
      } finally {
        receiving.delete(self);
        for (const sha256 of [...keptFor.keys()]) await locked(sha256, () => dropKept(sha256, self));
      }
    },
    async close() {
      for (const timer of removals.values()) clearTimeout(timer);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
