// Online training and the right to make its next job. Every write of a worker names its attempt, as in jobs.ts.
import { sql, type Kysely } from 'kysely';
import type { OnlineTrainingStore } from '../online-training-store.ts';
import type { StorageDialect } from './dialect.ts';
import { hasLapsed, leasedTo } from './lease.ts';
import { toOnlineTraining, type Plan } from './online-training-rows.ts';
import type { Tables } from './rows.ts';

/** Set by what may complete a group; claiming clears it. */
const AT_ONCE = 0;

export function createOnlineTrainingStore(db: Kysely<Tables>, { skipLocked }: StorageDialect): OnlineTrainingStore {
  const ofAttempt = (modelId: string, attempt: number) =>
    db.updateTable('online_training').where('model_id', '=', modelId).where('attempt', '=', attempt);

  return {
    async put({ id, modelId, entity, keyId, groupSizeMin, ...rest }, nowMs) {
      const { groupsPerStep, maxStaleness, untilStep, job, sent } = rest;
      const set = {
        entity,
        key_id: keyId,
        group_size_min: groupSizeMin,
        plan: JSON.stringify({ groupsPerStep, maxStaleness, untilStep, job, sent } satisfies Plan),
        ...{ status: 'active' as const, paused_by: null, last_problem: null, last_job_id: null },
        ...{ updated_at_ms: nowMs, due_at_ms: AT_ONCE, unsettled: 0, worker: null, lease_until_ms: null },
      };
      const row = await db
        .insertInto('online_training')
        .values({ ...set, model_id: modelId, id, job_count: 0, created_at_ms: nowMs, attempt: 0 })
        .onConflict((conflict) =>
          conflict.column('model_id').doUpdateSet({ ...set, attempt: sql<number>`online_training.attempt + 1` }),
        )
        .returningAll()
        .executeTakeFirstOrThrow();
      return toOnlineTraining(row);
    },

    async find(modelId) {
      const row = await db.selectFrom('online_training').selectAll().where('model_id', '=', modelId).executeTakeFirst();
      return row ? toOnlineTraining(row) : null;
    },

    async delete(modelId) {
      const { numDeletedRows } = await db
        .deleteFrom('online_training')
        .where('model_id', '=', modelId)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },

    async claim(worker, nowMs, leaseMs) {
      const next = sql<string>`(
        select model_id from online_training
         where status = 'active' and due_at_ms <= ${nowMs}
           and (lease_until_ms is null or ${hasLapsed('lease_until_ms', nowMs, leaseMs)})
         order by due_at_ms, model_id
         limit 1 ${skipLocked})`;
      const row = await db
        .updateTable('online_training')
        .set({
          ...leasedTo(worker, nowMs, leaseMs),
          due_at_ms: nowMs,
          unsettled: sql<number>`unsettled + 1`,
        })
        .where('model_id', '=', next)
        .returningAll()
        .executeTakeFirst();
      return row ? toOnlineTraining(row) : null;
    },

    async renewLease(modelId, attempt, leaseUntilMs) {
      const { numUpdatedRows } = await ofAttempt(modelId, attempt)
        .set({ lease_until_ms: leaseUntilMs })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async settle(modelId, attempt, { status, pausedBy, lastProblem, jobCount, lastJobId, dueAtMs }) {
      const { numUpdatedRows } = await ofAttempt(modelId, attempt)
        .set({
          status,
          paused_by: pausedBy,
          last_problem: lastProblem,
          job_count: jobCount,
          last_job_id: lastJobId,
          due_at_ms: sql<number>`case when due_at_ms = ${AT_ONCE} then due_at_ms else ${dueAtMs} end`, // what came meanwhile
          ...{ unsettled: 0, worker: null, lease_until_ms: null },
        })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async releaseLeases() {
      await db.updateTable('online_training').set({ worker: null, lease_until_ms: null }).execute();
    },
  };
}

/** Within the transaction that rewards or deletes episodes of the model. */
export async function makeDue(tx: Kysely<Tables>, modelIds: readonly string[]): Promise<void> {
  if (modelIds.length === 0) return;
  await tx
    .updateTable('online_training')
    .set({ due_at_ms: AT_ONCE })
    .where('model_id', 'in', [...modelIds])
    .execute();
}
