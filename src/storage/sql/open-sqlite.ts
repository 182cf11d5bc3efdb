// The default storage: one SQLite file. Opening brings its schema up to date.
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Kysely, sql, type SqliteDialect } from 'kysely';
import { AppError } from '#domain/errors';
import type { Storage } from '../storage.ts';
import { createApiKeyStore } from './api-keys.ts';
import { createCheckpointStore } from './checkpoints.ts';
import { createEventStore } from './events.ts';
import { createIdempotencyStore } from './idempotency.ts';
import { createJobStore } from './jobs.ts';
import { migrate } from './migrate.ts';
import { createModelStore } from './models.ts';
import type { Tables } from './rows.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';

/** `:memory:` is for tests. Throws `invalid_request` for a file that is no database, or one of a newer whetstone. */
export async function openSqliteStorage({ path }: { path: string }): Promise<Storage> {
  if (path !== ':memory:') await mkdir(dirname(path), { recursive: true });
  const db = new Kysely<Tables>({ dialect: openDialect(path) });
  try {
    await migrate(db, path);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    apiKeys: createApiKeyStore(db),
    models: createModelStore(db),
    checkpoints: createCheckpointStore(db),
    jobs: createJobStore(db),
    events: createEventStore(db),
    idempotency: createIdempotencyStore(db),
    ping: async () => void (await sql`select 1`.execute(db)),
    close: () => db.destroy(),
  };
}

function openDialect(path: string): SqliteDialect {
  try {
    return createSqliteDialect(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AppError('invalid_request', `Cannot open the database ${path}: ${reason}. Name another data directory.`, {
      cause: error,
    });
  }
}
