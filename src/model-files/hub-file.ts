// What a Hub says about a commit and its files, checked before any of it becomes a local path: hashes are hex
// digits, paths are plain and relative. Knows how Git and LFS name content; does not know where it is stored.
import { createHash, type Hash } from 'node:crypto';
import { join, relative, sep } from 'node:path';
import type { ListFileEntry } from '@huggingface/hub';

export interface HubFile {
  readonly path: string;
  readonly size: number;
  /** Hash of the content: SHA-256 in LFS, SHA-1 of the Git blob otherwise. It is the file's name in the cache. */
  readonly hash: string;
}

const SHA_1 = /^[0-9a-f]{40}$/;
const SHA_256 = /^[0-9a-f]{64}$/;

export const isCommit = (text: string): boolean => SHA_1.test(text);

export function parseCommit(commit: unknown): string {
  if (typeof commit === 'string' && isCommit(commit)) return commit;
  throw new Error(`the Hub names the commit ${JSON.stringify(commit)}, which is not a hash`);
}

export function parseHubFile({ path, size, oid, lfs }: ListFileEntry): HubFile {
  if (!isPlainPath(path)) throw new Error(`the Hub lists ${JSON.stringify(path)}, which is not a path inside a model`);
  const [hash, form] = lfs ? [lfs.oid, SHA_256] : [oid, SHA_1];
  if (typeof hash === 'string' && form.test(hash)) return { path, size, hash };
  throw new Error(`the Hub gives ${path} the hash ${JSON.stringify(hash)}, which is not a hash`);
}

/** Relative, with forward slashes, without `.` and `..`, and without anything that Windows reads as a drive or a separator. */
const isPlainPath = (path: unknown): path is string =>
  typeof path === 'string' && path.split('/').every((part) => !['', '.', '..'].includes(part) && !/[\\:\0]/.test(part));

/** Hashes the file's bytes; the hex digest equals the file's hash if they are complete. */
export function createContentHash({ hash, size }: HubFile): Hash {
  return SHA_256.test(hash) ? createHash('sha256') : createHash('sha1').update(`blob ${size}\0`);
}

/** Joins the path; throws if the result is outside `directory`. A second check for names from outside. */
export function joinInside(directory: string, ...names: readonly string[]): string {
  const path = join(directory, ...names);
  const way = relative(directory, path);
  if (way === '' || way === '..' || way.startsWith(`..${sep}`)) throw new Error(`${path} is not inside ${directory}`);
  return path;
}
