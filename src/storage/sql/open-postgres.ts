// Storage in a Postgres database, which several servers may share. Opening brings its schema up to date.
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { Storage } from '../storage.ts';
import { createPostgresDialect, postgresPlace } from './postgres-dialect.ts';
import { openSqlStorage } from './sql-storage.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  readonly log: Log;
}

/** Throws `invalid_request` if the database does not answer, or its schema belongs to a newer whetstone. Messages never contain the password. */
export async function openPostgresStorage({ url, log }: PostgresOptions): Promise<Storage> {
  const place = postgresPlace(url);
  try {
    return await openSqlStorage(createPostgresDialect(url, { log }), place, log);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new AppError(
      'invalid_request',
      `Cannot open the database ${place}: ${reason}. Check WHETSTONE_DATABASE_URL.`,
      {
        cause: error,
      },
    );
  }
}
