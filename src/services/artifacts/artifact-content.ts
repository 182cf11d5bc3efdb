// The bytes of one file of a stored version, verified while they are read: reading a damaged file fails, and never ends with the
// expected number of wrong bytes.
import { createHash } from 'node:crypto';
import type { ArtifactFile, ArtifactVersion } from '#domain/artifact';
import { digestOf } from '#base/stream-digest';
import { AppError } from '#domain/errors';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';

export interface OpenFile {
  readonly file: ArtifactFile;
  readonly content: AsyncIterable<Uint8Array>;
}

/** A version with its files, and a way to read them. */
export interface OpenArtifact {
  readonly artifact: ArtifactVersion;
  /** Whether it is the latest version of its name. */
  readonly isLatest: boolean;
  /** SHA-256 by path, in hex. */
  md5s(): Promise<ReadonlyMap<string, string>>;
  /** Throws `artifact_not_found`. `from`: as in `findArtifactFile`. */
  open(path: string, from?: number): Promise<OpenFile>;
}

/** Returns null if the version has no such file or was deleted meanwhile. `from`: the number of bytes to skip at the beginning. */
export async function findArtifactFile(
  { storage, blobs }: { storage: Storage; blobs: BlobStore },
  { entity, files }: Pick<ArtifactVersion, 'entity' | 'files'>,
  path: string,
  from = 0,
): Promise<OpenFile | null> {
  const file = files.find((each) => each.path === path);
  const content = file && (await streamOf({ storage, blobs }, entity, file, from));
  return file && content ? { file, content: checked(file, content, from) } : null;
}

async function streamOf(
  { storage, blobs }: { storage: Storage; blobs: BlobStore },
  entity: string,
  { sha256 }: ArtifactFile,
  from = 0,
): Promise<AsyncIterable<Uint8Array> | null> {
  const stored = await storage.artifacts.findContent(entity, sha256);
  return stored && blobs.stream(stored.blob, from);
}

/** The bytes of an upload that belongs to no version yet. Throws `damaged_data`. */
export async function openArtifactFile(
  at: { storage: Storage; blobs: BlobStore },
  entity: string,
  file: ArtifactFile,
): Promise<AsyncIterable<Uint8Array>> {
  const content = await streamOf(at, entity, file);
  if (!content) throw damagedFile(file.path, file.sha256);
  return checked(file, content);
}

/** Files that were stored without an MD5 are read once to compute it. */
export async function md5sOf(
  { storage, blobs }: { storage: Storage; blobs: BlobStore },
  { entity, files }: Pick<ArtifactVersion, 'entity' | 'files'>,
): Promise<ReadonlyMap<string, string>> {
  const hashes = [...new Set(files.map(({ sha256 }) => sha256))];
  const bySha256 = new Map<string, string>();
  for (const { sha256, md5, blob } of await storage.artifacts.findContents(entity, 'sha256', hashes)) {
    bySha256.set(sha256, md5 ?? (await noteMd5(sha256, blob)));
  }
  return new Map(files.map(({ path, sha256 }) => [path, bySha256.get(sha256) ?? '']));

  async function noteMd5(sha256: string, blob: string): Promise<string> {
    const content = await blobs.stream(blob);
    if (!content) throw damagedFile(blob, sha256);
    const { md5 } = await digestOf(content);
    await storage.artifacts.setMd5(entity, sha256, md5);
    return md5;
  }
}

/**
 * Holds the last piece back until the checksum is verified, and passes no bytes beyond the size: a reader that has received the
 * promised number of bytes has the right ones. Throws `damaged_data`. When reading begins at `from`, only the length is checked; the
 * client that has the beginning also has the checksum.
 */
export async function* checked(
  { path, sha256, sizeBytes }: ArtifactFile,
  content: AsyncIterable<Uint8Array>,
  from = 0,
): AsyncGenerator<Uint8Array> {
  const hash = from === 0 ? createHash('sha256') : null;
  let read = from;
  let last: Uint8Array | null = null;
  for await (const chunk of content) {
    if (chunk.length === 0) continue;
    hash?.update(chunk);
    read += chunk.length;
    if (read > sizeBytes) break;
    if (last) yield last;
    last = chunk;
  }
  if (read !== sizeBytes || (hash && hash.digest('hex') !== sha256)) throw damagedFile(path, sha256);
  if (last) yield last;
}

export const damagedFile = (path: string, sha256: string): AppError =>
  new AppError(
    'damaged_data',
    `The stored file ${path} is damaged: its SHA-256 is not ${sha256}. Restore it from a backup, or delete the version that contains it and upload it again.`,
  );
