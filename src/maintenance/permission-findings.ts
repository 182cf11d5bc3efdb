// Finds what other users of the machine could read in a data directory, and closes it to them. Older versions wrote with the umask
// they were started with. Symbolic links are not followed.
import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isPrivate } from '#base/private-directory';
import type { Finding } from './finding.ts';

/** At most one finding: a directory that other users may enter exposes all its files. */
export async function permissionFindings(directory: string): Promise<Finding[]> {
  const open = await exposedPaths(directory);
  if (open.length === 0) return [];
  const which = open.length === 1 ? open[0]! : `${open[0]!} and ${open.length - 1} more`;
  return [
    {
      kind: 'open_permissions',
      where: directory,
      problem: `other users of this machine may read or write ${which}`,
      remedy: 'make directories 0700 and files 0600',
      repair: { do: 'make_private', directory },
    },
  ];
}

export async function makePrivate(directory: string): Promise<void> {
  for (const path of await exposedPaths(directory))
    await chmod(path, (await lstat(path)).isDirectory() ? 0o700 : 0o600);
}

async function exposedPaths(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true }).catch(nullIfMissing); // all rows and blobs may be elsewhere
  const open: string[] = [];
  for (const path of entries === null ? [] : [directory, ...entries.map((entry) => join(directory, entry))]) {
    const found = await lstat(path).catch(nullIfMissing); // SQLite deletes its temporary files
    if (found !== null && !found.isSymbolicLink() && !isPrivate(found.mode)) open.push(path);
  }
  return open;
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
