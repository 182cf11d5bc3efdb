// Transfers artifacts and checkpoints between a server and local files: a directory becomes a version, and a version a directory.
// Existing files are not transferred again, and a version appears completely or not at all on both sides.
import { createHash } from 'node:crypto';
import { createReadStream, type Dirent } from 'node:fs';
import { lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { Artifact, ArtifactManifest, Client } from './client.ts';
import { ArtifactFilesError, receive, type OnBytes } from './received-file.ts';
import { isObject } from './answers.ts';
import { insist, PUSH, type OnConnection } from './retry.ts';

export { ArtifactFilesError, type OnBytes } from './received-file.ts';

export interface PushOptions extends Omit<ArtifactManifest, 'files'> {
  readonly onFile?: (path: string, state: 'sent' | 'there') => void;
  /** Counts the bytes of all files together. */
  readonly onBytes?: OnBytes;
  readonly onConnection?: OnConnection;
}

export interface PullOptions {
  /** Ends the transfer. Default: a day. */
  readonly signal?: AbortSignal;
  readonly onFile?: (path: string, state: 'fetched' | 'there') => void;
  /** Counts the bytes of all files together. */
  readonly onBytes?: OnBytes;
  readonly onConnection?: OnConnection;
}

/**
 * `source` is a file or a directory. A file is sent again if the connection is lost or the server fails (5xx). Throws for a symbolic
 * link: its target may not be what the caller meant to publish.
 */
export async function pushArtifact(
  client: Client,
  name: string,
  source: string,
  { onFile, onBytes = () => {}, onConnection, ...about }: PushOptions = {},
): Promise<Artifact> {
  const isDirectory = (await stat(source)).isDirectory();
  const local = isDirectory ? await walk(source) : [basename(source)];
  const root = isDirectory ? source : dirname(source);
  if (local.length === 0) throw new ArtifactFilesError(`${source} has no files.`);
  const sizes = new Map<string, number>();
  for (const path of local) sizes.set(path, (await stat(join(root, path))).size);
  const reading = countBytes((done, of) => onBytes('reading', done, of), sizes.values());
  const read: { path: string; sha256: string }[] = [];
  for (const path of local) read.push({ path, sha256: await hashOf(join(root, path), reading) });
  const manifest: ArtifactManifest = { ...about, files: read };
  let committed = await client.commitArtifact(name, manifest);
  if ('missing' in committed) {
    const missing = new Set(committed.missing);
    const unsent = new Map(read.filter(({ sha256 }) => missing.has(sha256)).map(({ path, sha256 }) => [sha256, path]));
    const sending = countBytes(
      (done, of) => onBytes('sending', done, of),
      [...unsent.values()].map((path) => sizes.get(path)!),
    );
    for (const { path, sha256 } of read) {
      const state = missing.delete(sha256) ? 'sent' : 'there';
      if (state === 'sent') await send(client, name, { path, sha256 }, join(root, path), sending, onConnection);
      onFile?.(path, state);
    }
    const commit = () => client.commitArtifact(name, manifest);
    committed = await insist(commit, undefined, onConnection, PUSH);
  }
  if ('missing' in committed)
    throw new ArtifactFilesError(`The server lost files of ${name} that were just sent. Push again.`);
  return committed;
}

const transferDeadline = (): AbortSignal => AbortSignal.timeout(24 * 60 * 60 * 1000);

/** Throws the error of the local file if it cannot be read. */
async function send(
  client: Client,
  name: string,
  { path, sha256 }: ArtifactManifest['files'][number],
  file: string,
  onSent: (bytes: number) => void,
  onConnection?: OnConnection,
): Promise<void> {
  const unreadable = new AbortController();
  async function sendOnce(): Promise<void> {
    let [sent, isOver] = [0, false];
    async function* content(): AsyncGenerator<Uint8Array> {
      const reading = createReadStream(file).once('error', (error) => {
        if (error.name !== 'AbortError') unreadable.abort(error); // that one: nobody reads it any more
      });
      for await (const chunk of reading as AsyncIterable<Uint8Array>) {
        if (isOver) return; // `fetch` may read on for a while
        sent += chunk.length;
        onSent(chunk.length);
        yield chunk;
      }
    }
    try {
      const stream = Readable.toWeb(Readable.from(content())) as ReadableStream;
      await client.uploadArtifactFile(name, path, stream, sha256, transferDeadline());
    } catch (error) {
      isOver = true;
      onSent(-sent); // the next attempt sends these bytes again
      throw error;
    }
  }
  await insist(sendOnce, unreadable.signal, onConnection, PUSH);
}

/** Returns a function that adds bytes and reports the total so far. */
function countBytes(tell: (done: number, of: number) => void, sizes: Iterable<number>): (bytes: number) => void {
  const of = [...sizes].reduce((sum, size) => sum + size, 0);
  let done = 0;
  return (bytes) => tell((done += bytes), of);
}

/**
 * Creates `directory`. Throws if received files do not have the version's bytes. Bytes from an interrupted pull stay next to their
 * file as `.part`: the next pull continues after them, as does this one after a lost connection.
 */
export async function pullArtifact(
  client: Client,
  name: string,
  directory: string,
  { onFile, onBytes = () => {}, onConnection, signal = transferDeadline() }: PullOptions = {},
): Promise<Artifact> {
  const artifact = await client.getArtifact(name);
  const hasFiles: boolean = Array.isArray(artifact.files) && artifact.files.every((file: unknown) => isObject(file));
  if (!hasFiles) throw new ArtifactFilesError(`The server does not say which files ${name} has.`);
  const fixed = `${artifact.entity}/${artifact.project}/${artifact.name}:${artifact.version}`;
  const all = artifact.files.reduce((sum, { size_bytes: size }) => sum + size, 0);
  let before = 0;
  for (const file of artifact.files) {
    const { path, sha256, size_bytes: size } = file;
    const done = before;
    before += size;
    const target = join(directory, checkedPath(path));
    await refuseLinks(directory, path);
    const known = await stat(target).catch(() => null);
    if (known?.size === size && (await hashOf(target)) === sha256) {
      onFile?.(path, 'there');
      continue;
    }
    await mkdir(dirname(target), { recursive: true });
    const part = unfinishedName(path, sha256);
    await refuseLinks(directory, part);
    const unfinished = join(directory, part);
    const open = async (bytes: number) => {
      const rest = bytes > 0 ? await client.resumeArtifactFile(fixed, path, { bytes, sha256 }, signal) : null;
      return { content: rest ?? (await client.downloadArtifactFile(fixed, path, signal)), isRest: rest !== null };
    };
    await receive(unfinished, size, open, (arrived) => onBytes('receiving', done + arrived, all), {
      onConnection,
      signal,
    });
    await finish(unfinished, target, sha256, `${path} arrived damaged. Pull again.`);
    onFile?.(path, 'fetched');
  }
  return artifact;
}

/**
 * Saves the tar of a checkpoint. Bytes from an interrupted download stay next to `file` as `.part`: the next download continues
 * after them, as does this one after a lost connection.
 */
export async function downloadCheckpointTo(
  client: Client,
  modelId: string,
  step: number | 'latest',
  file: string,
  { onBytes = () => {}, onConnection, signal = transferDeadline() }: Omit<PullOptions, 'onFile'> = {},
): Promise<void> {
  const fixed = step === 'latest' ? await latestStepOf(client, modelId) : step;
  const first = await client.downloadCheckpoint(modelId, fixed, null, signal);
  const { sha256, sizeBytes } = first;
  await mkdir(dirname(file), { recursive: true });
  const unfinished = unfinishedName(file, sha256);
  let isUnread = true;
  const open = async (bytes: number) => {
    const isFirst = isUnread;
    isUnread = false;
    if (isFirst && bytes === 0) return first;
    if (isFirst) await first.content.cancel();
    return client.downloadCheckpoint(modelId, fixed, { bytes, sha256 }, signal);
  };
  const onReceived = (arrived: number) => onBytes('receiving', arrived, sizeBytes);
  await receive(unfinished, sizeBytes, open, onReceived, { onConnection, signal });
  if (isUnread) await first.content.cancel();
  await finish(unfinished, file, sha256, `${file} arrived damaged. Download it again.`);
}

export async function latestStepOf(client: Client, modelId: string): Promise<number | 'latest'> {
  for await (const { step } of client.listCheckpoints(modelId, { order: 'desc' })) return step;
  return 'latest'; // the server refuses it with its own message
}

/** Throws with the given message, and deletes the file, if it does not have the expected bytes. */
async function finish(unfinished: string, target: string, sha256: string, damaged: string): Promise<void> {
  if ((await hashOf(unfinished)) !== sha256) {
    await rm(unfinished);
    throw new ArtifactFilesError(damaged);
  }
  await rename(unfinished, target);
}

/** The checksum is the server's: anything else than one might lead to another path. */
function unfinishedName(path: string, sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256))
    throw new ArtifactFilesError(
      `The server gives ${path} the checksum ${JSON.stringify(sha256).slice(0, 100)}, which is no SHA-256.`,
    );
  return `${path}.${sha256.slice(0, 12)}.part`;
}

/** A server might send paths outside the directory, or none at all. */
function checkedPath(path: unknown): string {
  const isPath = typeof path === 'string' && !/[\u0000-\u001f\u007f]/.test(path) && !/^[a-z]:/i.test(path);
  if (!isPath || path.split(/[/\\]/).some((segment) => segment === '' || segment === '.' || segment === '..'))
    throw new ArtifactFilesError(`The file ${JSON.stringify(path)?.slice(0, 200)} would lie outside of the directory.`);
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

/** The regular files below a directory, with slashes as separators, sorted. */
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

async function* bytesOf(path: string, onRead: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(path) as AsyncIterable<Uint8Array>) {
    onRead(chunk.length);
    yield chunk;
  }
}

async function hashOf(path: string, onRead: (bytes: number) => void = () => {}): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of bytesOf(path, onRead)) hash.update(chunk);
  return hash.digest('hex');
}
