// What queued jobs wait behind, as far as the database knows. Which trainer has room for them only its server knows.
import { sql, type Kysely } from 'kysely';
import type { WaitingFor } from '#domain/training-job';
import type { QueuedJob } from '../storage.ts';
import { UNFINISHED } from './episodes-of-jobs.ts';
import type { Tables } from './rows.ts';

export async function listQueued(db: Kysely<Tables>, limit: number): Promise<QueuedJob[]> {
  const before = sql<string | null>`(
    select older.id from training_jobs older
     where older.model_id = job.model_id and older.ordinal < job.ordinal and older.status in (${sql.join(UNFINISHED)})
     order by older.ordinal desc limit 1)`;
  const queued = await db
    .selectFrom('training_jobs as job')
    .innerJoin('models', 'models.id', 'job.model_id')
    .select(['job.id', 'job.entity', 'job.waiting_for', 'models.base_model', before.as('before')])
    .where('job.status', '=', 'queued')
    .orderBy('job.ordinal')
    .limit(limit)
    .execute();
  if (queued.length === 0) return [];
  const running = await db
    .selectFrom('training_jobs as job')
    .innerJoin('models', 'models.id', 'job.model_id')
    .select(['job.id', 'job.entity', 'models.base_model'])
    .where('job.status', '=', 'running')
    .orderBy('job.ordinal')
    .execute();
  const firstOver = new Map(running.toReversed().map(({ base_model: base, id, entity }) => [base, { id, entity }]));
  return queued.map((row) => ({
    id: row.id,
    entity: row.entity,
    baseModel: row.base_model,
    waitingFor: row.waiting_for === null ? null : (JSON.parse(row.waiting_for) as WaitingFor),
    behind: row.before === null ? (firstOver.get(row.base_model) ?? null) : { id: row.before, entity: row.entity },
  }));
}
