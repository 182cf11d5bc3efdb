// Writes a file that appears whole or not at all: written next to its place, synced, renamed. The caller decides the content.
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncPath } from './sync-path.ts';

/** The temporary name under which exports grow until they are complete: files, and directories too. */
export const unfinishedPath = (path: string): string => `${path}.partial`;

/** `temporary`: in the same directory; removed afterwards, also if `write` throws. */
export async function writeWholeFile(
  path: string,
  temporary: string,
  write: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  try {
    const handle = await open(temporary, 'w');
    try {
      await write(handle);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
    await syncPath(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
