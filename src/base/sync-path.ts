// Makes a written path survive power loss: fsync of a file's bytes, or of a directory's entries. Windows cannot open directories and
// does not need it.
import { open } from 'node:fs/promises';

export async function syncPath(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
