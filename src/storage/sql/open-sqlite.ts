// The default storage: one SQLite file. Opening brings its schema up to date.
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { silentLog, type Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { Storage } from '../storage.ts';
import type { StorageDialect } from './dialect.ts';
import { openSqlStorage } from './sql-storage.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';

export interface SqliteOptions {
  readonly path: string;
  readonly log?: Log;
}

/** `:memory:` is for tests. Throws `invalid_request` for a file that is no database, or one of a newer whetstone. */
export async function openSqliteStorage({ path, log = silentLog }: SqliteOptions): Promise<Storage> {
  if (path !== ':memory:') await mkdir(dirname(path), { recursive: true });
  return openSqlStorage(openDialect(path), path, log);
}

function openDialect(path: string): StorageDialect {
  try {
    return createSqliteDialect(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AppError('invalid_request', `Cannot open the database ${path}: ${reason}. Name another data directory.`, {
      cause: error,
    });
  }
}
