// Directories that only their user may read: they hold prompts, adapters, hashes of keys. After the first call, everything that this
// process and its children write is private: directories 0700, files 0600, whatever umask the process was started with.
import { chmod, stat } from 'node:fs/promises';
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

export const isPrivate = (mode: number): boolean => (mode & OTHERS) === 0;
