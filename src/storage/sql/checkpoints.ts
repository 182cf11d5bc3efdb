// Checkpoints by model and step.
import { sql, type Kysely } from 'kysely';
import type { CheckpointStore } from '../storage.ts';
import { toListing } from './listing.ts';
import { toCheckpoint, type Tables } from './rows.ts';

export function createCheckpointStore(db: Kysely<Tables>): CheckpointStore {
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

    async findLatest(modelId) {
      const row = await db
        .selectFrom('checkpoints')
        .selectAll()
        .where('model_id', '=', modelId)
        .orderBy('step', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row ? toCheckpoint(row) : null;
    },

    async list(modelId, { after, limit }, order) {
      let query = db.selectFrom('checkpoints').selectAll().where('model_id', '=', modelId);
      if (after !== null) {
        const seen = sql<number>`(select step from checkpoints where id = ${after} and model_id = ${modelId})`;
        query = query.where('step', order === 'asc' ? '>' : '<', seen);
      }
      return toListing(
        await query
          .orderBy('step', order)
          .limit(limit + 1)
          .execute(),
        limit,
        toCheckpoint,
      );
    },

    mergeMetrics(id, metrics) {
      return db.transaction().execute(async (tx) => {
        const row = await tx.selectFrom('checkpoints').select('metrics').where('id', '=', id).executeTakeFirst();
        if (!row) return;
        const merged = { ...(JSON.parse(row.metrics) as Record<string, number>), ...metrics };
        await tx
          .updateTable('checkpoints')
          .set({ metrics: JSON.stringify(merged) })
          .where('id', '=', id)
          .execute();
      });
    },

    async delete(modelId, steps) {
      const wanted = [...new Set(steps)];
      if (wanted.length === 0) return { deleted: [], notFoundSteps: [] };
      const rows = await db
        .deleteFrom('checkpoints')
        .where('model_id', '=', modelId)
        .where('step', 'in', wanted)
        .returningAll()
        .execute();
      const deleted = rows.map(toCheckpoint).sort((a, b) => a.step - b.step);
      const found = new Set(deleted.map(({ step }) => step));
      return { deleted, notFoundSteps: wanted.filter((step) => !found.has(step)) };
    },
  };
}
