// Directories that only their user may read: they hold prompts, adapters, hashes of keys. After the first call, everything that this
// process and its children write is private: directories 0700, files 0600, whatever umask the process was started with.
import { chmod, lstat, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathExists } from './path-exists.ts';
import { makeDirectories } from './make-directories.ts';

const OTHERS = 0o077;
const STICKY = 0o1000;

/** An existing directory, perhaps of an older version, is made private too, which protects everything in it. */
export async function makePrivateDirectory(path: string): Promise<void> {
  process.umask(OTHERS);
  await makeDirectories(path);
  const { mode } = await stat(path);
  if (isPrivate(mode) || (mode & STICKY) !== 0) return; // sticky: a shared directory such as /tmp
  await chmod(path, 0o700).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPERM') throw error; // owned by another user, as mounted volumes are; `whetstone doctor` reports it
  });
}

/** Says that what older versions wrote here, with the umask they were started with, has been made private. */
const CLOSED = '.private';

/** Makes files of older versions in the directory private too, once: there may be a million. */
export async function closeOlderFiles(directory: string): Promise<void> {
  if (await pathExists(join(directory, CLOSED))) return;
  if (((await stat(directory)).mode & STICKY) !== 0) return;
  await makePrivate(directory);
  await makePrivate(directory); // meanwhile SQLite may have made files beside its database, with the mode that it had
  await writeFile(join(directory, CLOSED), '');
}

/** Paths under the directory, and itself, that other users may read or write. Symbolic links are not followed. */
export async function exposedPaths(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true }).catch(nullIfMissing); // all rows and blobs may be elsewhere
  const open: string[] = [];
  for (const path of entries === null ? [] : [directory, ...entries.map((entry) => join(directory, entry))]) {
    const found = await lstat(path).catch(nullIfMissing); // SQLite deletes its temporary files
    if (found !== null && !found.isSymbolicLink() && !isPrivate(found.mode)) open.push(path);
  }
  return open;
}

export async function makePrivate(directory: string): Promise<void> {
  for (const path of await exposedPaths(directory)) {
    const found = await lstat(path).catch(nullIfMissing);
    if (found !== null) await chmod(path, found.isDirectory() ? 0o700 : 0o600).catch(nullIfMissing);
  }
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

const isPrivate = (mode: number): boolean => (mode & OTHERS) === 0;
