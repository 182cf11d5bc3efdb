// Fetches a model's files from the Hugging Face Hub into the Hub's own cache (hub-cache.ts): which files, in which order, and where there
// is no room for them. How one of them arrives is hub-blob.ts.
import { mkdir, readFile, statfs } from 'node:fs/promises';
import { listFiles, modelInfo } from '@huggingface/hub';
import { pathExists } from '#base/path-exists';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import { readDecoderConfig } from './decoder-config.ts';
import { foreignFormat } from './foreign-formats.ts';
import { fetchBlob, partialSize } from './hub-blob.ts';
import { linkBlob, modelFolder, shareAs, writeRef, type HubModel, type ModelParts } from './hub-cache.ts';
import { joinInside, parseCommit, parseHubFile, type HubFile } from './hub-file.ts';
import { explainRefusal, HubRefusal, noRoom, offlineRefusal } from './hub-refusal.ts';

export interface HubAccess {
  /** HF_HUB_CACHE. */
  readonly cacheDirectory: string;
  readonly endpoint: string;
  readonly token: string | null;
  /** Read where there is no token: `huggingface-cli login` leaves it there. */
  readonly tokenPath: string;
  /** Nobody is asked. */
  readonly offline: boolean;
}

/** Told while a model is downloaded, or something is made of it, in bytes; and when that has ended, well or not. */
export interface DownloadProgress {
  /** `doing`: not said while it is downloaded. */
  readonly onBytes: (model: string, done: number, of: number, doing?: string) => void;
  readonly onEnd: (model: string) => void;
}

export const UNWATCHED: DownloadProgress = { onBytes: () => undefined, onEnd: () => undefined };

/** Weights in other formats, images and code stay on the Hub. */
const WANTED =
  /^(config\.json|generation_config\.json|tokenizer[\w-]*\.json|special_tokens_map\.json|chat_template\.jinja|model[\w.-]*\.safetensors|[\w.-]+\.safetensors\.index\.json)$/;

const WEIGHTS = /\.safetensors$/;

const isWanted = (path: string, parts: ModelParts): boolean =>
  WANTED.test(path) && (parts === 'everything' || !WEIGHTS.test(path));

const METADATA_TIMEOUT_MS = 30_000; // an unreachable Hub must not hold up a start; files have a limit on silence

export async function downloadModel(
  model: HubModel,
  hub: HubAccess,
  parts: ModelParts,
  progress: DownloadProgress,
  log: Log,
  signal: AbortSignal,
): Promise<string> {
  const { cacheDirectory, endpoint } = hub;
  if (hub.offline) throw offlineRefusal(model, cacheDirectory);
  const token = hub.token ?? (await readToken(hub.tokenPath));
  try {
    const { commit, files, names } = await listModel(model, endpoint, token, signal);
    if (parts === 'everything') refuseForeign(model.id, names);
    const wanted = files.filter(({ path }) => isWanted(path, parts)).sort(weightsLast);
    const folder = modelFolder(model, cacheDirectory);
    const blobOf = (file: HubFile) => joinInside(folder, 'blobs', file.hash);
    const snapshot = joinInside(folder, 'snapshots', commit);
    const sizeBytes = wanted.reduce((sum, { size }) => sum + size, 0);
    await mkdir(joinInside(folder, 'blobs'), { recursive: true });
    await checkRoom(model, cacheDirectory, wanted, blobOf);
    log.info('model.download.started', { model: model.id, commit, files: wanted.length, sizeBytes });
    let done = 0;
    let configChecked = false;
    for (const file of wanted) {
      const blob = blobOf(file);
      if (!configChecked && WEIGHTS.test(file.path)) {
        await readDecoderConfig(snapshot);
        configChecked = true;
      }
      if (!(await pathExists(blob)))
        await fetchBlob(file, blob, {
          url: `${endpoint}/${model.id}/resolve/${commit}/${encodeURIComponent(file.path)}`,
          headers: token === null ? {} : { authorization: `Bearer ${token}` },
          fetch: fetchOrRefuse,
          onBytes: (bytes) => progress.onBytes(model.id, done + bytes, sizeBytes),
          signal,
        });
      done += file.size;
      await linkBlob(blob, joinInside(snapshot, file.path));
      log.info('model.file.ready', { model: model.id, file: file.path, sizeBytes: file.size });
    }
    await writeRef(folder, model.revision, commit);
    await shareAs(cacheDirectory, folder);
    return snapshot;
  } catch (error) {
    throw explainRefusal(error, { model, endpoint, cacheDirectory, hasToken: token !== null, signal });
  } finally {
    progress.onEnd(model.id);
  }
}

interface ListedModel {
  readonly commit: string;
  readonly files: readonly HubFile[];
  /** Of all files, also of those that are not wanted. */
  readonly names: readonly string[];
}

async function listModel(
  { id, revision }: HubModel,
  hubUrl: string,
  token: string | null,
  signal: AbortSignal,
): Promise<ListedModel> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(METADATA_TIMEOUT_MS)]);
  const request = {
    hubUrl,
    ...(token === null ? {} : { accessToken: token }),
    fetch: ((input, init) => fetchOrRefuse(input, { ...init, signal: deadline })) as typeof fetch,
  };
  const info = await modelInfo({ ...request, name: id, revision, additionalFields: ['sha'] });
  const commit = parseCommit(info.sha);
  const files: HubFile[] = [];
  const names: string[] = [];
  for await (const file of listFiles({ ...request, repo: id, revision: commit })) {
    if (file.type !== 'file') continue;
    names.push(file.path);
    if (WANTED.test(file.path)) files.push(parseHubFile(file));
  }
  return { commit, files, names };
}

function refuseForeign(id: string, names: readonly string[]): void {
  const foreign = foreignFormat(id, names, null);
  if (foreign !== null) throw new AppError('bad_model_files', foreign);
}

/** What makes a model one that cannot be loaded is in the small files. */
const weightsLast = (a: HubFile, b: HubFile): number => Number(WEIGHTS.test(a.path)) - Number(WEIGHTS.test(b.path));

async function checkRoom(
  model: HubModel,
  cacheDirectory: string,
  files: readonly HubFile[],
  blobOf: (file: HubFile) => string,
): Promise<void> {
  let needed = 0;
  for (const file of files) {
    const blob = blobOf(file);
    if (!(await pathExists(blob))) needed += file.size - (await partialSize(blob));
  }
  const { bavail, bsize } = await statfs(cacheDirectory);
  if (needed > bavail * bsize) throw noRoom(model, cacheDirectory, needed, bavail * bsize);
}

async function readToken(path: string): Promise<string | null> {
  const token = (await readFile(path, 'utf8').catch(() => '')).trim();
  return token === '' ? null : token;
}

async function fetchOrRefuse(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  if (response.ok) return response;
  await response.body?.cancel();
  throw new HubRefusal(response);
}
