// Turns the value of `--model` into a directory with config, tokenizer and weights. In this order: the starter model that the package
// includes, a directory or a GGUF file on this machine, a model of the Hugging Face Hub (from its cache if it is there).
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { atHome } from '#base/at-home';
import { readBoundedText } from '#base/bounded-file';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import { readDecoderConfig } from './decoder-config.ts';
import { foreignFile, foreignFormat, isGguf } from './foreign-formats.ts';
import { makeGgufDirectory } from './gguf/gguf-model.ts';
import { findCachedModel, hasModelFiles, type ModelParts } from './hub-cache.ts';
import { downloadModel, type DownloadProgress, type HubAccess } from './hub-download.ts';
import { HUB_ID, parseHubModel } from './hub-model.ts';

const STARTER_ID = 'whetstone/starter';

/** Whether the id of a base model may be a name on the Hub, from which other programs load it. */
export const isOnHub = (id: string): boolean => HUB_ID.test(id) && id !== STARTER_ID;

export interface ResolveModelOptions {
  /** Where the package keeps models/starter. */
  readonly starterDirectory: string;
  /** Where configurations and tokenizers from GGUF files are written. */
  readonly ggufDirectory: string;
  readonly hub: HubAccess;
  readonly parts: ModelParts;
  readonly progress: DownloadProgress;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface ResolvedModel {
  /** The base model's id in the API. */
  readonly id: string;
  readonly directory: string;
}

/** Once downloaded, a Hub model never changes: adapters were trained on exactly these weights. Throws `base_model_not_found`, `bad_model_files`. */
export async function resolveModelDirectory(given: string, options: ResolveModelOptions): Promise<ResolvedModel> {
  const name = atHome(given);
  const { parts, ggufDirectory } = options;
  if (name === 'starter' || name === STARTER_ID) return resolveLocal(STARTER_ID, options.starterDirectory, options);
  if (await isDirectory(name)) return resolveLocal(await localId(name), resolve(name), options);
  const isHere = await isFile(name);
  if (isHere && isGguf(name))
    return { id: basename(name, '.gguf'), directory: await makeGgufDirectory(name, ggufDirectory) };
  const file = isHere ? foreignFile(name) : null;
  if (file !== null) throw new AppError('bad_model_files', file);
  const model = parseHubModel(name);
  if (model === null) {
    const message = `No model ${name}: there is no such directory, and it is not a Hub id (owner/name, owner/name:Q8_0, owner/name@revision). The model that comes with Whetstone is "starter".`;
    throw new AppError('base_model_not_found', message);
  }
  const cached = await findCachedModel(model, options.hub.cacheDirectory, parts);
  if (cached?.gguf) {
    const { snapshot, gguf } = cached;
    return { id: gguf.id, directory: await makeGgufDirectory(join(snapshot, gguf.file), ggufDirectory) };
  }
  if (cached) return resolveLocal(model.id, cached.snapshot, options);
  const { id, directory, isGguf: isMade } = await downloadModel(model, options);
  return isMade ? { id, directory } : resolveLocal(id, directory, options);
}

async function resolveLocal(
  id: string,
  directory: string,
  { parts, ggufDirectory }: Pick<ResolveModelOptions, 'parts' | 'ggufDirectory'>,
): Promise<ResolvedModel> {
  if (await hasModelFiles(directory, parts)) {
    // Engines on other machines may support other families.
    if (parts === 'everything') await readDecoderConfig(directory);
    return { id, directory };
  }
  const names = await readdir(directory);
  const gguf = onlyGguf(directory, names);
  if (gguf !== null) return { id, directory: await makeGgufDirectory(join(directory, gguf), ggufDirectory) };
  const foreign = foreignFormat(directory, names, await adapterBase(directory));
  if (foreign !== null && parts === 'everything') throw new AppError('bad_model_files', foreign);
  const message = `${directory} is not a complete model: it needs config.json, tokenizer.json${parts === 'everything' ? ', and model.safetensors or model.safetensors.index.json with its shards' : ''}.`;
  throw new AppError('bad_model_files', message);
}

/** The GGUF file of a directory that has no other weights. */
function onlyGguf(directory: string, names: readonly string[]): string | null {
  const files = names.some((name) => name.endsWith('.safetensors')) ? [] : names.filter(isGguf).sort();
  if (files.length < 2) return files[0] ?? null;
  throw new AppError(
    'bad_model_files',
    `${directory} has several GGUF files. Choose one of them: ${files.join(', ')}.`,
  );
}

/** `owner/name` is the id even if it is also a path; for any other path, the last part is the id. */
const localId = async (path: string): Promise<string> => (HUB_ID.test(path) ? path : basename(await realpath(path)));

async function adapterBase(directory: string): Promise<string | null> {
  const config = await readBoundedText(join(directory, 'adapter_config.json'))
    .then((text) => JSON.parse(text) as { base_model_name_or_path?: unknown } | null)
    .catch(() => null);
  const base = config?.base_model_name_or_path;
  return typeof base === 'string' && base !== '' ? base : null;
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (info) => info.isFile(),
    () => false,
  );

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
