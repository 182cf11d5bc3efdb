// Checkpoints by model and step.
import { sql, type Kysely, type Transaction } from 'kysely';
import { mergedMetrics, type Checkpoint } from '#domain/checkpoint';
import type { CheckpointStore } from '../storage.ts';
import { countFitting, listPage, readInFitting, weightOf } from './listing.ts';
import { fromCheckpoint, toCheckpoint, type Tables } from './rows.ts';
import { transactionOfOwner } from './transaction.ts';

export function createCheckpointStore(db: Kysely<Tables>): CheckpointStore {
  /** `ifGone`: without the model. */
  const ofModel = <T>(id: string, ifGone: T, work: (tx: Transaction<Tables>) => Promise<T>): Promise<T> =>
    transactionOfOwner(db, { table: 'models', id }, ifGone, work);

  return {
    async find(modelId, step) {
      const row = await db
        .selectFrom('checkpoints')
        .selectAll()
        .where('model_id', '=', modelId)
        .where('step', '=', step)
        .executeTakeFirst();
      return row ? toCheckpoint(row) : null;
    },

    async findLatest(modelId, before) {
      const latest = db
        .selectFrom('checkpoints')
        .selectAll()
        .where('model_id', '=', modelId)
        .orderBy('step', 'desc')
        .limit(1);
      const row = await (before === undefined ? latest : latest.where('step', '<', before)).executeTakeFirst();
      return row ? toCheckpoint(row) : null;
    },

    list: (modelId, page, order) =>
      listPage(
        db,
        {
          table: 'checkpoints',
          of: { model_id: modelId },
          by: ['step'],
          order,
          heavy: ['metrics', 'metadata'],
        },
        page,
        toCheckpoint,
      ),

    async listLatest(modelIds, stepsMax) {
      if (modelIds.length === 0) return [];
      const found = await db
        .selectFrom('models')
        .innerJoin('checkpoints', 'checkpoints.model_id', 'models.id')
        .select(['checkpoints.id', 'model_id', 'step', 'blob_prefix', 'fresh', 'checkpoints.created_at_ms'])
        .select([weightOf(['metrics']).as('weight'), sql<number | string>`models.last_step - step`.as('age')])
        .where('models.id', 'in', [...modelIds])
        .where((eb) => eb('checkpoints.step', '>', eb('models.last_step', '-', stepsMax)))
        .orderBy('model_id')
        .orderBy('step')
        .execute();
      const newest = found.toSorted((a, b) => Number(a.age) - Number(b.age));
      const ids = newest.slice(0, countFitting(newest)).map(({ id }) => id);
      const read = db.selectFrom('checkpoints').select(['id', 'metrics']);
      const rows = ids.length === 0 ? [] : await read.where('id', 'in', ids).execute();
      const metrics = new Map(rows.map((row) => [row.id, row.metrics]));
      return found.map((row) => toCheckpoint({ ...row, metrics: metrics.get(row.id) ?? '{}' }));
    },

    async listAt(modelId, steps) {
      if (steps.length === 0) return [];
      const found = await db
        .selectFrom('checkpoints')
        .select(['id', weightOf(['metrics', 'metadata']).as('weight')])
        .where('model_id', '=', modelId)
        .where('step', 'in', [...steps])
        .execute();
      return readInFitting(found, async (some) => {
        const ids = some.map(({ id }) => id);
        return (await db.selectFrom('checkpoints').selectAll().where('id', 'in', ids).execute()).map(toCheckpoint);
      });
    },

    async findById(id) {
      const row = await db.selectFrom('checkpoints').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? toCheckpoint(row) : null;
    },

    async count(modelId) {
      const { steps } = await db
        .selectFrom('checkpoints')
        .select((eb) => eb.fn.countAll<number | string>().as('steps'))
        .where('model_id', '=', modelId)
        .executeTakeFirstOrThrow();
      return Number(steps);
    },

    async setMetadata(id, metadata) {
      await db
        .updateTable('checkpoints')
        .set({ metadata: JSON.stringify(metadata) })
        .where('id', '=', id)
        .execute();
    },

    async findMetadata(id) {
      const row = await db.selectFrom('checkpoints').select('metadata').where('id', '=', id).executeTakeFirst();
      return JSON.parse(row?.metadata ?? '{}') as Record<string, unknown>;
    },

    add: (checkpoint, atLeastStep = 0) =>
      ofModel<Checkpoint | null>(checkpoint.modelId, null, async (tx) => {
        const { step } = await tx
          .selectFrom('training_jobs')
          .select((eb) => eb.fn.max('step').as('step'))
          .where('model_id', '=', checkpoint.modelId)
          .where('status', '=', 'running')
          .executeTakeFirstOrThrow();
        const first = Math.max(atLeastStep, Number(step ?? -1) + 1); // the step of a running job is taken
        const model = await tx
          .updateTable('models')
          .set({
            last_step: sql<number>`case when last_step < ${first} then ${first} else last_step + 1 end`,
          })
          .where('id', '=', checkpoint.modelId)
          .returning('last_step')
          .executeTakeFirst();
        if (!model) return null;
        const added = { ...checkpoint, step: model.last_step };
        await tx.insertInto('checkpoints').values(fromCheckpoint(added)).execute();
        return added;
      }),

    async noteUse(id, usedAtMs) {
      await db
        .updateTable('checkpoints')
        .set({ used_at_ms: usedAtMs })
        .where('id', '=', id)
        .where('used_at_ms', '<', usedAtMs)
        .execute();
    },

    async listNeeded(modelId, usedSinceMs) {
      const used = db
        .selectFrom('checkpoints')
        .select(sql<number | null>`step`.as('step'))
        .where('model_id', '=', modelId)
        .where('used_at_ms', '>=', usedSinceMs);
      const evaluated = db
        .selectFrom('evaluations')
        .innerJoin('training_jobs', 'training_jobs.id', 'evaluations.job_id')
        .select('training_jobs.step')
        .where('training_jobs.model_id', '=', modelId)
        .where('evaluations.ended_at_ms', 'is', null);
      const saved = db.selectFrom('tinker_checkpoints').select('step').where('model_id', '=', modelId);
      const sampled = db.selectFrom('tinker_samplers').select('step').where('model_id', '=', modelId);
      const rows = await used.union(evaluated).union(saved).union(sampled).execute();
      return rows.flatMap(({ step }) => step ?? []);
    },

    async mergeMetrics(id, metrics) {
      const of = await db.selectFrom('checkpoints').select('model_id').where('id', '=', id).executeTakeFirst();
      if (!of) return;
      await ofModel(of.model_id, undefined, async (tx) => {
        const row = await tx.selectFrom('checkpoints').select('metrics').where('id', '=', id).executeTakeFirst();
        if (!row) return;
        const merged = mergedMetrics(JSON.parse(row.metrics) as Record<string, number>, metrics);
        await tx
          .updateTable('checkpoints')
          .set({ metrics: JSON.stringify(merged) })
          .where('id', '=', id)
          .execute();
      });
    },

    async delete(modelId, steps) {
      const requested = [...new Set(steps)];
      if (requested.length === 0) return { deleted: [], notFoundSteps: [] };
      const rows = await db
        .deleteFrom('checkpoints')
        .where('model_id', '=', modelId)
        .where('step', 'in', requested)
        .returningAll()
        .execute();
      const deleted = rows.map(toCheckpoint).sort((a, b) => a.step - b.step);
      const found = new Set(deleted.map(({ step }) => step));
      return { deleted, notFoundSteps: requested.filter((step) => !found.has(step)) };
    },
  };
}
