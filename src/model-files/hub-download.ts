// Fetches a model's files from the Hugging Face Hub into the Hub's own cache layout (blobs by content, a snapshot per
// commit, refs), so that what other tools have downloaded is found and the other way round. Bytes are checked against
// the Hub's hashes and reach the disk before their name does; a broken download never looks like a model.
import { createWriteStream } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { downloadFile, HubApiError, listFiles, modelInfo } from '@huggingface/hub';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import { createContentHash, isCommit, joinInside, parseCommit, parseHubFile, type HubFile } from './hub-file.ts';

export interface HubAccess {
  /** The `hub` folder of HF_HOME. */
  readonly cacheDirectory: string;
  readonly endpoint: string;
  readonly token: string | null;
}

/** Weights in other formats, images and code stay on the Hub. */
const WANTED =
  /^(config\.json|generation_config\.json|tokenizer[\w-]*\.json|special_tokens_map\.json|chat_template\.jinja|model[\w.-]*\.safetensors|[\w.-]+\.safetensors\.index\.json)$/;

const WEIGHTS = /\.safetensors$/;

/** `without weights`: what tokens and prompts need, for a model that runs elsewhere. */
export type ModelParts = 'everything' | 'without weights';

const isWanted = (path: string, parts: ModelParts): boolean =>
  WANTED.test(path) && (parts === 'everything' || !WEIGHTS.test(path));

const METADATA_TIMEOUT_MS = 30_000; // an unreachable Hub must not hold up a start; files have undici's limit on silence

/** The snapshot's directory if an earlier download is complete; asks nobody, so it also works offline. */
export async function findCachedModel(id: string, cacheDirectory: string, parts: ModelParts): Promise<string | null> {
  const folder = modelFolder(id, cacheDirectory);
  const commit = (await readFile(join(folder, 'refs', 'main'), 'utf8').catch(() => '')).trim();
  if (!isCommit(commit)) return null;
  const directory = join(folder, 'snapshots', commit);
  return (await hasModelFiles(directory, parts)) ? directory : null;
}

export async function downloadModel(
  id: string,
  hub: HubAccess,
  parts: ModelParts,
  log: Log,
  signal: AbortSignal,
): Promise<string> {
  const request = { hubUrl: hub.endpoint, ...(hub.token === null ? {} : { accessToken: hub.token }) };
  try {
    const metadata = {
      ...request,
      fetch: fetchUntil(AbortSignal.any([signal, AbortSignal.timeout(METADATA_TIMEOUT_MS)])),
    };
    const info = await modelInfo({ ...metadata, name: id, revision: 'main', additionalFields: ['sha'] });
    const commit = parseCommit(info.sha);
    const files: HubFile[] = [];
    for await (const file of listFiles({ ...metadata, repo: id, revision: commit })) {
      if (file.type === 'file' && isWanted(file.path, parts)) files.push(parseHubFile(file));
    }
    const folder = modelFolder(id, hub.cacheDirectory);
    log.info('model.download.started', {
      model: id,
      commit,
      files: files.length,
      sizeBytes: files.reduce((sum, { size }) => sum + size, 0),
    });
    const snapshot = joinInside(folder, 'snapshots', commit);
    for (const file of files) {
      const blob = joinInside(folder, 'blobs', file.hash);
      if (!(await exists(blob))) await fetchBlob(id, commit, file, blob, { ...request, fetch: fetchUntil(signal) });
      await link(blob, joinInside(snapshot, file.path));
      log.info('model.file.ready', { model: id, file: file.path, sizeBytes: file.size });
    }
    await mkdir(join(folder, 'refs'), { recursive: true });
    await writeFile(join(folder, 'refs', 'main'), commit);
    await shareAs(hub.cacheDirectory, folder);
    return snapshot;
  } catch (error) {
    throw explain(error, id, hub, signal);
  }
}

/** The cache may be a group's: what is new in it is for whoever may read the cache, though the server writes for its user alone. */
async function shareAs(cacheDirectory: string, folder: string): Promise<void> {
  const readers = (await stat(cacheDirectory)).mode & 0o777;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => !each.isSymbolicLink())) {
    const path = join(entry.parentPath, entry.name);
    await chmod(path, entry.isDirectory() ? readers : readers & 0o666).catch(ignoreOthersFiles);
  }
  await chmod(folder, readers).catch(ignoreOthersFiles);
}

function ignoreOthersFiles(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPERM') throw error;
}

type FileRequest = { hubUrl: string; accessToken?: string; fetch: typeof fetch };

async function fetchBlob(id: string, commit: string, file: HubFile, blob: string, request: FileRequest): Promise<void> {
  const content = await downloadFile({ ...request, repo: id, path: file.path, revision: commit });
  if (!content) throw new Error(`${file.path} is listed but cannot be downloaded`);
  await mkdir(dirname(blob), { recursive: true });
  const temporary = `${blob}.${process.pid}.incomplete`; // two servers may download the same model
  const hash = createContentHash(file);
  let size = 0;
  async function* measured(chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      size += chunk.byteLength;
      yield chunk;
    }
  }
  try {
    await pipeline(Readable.fromWeb(content.stream()), measured, createWriteStream(temporary, { flush: true }));
    if (size !== file.size) throw new Error(`${file.path} ended after ${size} of ${file.size} bytes`);
    if (hash.digest('hex') !== file.hash) throw new Error(`${file.path} arrived damaged: its hash is not ${file.hash}`);
    await rename(temporary, blob);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Relative, so that the cache can be moved. Where links are not allowed (Windows), a copy. */
async function link(blob: string, path: string): Promise<void> {
  if (await exists(path)) return;
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true }); // a link whose blob was deleted
  await symlink(relative(dirname(path), blob), path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') return copyFile(blob, path); // EEXIST: another server was faster
  });
}

/** Enough to load: configuration, tokenizer, and all weights that the index names. */
export async function hasModelFiles(directory: string, parts: ModelParts): Promise<boolean> {
  const has = (name: string) => exists(join(directory, name));
  if (!(await has('config.json')) || !(await has('tokenizer.json'))) return false;
  if (parts === 'without weights' || (await has('model.safetensors'))) return true;
  const shards = await readFile(join(directory, 'model.safetensors.index.json'), 'utf8')
    .then(shardNames)
    .catch(() => []);
  const present = await Promise.all(shards.map(has));
  return shards.length > 0 && present.every(Boolean);
}

function shardNames(index: string): string[] {
  const { weight_map: weightMap } = JSON.parse(index) as { weight_map?: Record<string, string> };
  return [...new Set(Object.values(weightMap ?? {}))];
}

function explain(
  error: unknown,
  id: string,
  { endpoint, token, cacheDirectory }: HubAccess,
  signal: AbortSignal,
): unknown {
  if (signal.aborted) return new AppError('cancelled', `The download of ${id} was cancelled.`, { cause: error });
  if (error instanceof AppError) return error;
  const tried = `It is not a directory here and not complete in the cache ${cacheDirectory}`;
  const status = error instanceof HubApiError ? error.statusCode : null;
  if (status === 401 || status === 403) {
    const remedy =
      token === null ? 'Set HF_TOKEN to a token that may read it.' : 'The token in HF_TOKEN may not read it.';
    return new AppError(
      'base_model_not_found',
      `${endpoint} does not give out model ${id} (status ${status}): it does not exist, or is private or gated. ${remedy}`,
      { cause: error },
    );
  }
  if (status === 404)
    return new AppError('base_model_not_found', `No model ${id}. ${tried}, and ${endpoint} does not know it.`, {
      cause: error,
    });
  const reason = error instanceof Error ? describe(error) : String(error);
  return new AppError(
    'base_model_not_found',
    `Cannot get model ${id}. ${tried}, and downloading it from ${endpoint} failed: ${reason}.`,
    { cause: error },
  );
}

/** "fetch failed" says nothing; its cause does. */
const describe = (error: Error): string =>
  error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;

const fetchUntil =
  (signal: AbortSignal): typeof fetch =>
  (input, init) =>
    fetch(input, { ...init, signal });

const modelFolder = (id: string, cacheDirectory: string): string =>
  join(cacheDirectory, `models--${id.replaceAll('/', '--')}`);
const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
