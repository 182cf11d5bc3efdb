// Artifacts and local files: a directory becomes a version, a version becomes a directory. Files that the server has are not
// sent again, files that are there are not fetched again, and a version appears whole or not at all on both sides.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, type Dirent } from 'node:fs';
import { lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Artifact, ArtifactManifest, Client } from './client.ts';

/** What is wrong with files on this machine, or with what arrived. */
export class ArtifactFilesError extends Error {
  override readonly name = 'ArtifactFilesError';
}

export interface PushOptions extends Omit<ArtifactManifest, 'files'> {
  readonly onFile?: (path: string, state: 'sent' | 'there') => void;
}

/** `source` is a file or a directory. Throws for a symbolic link: what it leads to is not the caller's say. */
export async function pushArtifact(
  client: Client,
  name: string,
  source: string,
  { onFile, ...about }: PushOptions = {},
): Promise<Artifact> {
  const local = (await stat(source)).isDirectory() ? await walk(source) : [basename(source)];
  const root = local.length === 1 && local[0] === basename(source) ? dirname(source) : source;
  if (local.length === 0) throw new ArtifactFilesError(`${source} has no files.`);
  const files: { path: string; sha256: string }[] = [];
  for (const path of local) files.push({ path, sha256: await hashOf(join(root, path)) });
  const manifest: ArtifactManifest = { ...about, files };
  let committed = await client.commitArtifact(name, manifest);
  if ('missing' in committed) {
    const missing = new Set(committed.missing);
    for (const { path, sha256 } of files) {
      const state = missing.delete(sha256) ? 'sent' : 'there';
      if (state === 'sent') {
        const content = Readable.toWeb(createReadStream(join(root, path))) as ReadableStream;
        await client.uploadArtifactFile(name, path, content, sha256, AbortSignal.timeout(UPLOAD_MS_MAX));
      }
      onFile?.(path, state);
    }
    committed = await client.commitArtifact(name, manifest);
  }
  if ('missing' in committed)
    throw new ArtifactFilesError(`The server lost files of ${name} that were just sent. Push again.`);
  return committed;
}

const UPLOAD_MS_MAX = 24 * 60 * 60 * 1000;

/**
 * Into `directory`, which is made. Throws for files whose bytes are not those of the version. What had arrived when a pull ended early
 * stays beside its file as `.part`: the next pull goes on behind it.
 */
export async function pullArtifact(
  client: Client,
  name: string,
  directory: string,
  onFile?: (path: string, state: 'fetched' | 'there') => void,
): Promise<Artifact> {
  const artifact = await client.getArtifact(name);
  const fixed = `${artifact.entity}/${artifact.project}/${artifact.name}:${artifact.version}`;
  for (const file of artifact.files) {
    const { path, sha256, size_bytes: size } = file;
    const target = join(directory, checkedPath(path));
    await refuseLinks(directory, path);
    const known = await stat(target).catch(() => null);
    if (known?.size === size && (await hashOf(target)) === sha256) {
      onFile?.(path, 'there');
      continue;
    }
    await mkdir(dirname(target), { recursive: true });
    const part = `${path}.${sha256.slice(0, 12)}.part`;
    await refuseLinks(directory, part);
    const unfinished = join(directory, part);
    await fetchRest(client, fixed, file, unfinished);
    if ((await hashOf(unfinished)) !== sha256) {
      await rm(unfinished);
      throw new ArtifactFilesError(`${path} arrived damaged. Pull again.`);
    }
    await rename(unfinished, target);
    onFile?.(path, 'fetched');
  }
  return artifact;
}

/** Where nothing is left to fetch, nothing is asked for. */
async function fetchRest(
  client: Client,
  name: string,
  { path, sha256, size_bytes: size }: Artifact['files'][number],
  unfinished: string,
): Promise<void> {
  const bytes = (await stat(unfinished).catch(() => null))?.size ?? 0;
  if (bytes === size && size > 0) return;
  const signal = AbortSignal.timeout(UPLOAD_MS_MAX);
  const rest =
    bytes > 0 && bytes < size ? await client.resumeArtifactFile(name, path, { bytes, sha256 }, signal) : null;
  const content = rest ?? (await client.downloadArtifactFile(name, path, signal));
  await pipeline(Readable.fromWeb(content), createWriteStream(unfinished, { flags: rest ? 'a' : 'w' }));
}

/** A server is not trusted with paths outside of the directory. */
function checkedPath(path: string): string {
  if (path.split(/[/\\]/).some((segment) => segment === '' || segment === '..') || /^[a-z]:/i.test(path))
    throw new ArtifactFilesError(`The file ${JSON.stringify(path)} would lie outside of the directory.`);
  return path;
}

async function refuseLinks(directory: string, path: string): Promise<void> {
  let at = directory;
  for (const segment of path.split('/')) {
    at = join(at, segment);
    const found = await lstat(at).catch(() => null);
    if (found?.isSymbolicLink())
      throw new ArtifactFilesError(`${at} is a symbolic link: nothing is written through it. Remove it.`);
  }
}

/** Regular files below a directory, slash-separated, sorted. */
async function walk(directory: string, prefix = ''): Promise<string[]> {
  const entries: Dirent[] = await readdir(directory, { withFileTypes: true });
  const nested = entries.map(async (entry) => {
    const path = `${prefix}${entry.name}`;
    if (entry.isSymbolicLink())
      throw new ArtifactFilesError(`${join(directory, entry.name)} is a symbolic link. Push what it leads to.`);
    if (entry.isDirectory()) return walk(join(directory, entry.name), `${path}/`);
    return entry.isFile() ? [path] : [];
  });
  return (await Promise.all(nested)).flat().sort();
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}
