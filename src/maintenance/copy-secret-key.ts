// The key that opens the secrets of a store's webhooks goes with its rows. A key of the operator's (WHETSTONE_SECRET_KEY) does not:
// it is kept where the operator keeps it.
import { chmod, copyFile } from 'node:fs/promises';
import { syncPath } from '#base/sync-path';
import { secretKeyPath } from '#data-directory';

/** Instead of one that a restored store had while it was empty. */
export async function copySecretKey(from: string, to: string): Promise<void> {
  const path = secretKeyPath(to);
  try {
    await copyFile(secretKeyPath(from), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await chmod(path, 0o600);
  await syncPath(path);
}
