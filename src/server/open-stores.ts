// Opens rows and blobs where the configuration says: in the data directory, or in Postgres and an S3-compatible store. Large
// libraries are loaded only if they are needed.
import { systemClock } from '#base/clock';
import type { Log } from '#base/log';
import { makePrivateDirectory } from '#base/private-directory';
import { createApiKeys, type ApiKeys } from '#services/accounts/api-keys';
import type { AccountStore } from '#storage/account-store';
import type { BlobStore } from '#storage/blobs';
import { createCheckedDirectories } from '#storage/blobs/checked-directories';
import { prepareFilesystemBlobs } from '#storage/blobs/filesystem';
import { withNamedFaults } from '#storage/named-faults';
import { openSqliteStorage } from '#storage/sql/open-sqlite';
import type { Storage } from '#storage/storage';
import type { StoreConfig } from '#config/server-config';
import { blobCopiesPath, blobsPath, databasePath } from '#config/data-directory';

export async function openStorage({ dataDirectory, databaseUrl }: StoreConfig, log: Log): Promise<Storage> {
  if (databaseUrl === null) await makePrivateDirectory(dataDirectory);
  if (databaseUrl === null) return withNamedFaults(await openSqliteStorage({ path: databasePath(dataDirectory), log }));
  const { openPostgresStorage } = await import('#storage/sql/open-postgres');
  return withNamedFaults(await openPostgresStorage({ url: databaseUrl, log }));
}

export async function openBlobs({ dataDirectory, s3 }: StoreConfig): Promise<BlobStore & { close(): void }> {
  if (!s3) {
    const blobs = await prepareFilesystemBlobs({ root: blobsPath(dataDirectory) });
    return { ...createCheckedDirectories(withNamedFaults(blobs)), close: () => {} };
  }
  const { openS3Blobs } = await import('#storage/blobs/s3');
  const blobs = await openS3Blobs({ ...s3, cacheDirectory: blobCopiesPath(dataDirectory) });
  return { ...createCheckedDirectories(withNamedFaults(blobs)), close: () => blobs.close() };
}

/** For `whetstone keys` and `limits`, while a server may be running. */
export async function openKeyring(
  config: StoreConfig,
  log: Log,
): Promise<{ apiKeys: ApiKeys; accounts: AccountStore; close(): Promise<void> }> {
  const storage = await openStorage(config, log);
  const apiKeys = createApiKeys({ store: storage.apiKeys, clock: systemClock, log, bootstrapKey: null });
  return { apiKeys, accounts: storage.accounts, close: () => storage.close() };
}

/** Opening it migrates the schema. */
export async function migrateStorage(config: StoreConfig, log: Log): Promise<void> {
  await (await openStorage(config, log)).close();
}
