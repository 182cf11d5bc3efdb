// A Storage over any database that has a StorageDialect: migrates its schema and creates its stores.
import { Kysely, sql } from 'kysely';
import type { Log } from '#base/log';
import type { Storage } from '../storage.ts';
import { createAccountStore } from './accounts.ts';
import { createApiKeyStore } from './api-keys.ts';
import { createArtifactStore } from './artifacts.ts';
import { createCheckpointStore } from './checkpoints.ts';
import type { StorageDialect } from './dialect.ts';
import { createEpisodeStore } from './episodes.ts';
import { createEvaluationStore } from './evaluations.ts';
import { createEventStore } from './events.ts';
import { createIdempotencyStore } from './idempotency.ts';
import { createInventory } from './inventory.ts';
import { createJobStore } from './jobs.ts';
import { migrate } from './migrate.ts';
import { createModelStore } from './models.ts';
import { createOnlineTrainingStore } from './online-training.ts';
import { createResponseStore } from './responses.ts';
import type { Tables } from './rows.ts';
import { createTinkerStore } from './tinker.ts';
import { createRunStore } from './runs.ts';
import { createTrajectoryLogStore } from './trajectory-logs.ts';
import { createUsageStore } from './usage.ts';
import { createWebhookStore } from './webhooks.ts';

/** `place` names the database in log lines and errors. */
export async function openSqlStorage(dialect: StorageDialect, place: string, log: Log): Promise<Storage> {
  const db = new Kysely<Tables>({ dialect: dialect.kysely });
  const migrating = dialect.migrating ? new Kysely<Tables>({ dialect: dialect.migrating }) : db;
  try {
    const { from, to } = await migrate(migrating, place);
    if (from < to) log.info('schema.migrated', { place, from, to });
    await sql`select 1`.execute(db); // a command that looks for servers sees its connection
  } catch (error) {
    await db.destroy();
    throw error;
  } finally {
    if (migrating !== db) await migrating.destroy();
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
    accounts: createAccountStore(db),
    webhooks: createWebhookStore(db, dialect),
    trajectoryLogs: createTrajectoryLogStore(db),
    evaluations: createEvaluationStore(db, dialect),
    episodes: createEpisodeStore(db),
    onlineTraining: createOnlineTrainingStore(db, dialect),
    responses: createResponseStore(db, dialect),
    tinker: createTinkerStore(db, dialect),
    runs: createRunStore(db),
    inventory: createInventory(db),
    ping: async () => void (await sql`select 1`.execute(db)),
    close: () => db.destroy(),
  };
}
