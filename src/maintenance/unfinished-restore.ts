// A restore copies blobs first and all rows last, in one transaction. One that was interrupted may have copied blobs but no rows: a
// server would start on them as if the store were new. `restoring.db` in the data directory, the restore's working copy of the
// rows, shows that a restore began.
import { rm } from 'node:fs/promises';
import type { StoreConfig } from '#config/server-config';
import { databasePath, restoringPath } from '#config/data-directory';
import { pathExists } from '#base/path-exists';
import { AppError } from '#domain/errors';
import { hasRows } from '#storage/sql/copy-rows';
import { getDatabase } from './store-readers.ts';

/** Files that SQLite may keep next to a database. */
export const SQLITE_SUFFIXES = ['-wal', '-shm', '-journal'];

/** Call while the data directory is locked: a running restore has the same file. Throws `invalid_request`. */
export async function refuseUnfinishedRestore(config: StoreConfig): Promise<void> {
  const marker = restoringPath(config.dataDirectory);
  if (!(await pathExists(marker))) return;
  if ((await placeOfRows(config)) !== null) return deleteMarker(config.dataDirectory); // all rows were copied
  throw new AppError(
    'invalid_request',
    `A restore into ${config.dataDirectory} was interrupted, so only a part of the backup may be there. Run the same \`whetstone restore\` again, or use another --data directory. To start with an empty store instead, delete its blobs and ${marker}.`,
  );
}

/** Where the store's rows are; null if it has none. */
export async function placeOfRows(config: StoreConfig): Promise<string | null> {
  if (config.databaseUrl === null && !(await pathExists(databasePath(config.dataDirectory)))) return null;
  const database = await getDatabase(config, 'read');
  return (await hasRows(database)) ? database.place : null;
}

export async function deleteMarker(dataDirectory: string): Promise<void> {
  for (const suffix of [...SQLITE_SUFFIXES, '']) await rm(`${restoringPath(dataDirectory)}${suffix}`, { force: true });
}
