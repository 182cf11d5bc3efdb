// Migrates a database to the schema of this version: every migration once, in order, in one transaction. A schema from a
// newer version is refused and not changed.
import { sql, type Kysely } from 'kysely';
import { AppError } from '#domain/errors';
import { firstLight } from './migrations/0001-first-light.ts';
import { usage } from './migrations/0002-usage.ts';
import { resumedRequests } from './migrations/0003-resumed-requests.ts';
import { artifacts } from './migrations/0004-artifacts.ts';
import { keysAndLimits } from './migrations/0005-keys-and-limits.ts';
import { webhooks } from './migrations/0006-webhooks.ts';
import { stepNumbers } from './migrations/0007-step-numbers.ts';
import { trajectoryLogs } from './migrations/0008-trajectory-logs.ts';
import { newestFirst } from './migrations/0009-newest-first.ts';
import { evaluations } from './migrations/0010-evaluations.ts';
import { latestActivity } from './migrations/0011-latest-activity.ts';
import { responses } from './migrations/0012-responses.ts';
import { tinker } from './migrations/0013-tinker.ts';
import { runs } from './migrations/0014-runs.ts';
import { artifactDrafts } from './migrations/0015-artifact-drafts.ts';
import { publishedWeights } from './migrations/0016-published-weights.ts';
import { savePolicies } from './migrations/0017-save-policies.ts';
import { readings } from './migrations/0018-readings.ts';
import { episodes } from './migrations/0019-episodes.ts';
import { episodesByReward } from './migrations/0020-episodes-by-reward.ts';
import { waiting } from './migrations/0021-waiting.ts';
import { onlineTraining } from './migrations/0022-online-training.ts';
import { waitingClients } from './migrations/0023-waiting-clients.ts';
import { modelLabels } from './migrations/0024-model-labels.ts';
import { evaluationAttempts } from './migrations/0025-evaluation-attempts.ts';
import { sortedArtifacts } from './migrations/0026-sorted-artifacts.ts';
import type { Tables } from './rows.ts';

const MIGRATIONS: readonly (readonly string[])[] = [
  firstLight,
  usage,
  resumedRequests,
  artifacts,
  keysAndLimits,
  webhooks,
  stepNumbers,
  trajectoryLogs,
  newestFirst,
  evaluations,
  latestActivity,
  responses,
  tinker,
  runs,
  artifactDrafts,
  publishedWeights,
  savePolicies,
  readings,
  episodes,
  episodesByReward,
  waiting,
  onlineTraining,
  waitingClients,
  modelLabels,
  evaluationAttempts,
  sortedArtifacts,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** 0: a new database. */
export async function readSchemaVersion(db: Kysely<Tables>): Promise<number> {
  try {
    const { rows } = await sql<{ version: number }>`select version from schema_version`.execute(db);
    return rows[0]?.version ?? 0;
  } catch (error) {
    if (error instanceof Error && /no such table|relation .* does not exist/.test(error.message)) return 0;
    throw error;
  }
}

export interface MigrationResult {
  readonly from: number;
  readonly to: number;
}

/** `place` names the database in the error. */
export async function migrate(db: Kysely<Tables>, place: string): Promise<MigrationResult> {
  return db.transaction().execute(async (tx) => {
    await sql`create table if not exists schema_version (version integer not null)`.execute(tx);
    const { rows } = await sql<{ version: number }>`select version from schema_version`.execute(tx);
    const from = rows[0]?.version ?? 0;
    if (from > SCHEMA_VERSION) {
      throw new AppError(
        'invalid_request',
        `The database ${place} has schema version ${from}, this whetstone knows versions up to ${SCHEMA_VERSION}. Use the newer whetstone that wrote it.`,
      );
    }
    for (const migration of MIGRATIONS.slice(from)) {
      for (const statement of migration) await sql.raw(statement).execute(tx);
    }
    if (rows.length === 0) await sql`insert into schema_version (version) values (${SCHEMA_VERSION})`.execute(tx);
    else await sql`update schema_version set version = ${SCHEMA_VERSION}`.execute(tx);
    return { from, to: SCHEMA_VERSION };
  });
}
