// The default storage: one SQLite file. Opening brings its schema up to date.
import { dirname } from 'node:path';
import type { Log } from '#base/log';
import { makeDirectories } from '#base/make-directories';
import { AppError } from '#domain/errors';
import { storageRemedy } from '#domain/storage-fault';
import type { Storage } from '../storage.ts';
import { openSqlStorage } from './sql-storage.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';

export interface SqliteOptions {
  readonly path: string;
  readonly log: Log;
}

/** `:memory:` is for tests. Throws `invalid_request` if the file is not a database, or belongs to a newer whetstone. */
export async function openSqliteStorage({ path, log }: SqliteOptions): Promise<Storage> {
  try {
    if (path !== ':memory:') await makeDirectories(dirname(path));
    return await openSqlStorage(createSqliteDialect(path), path, log);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const remedy = (error instanceof Error ? storageRemedy(error) : null) ?? 'Choose another data directory.';
    throw new AppError('invalid_request', `Cannot open the database ${path}: ${reason}. ${remedy}`, { cause: error });
  }
}
