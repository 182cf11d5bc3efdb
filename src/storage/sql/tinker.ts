// Rows of the Tinker protocol, by what they are about.
import type { Kysely } from 'kysely';
import type { TinkerStore } from '../tinker-store.ts';
import type { StorageDialect } from './dialect.ts';
import type { Tables } from './rows.ts';
import { checkpointsOfTinker } from './tinker-checkpoints.ts';
import { operationsOfTinker } from './tinker-operations.ts';
import { runsOfTinker } from './tinker-runs.ts';
import { sessionsOfTinker } from './tinker-sessions.ts';

export const createTinkerStore = (db: Kysely<Tables>, dialect: StorageDialect): TinkerStore => ({
  ...sessionsOfTinker(db),
  ...runsOfTinker(db, dialect),
  ...operationsOfTinker(db),
  ...checkpointsOfTinker(db),
});
