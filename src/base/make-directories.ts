// A directory and those above it. Node's own `mkdir` with `recursive` never returns where a file system has the parent and refuses the
// directory as if the parent were missing, as /proc does.
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pathExists } from './path-exists.ts';

/** One that is there already is no error; a file in its place is. */
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
