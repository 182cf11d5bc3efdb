// The Hub's own cache on disk: blobs by content, a snapshot of links per commit, refs from names of revisions to commits. Downloads of
// other tools are found here, and theirs find ours. Makes no network requests.
import { chmod, copyFile, mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { readBoundedText } from '#base/bounded-file';
import { pathExists } from '#base/path-exists';
import { findGguf, isGgufRepository, type GgufChoice } from './gguf/gguf-tags.ts';
import { isCommit, joinInside } from './hub-file.ts';
import type { HubModel } from './hub-model.ts';

/** A commit has 40. */
const REF_BYTES_MAX = 1_000;

export interface CachedModel {
  readonly snapshot: string;
  /** Null: the snapshot is a model directory. */
  readonly gguf: GgufChoice | null;
}

/** `without weights`: only the files for tokens and prompts, for a model that runs elsewhere. */
export type ModelParts = 'everything' | 'without weights';

export const modelFolder = ({ id }: HubModel, cacheDirectory: string): string =>
  join(cacheDirectory, `models--${id.replaceAll('/', '--')}`);

/** If an earlier download is complete. */
export async function findCachedModel(
  model: HubModel,
  cacheDirectory: string,
  parts: ModelParts,
): Promise<CachedModel | null> {
  const folder = modelFolder(model, cacheDirectory);
  const commit = isCommit(model.revision)
    ? model.revision
    : (await readBoundedText(joinInside(folder, 'refs', model.revision), REF_BYTES_MAX).catch(() => '')).trim();
  if (!isCommit(commit)) return null;
  const snapshot = join(folder, 'snapshots', commit);
  if (model.tag === null && (await hasModelFiles(snapshot, parts))) return { snapshot, gguf: null };
  const names = await presentFiles(snapshot);
  const gguf = model.tag !== null || isGgufRepository(names) ? findGguf(model, names) : null;
  return gguf && { snapshot, gguf };
}

/** By their paths in the repository; links whose blob was deleted are left out. */
async function presentFiles(snapshot: string): Promise<readonly string[]> {
  const names = (await readdir(snapshot, { recursive: true }).catch(() => [])).map((name) => name.replaceAll(sep, '/'));
  const present = await Promise.all(names.map((name) => pathExists(join(snapshot, name))));
  return names.filter((_, i) => present[i]);
}

/** From now on the revision is found in the cache. A commit hash needs no ref. */
export async function writeRef(folder: string, revision: string, commit: string): Promise<void> {
  if (revision === commit) return;
  const path = joinInside(folder, 'refs', revision);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, commit);
}

/** A relative link, so that the cache can be moved. A copy where links are not allowed (Windows). */
export async function linkBlob(blob: string, path: string): Promise<void> {
  if (await pathExists(path)) return;
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true }); // a link whose blob was deleted
  await symlink(relative(dirname(path), blob), path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') return copyFile(blob, path); // EEXIST: another process was faster
  });
}

/** Gives new files the permissions of the cache, which a group may share: the server creates files for its user alone. */
export async function shareAs(cacheDirectory: string, folder: string): Promise<void> {
  const readers = (await stat(cacheDirectory)).mode & 0o777;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => !each.isSymbolicLink())) {
    const path = join(entry.parentPath, entry.name);
    await chmod(path, entry.isDirectory() ? readers : readers & 0o666).catch(ignoreOthersFiles);
  }
  await chmod(folder, readers).catch(ignoreOthersFiles);
}

/** Ignores files of other users, and those that another process has renamed in the meantime. */
function ignoreOthersFiles(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPERM' && error.code !== 'ENOENT') throw error;
}

/** Whether it can be loaded: configuration, tokenizer, and all weights that the index names. */
export async function hasModelFiles(directory: string, parts: ModelParts): Promise<boolean> {
  const has = (name: string) => pathExists(join(directory, name));
  if (!(await has('config.json')) || !(await has('tokenizer.json'))) return false;
  if (parts === 'without weights' || (await has('model.safetensors'))) return true;
  const shards = await readBoundedText(join(directory, 'model.safetensors.index.json'), 64 * 2 ** 20)
    .then(shardNames)
    .catch(() => []);
  const present = await Promise.all(shards.map(has));
  return shards.length > 0 && present.every(Boolean);
}

function shardNames(index: string): string[] {
  const { weight_map: weightMap } = JSON.parse(index) as { weight_map?: Record<string, string> };
  return [...new Set(Object.values(weightMap ?? {}))];
}
