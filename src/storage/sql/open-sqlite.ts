// The default storage: one SQLite file. Opening brings its schema up to date.
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Kysely, sql } from 'kysely';
import { silentLog, type Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { Storage } from '../storage.ts';
import { createApiKeyStore } from './api-keys.ts';
import { createArtifactStore } from './artifacts.ts';
import { createCheckpointStore } from './checkpoints.ts';
import type { StorageDialect } from './dialect.ts';
import { createEventStore } from './events.ts';
import { createIdempotencyStore } from './idempotency.ts';
import { createJobStore } from './jobs.ts';
import { migrate } from './migrate.ts';
import { createModelStore } from './models.ts';
import type { Tables } from './rows.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';
import { createUsageStore } from './usage.ts';

export interface SqliteOptions {
  readonly path: string;
  readonly log?: Log;
}

/** `:memory:` is for tests. Throws `invalid_request` for a file that is no database, or one of a newer whetstone. */
export async function openSqliteStorage({ path, log = silentLog }: SqliteOptions): Promise<Storage> {
  if (path !== ':memory:') await mkdir(dirname(path), { recursive: true });
  const dialect = openDialect(path);
  const db = new Kysely<Tables>({ dialect: dialect.kysely });
  try {
    const { from, to } = await migrate(db, path);
    if (from < to) log.info('schema.migrated', { path, from, to });
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    apiKeys: createApiKeyStore(db),
    models: createModelStore(db),
    checkpoints: createCheckpointStore(db),
    jobs: createJobStore(db, dialect),
    events: createEventStore(db),
    artifacts: createArtifactStore(db),
    idempotency: createIdempotencyStore(db),
    usage: createUsageStore(db),
    ping: async () => void (await sql`select 1`.execute(db)),
    close: () => db.destroy(),
  };
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
