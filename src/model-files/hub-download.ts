// Downloads a model's files from the Hugging Face Hub into the Hub's own cache (hub-cache.ts): decides which files, in which order, and
// whether there is room. hub-blob.ts downloads one file; gguf/gguf-tags.ts chooses among several GGUF files.
import { mkdir, readFile, statfs } from 'node:fs/promises';
import { listFiles, modelInfo, type ListFileEntry } from '@huggingface/hub';
import { pathExists } from '#base/path-exists';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import { readDecoderConfig } from './decoder-config.ts';
import { foreignFormat } from './foreign-formats.ts';
import { UnreadType } from './gguf/gguf-header.ts';
import { makeGgufDirectory } from './gguf/gguf-model.ts';
import { adviseReadable, getGguf, isGgufRepository, type GgufChoice } from './gguf/gguf-tags.ts';
import { fetchBlob, partialSize, type BlobRequest } from './hub-blob.ts';
import { hubBytes } from './hub-bytes.ts';
import { linkBlob, modelFolder, shareAs, writeRef, type ModelParts } from './hub-cache.ts';
import { joinInside, parseCommit, parseHubFile, type HubFile } from './hub-file.ts';
import { nameOf, type HubModel } from './hub-model.ts';
import { explainRefusal, HubRefusal, noRoom, offlineRefusal } from './hub-refusal.ts';

export interface HubAccess {
  /** HF_HUB_CACHE. */
  readonly cacheDirectory: string;
  readonly endpoint: string;
  readonly token: string | null;
  /** Read if no token is configured: `huggingface-cli login` stores it there. */
  readonly tokenPath: string;
  /** Makes no network requests. */
  readonly offline: boolean;
}

/** Called with bytes while a model is downloaded or converted, and when that has ended, successfully or not. */
export interface DownloadProgress {
  /** `doing`: absent during the download. */
  readonly onBytes: (model: string, done: number, of: number, doing?: string) => void;
  readonly onEnd: (model: string) => void;
}

export const UNWATCHED: DownloadProgress = { onBytes: () => undefined, onEnd: () => undefined };

/** Weights in other formats, images and code stay on the Hub. */
const WANTED =
  /^(config\.json|generation_config\.json|tokenizer[\w-]*\.json|special_tokens_map\.json|added_tokens\.json|chat_template\.jinja|additional_chat_templates\/[^/]+\.jinja|model[\w.-]*\.safetensors|[\w.-]+\.safetensors\.index\.json)$/;

const WEIGHTS = /\.safetensors$/;

const isWanted = (path: string, parts: ModelParts): boolean =>
  WANTED.test(path) && (parts === 'everything' || !WEIGHTS.test(path));

const METADATA_TIMEOUT_MS = 30_000; // an unreachable Hub must not delay a start; downloads of files have a silence limit instead

export interface DownloadOptions {
  readonly hub: HubAccess;
  readonly parts: ModelParts;
  /** Where configurations and tokenizers from GGUF files are written. */
  readonly ggufDirectory: string;
  readonly progress: DownloadProgress;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface DownloadedModel {
  /** The model's id in the API. */
  readonly id: string;
  readonly directory: string;
  /** True: the directory was made from a GGUF file. False: it is the snapshot, not yet checked for being a model. */
  readonly isGguf: boolean;
}

export async function downloadModel(model: HubModel, options: DownloadOptions): Promise<DownloadedModel> {
  const { hub, progress, signal } = options;
  const { cacheDirectory, endpoint } = hub;
  if (hub.offline) throw offlineRefusal(model, cacheDirectory);
  const token = hub.token ?? (await readToken(hub.tokenPath));
  try {
    const { commit, files } = await listModel(model, endpoint, token, signal);
    const folder = modelFolder(model, cacheDirectory);
    const place: CommitLocation = {
      folder,
      commit,
      snapshot: joinInside(folder, 'snapshots', commit),
      requestFor: ({ path }) => ({
        url: `${endpoint}/${model.id}/resolve/${commit}/${path.split('/').map(encodeURIComponent).join('/')}`,
        headers: token === null ? {} : { authorization: `Bearer ${token}` },
        fetch: fetchOrRefuse,
        signal,
      }),
    };
    const names = files.map(({ path }) => path);
    if (model.tag !== null || isGgufRepository(names))
      return await downloadGguf(model, getGguf(model, names), files, place, options);
    if (options.parts === 'everything') refuseForeign(model.id, names);
    const wanted = files.filter(({ path }) => isWanted(path, options.parts)).map(parseHubFile);
    await fetchFiles(model, wanted.sort(weightsLast), place, options);
    return { id: model.id, directory: place.snapshot, isGguf: false };
  } catch (error) {
    throw explainRefusal(error, { model, endpoint, cacheDirectory, hasToken: token !== null, signal });
  } finally {
    progress.onEnd(nameOf(model));
  }
}

/** Where the files of one commit come from and go to. */
interface CommitLocation {
  readonly folder: string;
  readonly commit: string;
  readonly snapshot: string;
  readonly requestFor: (file: HubFile) => Omit<BlobRequest, 'onBytes'>;
}

/** Reads the header before downloading the file; if the model runs elsewhere, the file is not downloaded. */
async function downloadGguf(
  model: HubModel,
  chosen: GgufChoice,
  files: readonly ListFileEntry[],
  place: CommitLocation,
  options: DownloadOptions,
): Promise<DownloadedModel> {
  const file = parseHubFile(files.find(({ path }) => path === chosen.file)!);
  const bytes = hubBytes(`${file.path} of ${model.id}`, file, place.requestFor(file));
  const path = joinInside(place.snapshot, file.path);
  const directory = await makeGgufDirectory(path, options.ggufDirectory, bytes).catch((error: unknown) => {
    if (!(error instanceof UnreadType)) throw error;
    const names = files.map((each) => each.path);
    throw new AppError('bad_model_files', error.message + adviseReadable(model, chosen, names), { cause: error });
  });
  if (options.parts === 'everything') await fetchFiles(model, [file], place, options);
  return { id: chosen.id, directory, isGguf: true };
}

async function fetchFiles(
  model: HubModel,
  files: readonly HubFile[],
  { folder, commit, snapshot, requestFor }: CommitLocation,
  { hub: { cacheDirectory }, progress, log }: DownloadOptions,
): Promise<void> {
  const blobOf = (file: HubFile) => joinInside(folder, 'blobs', file.hash);
  const name = nameOf(model);
  const sizeBytes = files.reduce((sum, { size }) => sum + size, 0);
  await mkdir(joinInside(folder, 'blobs'), { recursive: true });
  await checkRoom(model, cacheDirectory, files, blobOf);
  log.info('model.download.started', { model: name, commit, files: files.length, sizeBytes });
  let done = 0;
  let configChecked = false;
  for (const file of files) {
    const blob = blobOf(file);
    if (!configChecked && WEIGHTS.test(file.path)) {
      await readDecoderConfig(snapshot);
      configChecked = true;
    }
    const onBytes = (bytes: number) => progress.onBytes(name, done + bytes, sizeBytes);
    if (!(await pathExists(blob))) await fetchBlob(file, blob, { ...requestFor(file), onBytes });
    done += file.size;
    await linkBlob(blob, joinInside(snapshot, file.path));
    log.info('model.file.ready', { model: name, file: file.path, sizeBytes: file.size });
  }
  await writeRef(folder, model.revision, commit);
  await shareAs(cacheDirectory, folder);
}

interface ListedModel {
  readonly commit: string;
  /** All files, including those that are not downloaded. */
  readonly files: readonly ListFileEntry[];
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
  const files: ListFileEntry[] = [];
  for await (const file of listFiles({ ...request, repo: id, revision: commit, recursive: true }))
    if (file.type === 'file') files.push(file);
  return { commit, files };
}

function refuseForeign(id: string, names: readonly string[]): void {
  const foreign = foreignFormat(id, names, null);
  if (foreign !== null) throw new AppError('bad_model_files', foreign);
}

/** Downloads small files first: they show whether the model can be loaded. */
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
