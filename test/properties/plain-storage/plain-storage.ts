// The slow, plain twin of storage/sql: arrays and maps. It defines what the SQL stores must answer to the operations of
// storage-operations.ts, and knows no other operation.
import { createCheckpoints } from './checkpoints.ts';
import { createEvents } from './events.ts';
import { createIdempotency } from './idempotency.ts';
import { createJobs } from './jobs.ts';
import { createModels } from './models.ts';
import { createTables } from './tables.ts';
import type { TestedStorage } from './tested-storage.ts';
import { createUsage } from './usage.ts';

export function createPlainStorage(): TestedStorage {
  const tables = createTables();
  return {
    models: createModels(tables),
    checkpoints: createCheckpoints(tables),
    jobs: createJobs(tables),
    events: createEvents(tables),
    usage: createUsage(),
    idempotency: createIdempotency(),
  };
}
