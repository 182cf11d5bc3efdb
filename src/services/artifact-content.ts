// The bytes of one file of a stored version.
import type { ArtifactFile, ArtifactVersion } from '#domain/artifact';
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
  return file && content ? { file, content } : null;
}
