// Rows and blobs for commands that read or copy a store, while a server may be using it: nothing is migrated,
// emptied or locked. Servers open theirs in server/open-stores.ts.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathExists } from '#base/path-exists';
import { AppError } from '#domain/errors';
import type { BlobReader } from '#storage/blobs';
import { prepareFilesystemReader } from '#storage/blobs/filesystem';
import { withNamedFaults } from '#storage/named-faults';
import type { Database } from '#storage/sql/copy-rows';
import { createSqliteDialect, type SqliteUse } from '#storage/sql/sqlite-dialect';
import type { StoreConfig } from '#config/server-config';
import { blobsPath, databasePath } from '#config/data-directory';

/** `use` is for SQLite. Throws `invalid_request` if there is no database; a Postgres that does not answer fails later. */
export async function getDatabase(
  { dataDirectory, databaseUrl }: Pick<StoreConfig, 'dataDirectory' | 'databaseUrl'>,
  use: SqliteUse,
): Promise<Database> {
  if (databaseUrl === null) {
    const place = databasePath(dataDirectory);
    if (use === 'read') await requireDatabase(place); // opening would create one
    return { dialect: createSqliteDialect(place, use), place };
  }
  const { COMMAND_NAME, createPostgresDialect, postgresPlace } = await import('#storage/sql/postgres-dialect');
  return { dialect: createPostgresDialect(databaseUrl, { name: COMMAND_NAME }), place: postgresPlace(databaseUrl) };
}

/** Throws `invalid_request`. */
export async function requireDatabase(path: string): Promise<void> {
  if (await pathExists(path)) return;
  throw new AppError('invalid_request', `There is no database ${path}. Check the name of the directory.`);
}

export async function openBlobReader({
  dataDirectory,
  s3,
}: Pick<StoreConfig, 'dataDirectory' | 's3'>): Promise<BlobReader & { close(): Promise<void> }> {
  if (!s3) {
    const files = await prepareFilesystemReader({ root: blobsPath(dataDirectory) });
    return { ...withMethods(files), close: async () => {} };
  }
  const { openS3Blobs } = await import('#storage/blobs/s3');
  const cacheDirectory = await mkdtemp(join(tmpdir(), 'whetstone-copies-')); // not the server's: opening empties it
  const blobs = await openS3Blobs({ ...s3, cacheDirectory });
  return {
    ...withMethods(blobs),
    async close() {
      blobs.close();
      await rm(cacheDirectory, { recursive: true, force: true });
    },
  };
}

const withMethods = (blobs: BlobReader): BlobReader => {
  const named = withNamedFaults(blobs);
  return {
    find: (name) => named.find(name),
    stream: (name, from) => named.stream(name, from),
    list: (prefix) => named.list(prefix),
  };
};
