// Whether there is something at a path. A disk that does not answer is no proof that there is nothing: what depends on a file's absence
// (an optimizer that begins anew, a log of a database that is left out) would go on without it.
import { stat } from 'node:fs/promises';

/** No file can be there. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);

/** Follows links: false for a link whose target is missing. Throws the system's error where it cannot be told. */
export const pathExists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (ABSENT.has(error.code ?? '')) return false;
      throw error;
    },
  );
