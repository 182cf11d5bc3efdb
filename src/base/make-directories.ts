// Creates a directory and its parents. Node's `mkdir` with `recursive` never returns on a file system that has the parent but answers as
// if it were missing, as /proc does.
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pathExists } from './path-exists.ts';

/** An existing directory is not an error; a file in its place is. */
export async function makeDirectories(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !(await pathExists(dirname(path)))) {
      await makeDirectories(dirname(path));
      return makeDirectories(path);
    }
    if (!(await isDirectory(path))) throw error;
  }
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
