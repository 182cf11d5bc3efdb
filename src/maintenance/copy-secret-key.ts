// Copies the key that decrypts the secrets of a store's webhooks together with the rows. An operator's key (WHETSTONE_SECRET_KEY)
// is not copied: the operator keeps it.
import { chmod, copyFile } from 'node:fs/promises';
import { syncPath } from '#base/sync-path';
import { secretKeyPath } from '#config/data-directory';

/** Replaces a key that the restored store created while it was empty. */
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
