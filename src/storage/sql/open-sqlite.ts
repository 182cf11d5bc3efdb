// The default storage: one SQLite file. Opening brings its schema up to date.
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Kysely, sql } from 'kysely';
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

/** `:memory:` is for tests. */
export async function openSqliteStorage({ path }: { path: string }): Promise<Storage> {
  if (path !== ':memory:') await mkdir(dirname(path), { recursive: true });
  const db = new Kysely<Tables>({ dialect: createSqliteDialect(path) });
  try {
    await migrate(db);
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
