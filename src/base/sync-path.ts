// Makes what was written under a path survive power loss: a file's bytes, or a directory's names. Windows cannot open
// directories and does not need it.
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
