// Jobs as they are read: one, lists, counts, and what others ask about many at once. Changes nothing; that is jobs.ts.
import { sql, type Kysely } from 'kysely';
import type { JobStatus } from '#domain/training-job';
import type { KlReference } from '#domain/trajectory';
import type { JobStore } from '../storage.ts';
import { UNFINISHED } from './episodes-of-jobs.ts';
import { listPage, readInFitting, weightOf } from './listing.ts';
import { nameContains } from './models.ts';
import { listQueued } from './queued-jobs.ts';
import { toTrainingJob, type Tables } from './rows.ts';

type Reading = Pick<
  JobStore,
  | 'find'
  | 'list'
  | 'listFacts'
  | 'countByStatus'
  | 'listLatest'
  | 'listReferences'
  | 'count'
  | 'listQueued'
  | 'listWithOldBody'
>;

export const readingJobs = (db: Kysely<Tables>): Reading => ({
  async find(id) {
    const row = await db.selectFrom('training_jobs').selectAll().where('id', '=', id).executeTakeFirst();
    return row ? toTrainingJob(row) : null;
  },

  list: ({ entity, modelId, status, type, search }, page, order = 'asc') =>
    listPage(
      db,
      {
        table: 'training_jobs',
        of: { entity },
        where: { model_id: modelId, status, type },
        also: search === undefined ? [] : [ofModelsNamed(entity, search)],
        by: orderOf(modelId, status),
        order,
        heavy: ['skipped', 'error_message', 'kl_reference'],
      },
      page,
      toTrainingJob,
    ),

  async listFacts(ids) {
    if (ids.length === 0) return [];
    const facts = (some: readonly string[]) =>
      db
        .selectFrom('training_jobs as job')
        .innerJoin('models', 'models.id', 'job.model_id')
        .leftJoin('checkpoints as made', (join) =>
          join
            .onRef('made.model_id', '=', 'job.model_id')
            .onRef('made.step', '=', 'job.step')
            .on('job.status', '=', 'succeeded'),
        )
        .where('job.id', 'in', [...some]);
    const found = await facts(ids)
      .select(['job.id', weightOf(['made.metrics']).as('weight')])
      .execute();
    return readInFitting(found, async (some) => {
      const rows = await facts(some.map(({ id }) => id))
        .select(['job.id', 'models.project', 'models.name', 'made.metrics'])
        .execute();
      return rows.map(({ id, project, name, metrics }) => ({
        jobId: id,
        project,
        model: name,
        metrics: metrics === null ? null : (JSON.parse(metrics) as Record<string, number>),
      }));
    });
  },

  async countByStatus({ entity, modelId, type, search }) {
    let query = db
      .selectFrom('training_jobs')
      .select((eb) => ['status', eb.fn.countAll<number | string>().as('count')])
      .where('entity', '=', entity)
      .groupBy('status');
    if (modelId !== undefined) query = query.where('model_id', '=', modelId);
    if (type !== undefined) query = query.where('type', '=', type);
    if (search !== undefined) query = query.where(ofModelsNamed(entity, search));
    return Object.fromEntries((await query.execute()).map(({ status, count }) => [status, Number(count)]));
  },

  async listLatest(modelIds) {
    if (modelIds.length === 0) return [];
    const latest = sql<number>`(select max(of_model.ordinal) from training_jobs of_model where of_model.model_id = models.id)`;
    const rows = await db
      .selectFrom('models')
      .innerJoin('training_jobs as job', (join) => join.on('job.ordinal', '=', latest))
      .selectAll('job')
      .where('models.id', 'in', [...modelIds])
      .execute();
    return rows.map(toTrainingJob);
  },

  async listReferences(entity) {
    const rows = await db
      .selectFrom('training_jobs')
      .select(['model_id', 'kl_reference'])
      .where('entity', '=', entity)
      .where('status', 'in', UNFINISHED)
      .where('kl_reference', 'is not', null)
      .execute();
    return rows.map((row) => ({ modelId: row.model_id, reference: JSON.parse(row.kl_reference!) as KlReference }));
  },

  async count(status, account) {
    let query = db
      .selectFrom('training_jobs')
      .select((eb) => eb.fn.countAll<number | string>().as('count'))
      .where('status', '=', status);
    if (account) query = query.where('entity', '=', account.entity);
    if (account?.keyId) query = query.where('key_id', '=', account.keyId);
    return Number((await query.executeTakeFirstOrThrow()).count);
  },

  listQueued: (limit) => listQueued(db, limit),

  async listWithOldBody(endedBeforeMs, limit) {
    const rows = await db
      .selectFrom('training_jobs')
      .selectAll()
      .where('type', '=', 'rl')
      .where('body_blob', '<>', '')
      .where('ended_at_ms', '<', endedBeforeMs)
      .orderBy('ended_at_ms')
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map(toTrainingJob);
  },
});

/** Ordered like the index that contains these rows. */
const ofModelsNamed = (entity: string, search: string) =>
  sql<boolean>`model_id in (select id from models where entity = ${entity} and ${nameContains(search)})`;

function orderOf(modelId: string | undefined, status: JobStatus | undefined) {
  if (modelId !== undefined) return ['model_id', 'ordinal'] as const;
  return status === undefined ? (['entity', 'ordinal'] as const) : (['entity', 'status', 'ordinal'] as const);
}
