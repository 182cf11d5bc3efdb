// The slow, plain twin of storage/sql: arrays and maps. It defines what the SQL stores must answer to the operations of
// storage-operations.ts, and knows no other operation.
import type { Storage } from '#storage/storage';
import { createCheckpoints } from './checkpoints.ts';
import { createEvents } from './events.ts';
import { createIdempotency } from './idempotency.ts';
import { createJobs } from './jobs.ts';
import { createModels } from './models.ts';
import { createTables } from './tables.ts';
import { createUsage } from './usage.ts';

export interface PlainStorage {
  readonly models: Pick<Storage['models'], 'create' | 'list' | 'delete'>;
  readonly checkpoints: Pick<Storage['checkpoints'], 'findLatest' | 'list' | 'mergeMetrics' | 'delete'>;
  readonly jobs: Pick<
    Storage['jobs'],
    | 'create'
    | 'list'
    | 'countQueued'
    | 'claim'
    | 'renewLease'
    | 'releaseLeases'
    | 'assignStep'
    | 'updateProgress'
    | 'finish'
    | 'requestCancel'
  >;
  readonly events: Pick<Storage['events'], 'append' | 'list' | 'count'>;
  readonly usage: Pick<Storage['usage'], 'add' | 'list'>;
  readonly idempotency: Pick<Storage['idempotency'], 'begin' | 'complete' | 'release' | 'releaseAll'>;
}

export function createPlainStorage(): PlainStorage {
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
