// `whetstone backup`: creates a data directory that appears completely or not at all, while the store may be in use.
// maintenance/backup.ts decides which blobs belong to it, and what happens to those deleted meanwhile.
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { makeDirectories } from '#base/make-directories';
import { pathExists } from '#base/path-exists';
import { makePrivateDirectory } from '#base/private-directory';
import { syncPath } from '#base/sync-path';
import { AppError } from '#domain/errors';
import { backUp, type BackupReport } from './backup.ts';
import { prepareFilesystemBlobs } from '#storage/blobs/filesystem';
import { copyRows, type Database } from '#storage/sql/copy-rows';
import { openRows } from '#storage/sql/open-rows';
import { createSqliteDialect } from '#storage/sql/sqlite-dialect';
import type { OnDone } from './reports.ts';
import { unfinishedBackup } from './unfinished-backup.ts';
import type { StoreConfig } from '#config/server-config';
import { copySecretKey } from './copy-secret-key.ts';
import { openBlobReader, getDatabase } from './store-readers.ts';
import { blobsPath, databasePath } from '#config/data-directory';

/** Throws `invalid_request` if the directory exists, or there is no store. */
export async function runBackup(config: StoreConfig, into: string, onDone: OnDone): Promise<BackupReport> {
  const directory = resolve(into);
  if (await pathExists(directory))
    throw new AppError('invalid_request', `${directory} already exists. Choose a new directory.`);
  const unfinished = unfinishedBackup(directory);
  await makeDirectories(dirname(unfinished));
  await mkdir(unfinished).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EEXIST') throw cause;
    const message = `${unfinished} already exists: another backup is running, or was killed. If none is running, delete it.`;
    throw new AppError('invalid_request', message, { cause });
  });
  onDone('copying rows', 0, 0);
  await makePrivateDirectory(unfinished);
  try {
    const report = await fill(unfinished, config, onDone);
    await rename(unfinished, directory);
    await syncPath(dirname(directory));
    return report;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

async function fill(directory: string, config: StoreConfig, onDone: OnDone): Promise<BackupReport> {
  const root = blobsPath(directory);
  const place = databasePath(directory);
  const copy = (): Database => ({ dialect: createSqliteDialect(place, 'copy'), place });
  const target = await prepareFilesystemBlobs({ root });
  const source = await openBlobReader(config);
  try {
    const report = await backUp({
      async copyRows() {
        await rm(place, { force: true });
        await copyRows(await getDatabase(config, 'read'), copy(), { begins: false });
        return openRows(copy());
      },
      source,
      target,
      onProgress: (done, of) => onDone('copying', done, of),
    });
    await copySecretKey(config.dataDirectory, directory);
    for (const path of [place, root, directory]) await syncPath(path);
    return report;
  } finally {
    await source.close();
  }
}
