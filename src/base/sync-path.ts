// Makes what was written under a path survive power loss: a file's bytes, or a directory's names.
import { open } from 'node:fs/promises';

export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
