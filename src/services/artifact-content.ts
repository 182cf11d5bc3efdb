// The bytes of one file of a stored version, checked while they are read: a file that is damaged ends in an error, never in
// other bytes that look whole.
import { createHash } from 'node:crypto';
import type { ArtifactFile, ArtifactVersion } from '#domain/artifact';
import { AppError } from '#domain/errors';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';

export interface OpenFile {
  readonly file: ArtifactFile;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Null: the version has no such file, or was deleted meanwhile. */
export async function openArtifactFile(
  { storage, blobs }: { storage: Storage; blobs: BlobStore },
  { entity, files }: Pick<ArtifactVersion, 'entity' | 'files'>,
  path: string,
): Promise<OpenFile | null> {
  const file = files.find((each) => each.path === path);
  const stored = file && (await storage.artifacts.findContent(entity, file.sha256));
  const content = stored && (await blobs.stream(stored.blob));
  return file && content ? { file, content: checked(file, content) } : null;
}

/** Throws `damaged_data` at the end, where it is. */
async function* checked(
  { path, sha256 }: ArtifactFile,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('hex') === sha256) return;
  throw new AppError('damaged_data', `The stored file ${path} is damaged: its bytes have another SHA-256 than ${sha256}. Upload it again.`); // prettier-ignore
}
