// Directories that hold what only their user may read: prompts, adapters, keys' hashes. From the first one on, whatever this process
// and its children write is for its user alone: directories 0700, files 0600, however the process was started.
import { chmod, stat } from 'node:fs/promises';
import { makeDirectories } from './make-directories.ts';

const OTHERS = 0o077;
const STICKY = 0o1000;

/** One that is there already, perhaps of an older version, is closed too: then nobody reaches what is in it, whatever its modes. */
export async function makePrivateDirectory(path: string): Promise<void> {
  process.umask(OTHERS);
  await makeDirectories(path);
  const { mode } = await stat(path);
  if (isPrivate(mode) || (mode & STICKY) !== 0) return; // sticky: /tmp and the like, which is not ours to close
  await chmod(path, 0o700).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPERM') throw error; // another user's, as mounted volumes are: `whetstone doctor` tells
  });
}

export const isPrivate = (mode: number): boolean => (mode & OTHERS) === 0;
