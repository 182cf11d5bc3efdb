// Evaluations and the right to run them. Every write of a worker names its attempt: after its lease was taken over it matches no row.
import { sql, type Kysely } from 'kysely';
import type { EvaluationStore, NewEvaluation } from '../evaluation-store.ts';
import type { NewJob } from '../storage.ts';
import type { StorageDialect } from './dialect.ts';
import { toEvaluation } from './evaluation-rows.ts';
import { hasLapsed, leasedTo } from './lease.ts';
import { cursorRow, toListing } from './listing.ts';
import type { Tables } from './rows.ts';
import { transactionOfOwner } from './transaction.ts';

type CancelOutcome = Awaited<ReturnType<EvaluationStore['requestCancel']>>;

export function createEvaluationStore(db: Kysely<Tables>, { skipLocked }: StorageDialect): EvaluationStore {
  const running = (jobId: string, attempt: number) =>
    db
      .updateTable('evaluations')
      .where('job_id', '=', jobId)
      .where('attempt', '=', attempt)
      .where('status', '=', 'running');

  return {
    async find(jobId) {
      const row = await db.selectFrom('evaluations').selectAll().where('job_id', '=', jobId).executeTakeFirst();
      return row ? toEvaluation(row) : null;
    },

    async list(modelId, { after, limit }, order) {
      const all = db
        .selectFrom('evaluations')
        .innerJoin('training_jobs', 'training_jobs.id', 'evaluations.job_id')
        .where('evaluations.model_id', '=', modelId);
      const place = all.select(['evaluations.created_at_ms', 'evaluations.job_id']);
      const seen = after === null ? null : await cursorRow(place.where('evaluations.job_id', '=', after), after);
      const isBehind = seen
        ? sql<boolean>`(evaluations.created_at_ms, evaluations.job_id) ${order === 'asc' ? sql`>` : sql`<`} (${seen.created_at_ms}, ${seen.job_id})`
        : sql<boolean>`1 = 1`;
      const rows = await all
        .selectAll('evaluations')
        .select('training_jobs.step')
        .where(isBehind)
        .orderBy('evaluations.created_at_ms', order)
        .orderBy('evaluations.job_id', order)
        .limit(limit + 1)
        .execute();
      return toListing(rows, limit, (row) => ({ evaluation: toEvaluation(row), step: row.step }));
    },

    async claim(worker, nowMs, leaseMs, baseModels) {
      if (baseModels.length === 0) return null;
      const next = sql<string>`(
        select each.job_id from evaluations each
         where each.ended_at_ms is null
           and (each.status = 'queued' or ${hasLapsed('each.lease_until_ms', nowMs, leaseMs)})
           and exists (
             select 1 from training_jobs job join models on models.id = job.model_id
              where job.id = each.job_id and job.status = 'succeeded' and models.base_model in (${sql.join([...baseModels])}))
         order by (select coalesce(max(other.claimed_at_ms), 0) from evaluations other where other.entity = each.entity),
                  each.created_at_ms, each.job_id
         limit 1 ${skipLocked})`;
      const row = await db
        .updateTable('evaluations')
        .set({
          ...leasedTo(worker, nowMs, leaseMs),
          status: 'running',
          unsettled: sql<number>`unsettled + 1`,
          claimed_at_ms: nowMs,
          started_at_ms: sql<number>`coalesce(started_at_ms, ${nowMs})`,
        })
        .where('job_id', '=', next)
        .returningAll()
        .executeTakeFirst();
      return row ? toEvaluation(row) : null;
    },

    async renewLease(jobId, attempt, leaseUntilMs) {
      const row = await running(jobId, attempt)
        .set({ lease_until_ms: leaseUntilMs })
        .returning('cancel_requested')
        .executeTakeFirst();
      if (!row) return 'lost';
      return row.cancel_requested !== 0 ? 'cancelled' : 'kept';
    },

    async releaseLeases() {
      await db.updateTable('evaluations').set({ lease_until_ms: 0 }).where('status', '=', 'running').execute();
    },

    async release(jobId, attempt) {
      await running(jobId, attempt)
        .set({ lease_until_ms: 0, unsettled: sql<number>`unsettled - 1` })
        .execute();
    },

    async updateProgress(jobId, attempt, { answeredCount, failedCount }, settles) {
      const { numUpdatedRows } = await running(jobId, attempt)
        .set({ answered_count: answeredCount, failed_count: failedCount, ...(settles ? { unsettled: 1 } : {}) })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async finish(jobId, attempt, { status, errorMessage, endedAtMs }) {
      const { numUpdatedRows } = await running(jobId, attempt)
        .set({ status, error_message: errorMessage, ended_at_ms: endedAtMs, lease_until_ms: null })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    requestCancel: (jobId, nowMs) =>
      transactionOfOwner<CancelOutcome>(db, { table: 'evaluations', id: jobId }, 'not_found', async (tx) => {
        const asked = await tx
          .updateTable('evaluations')
          .set({ cancel_requested: 1 })
          .where('job_id', '=', jobId)
          .where('ended_at_ms', 'is', null)
          .returning('status')
          .executeTakeFirst();
        if (asked?.status === 'queued') {
          await cancelEvaluation(tx, jobId, nowMs);
          return 'cancelled';
        }
        if (asked) return 'cancelling';
        const row = await tx.selectFrom('evaluations').select('job_id').where('job_id', '=', jobId).executeTakeFirst();
        return row ? 'already_finished' : 'not_found';
      }),

    async listWithOldAnswers(endedBeforeMs, limit) {
      const rows = await db
        .selectFrom('evaluations')
        .selectAll()
        .where('is_kept', '=', 1)
        .where('ended_at_ms', '<', endedBeforeMs)
        .orderBy('ended_at_ms')
        .orderBy('job_id')
        .limit(limit)
        .execute();
      return rows.map(toEvaluation);
    },

    async forgetAnswers(jobId) {
      await db
        .updateTable('evaluations')
        .set({ is_kept: 0 })
        .where('job_id', '=', jobId)
        .where('ended_at_ms', 'is not', null)
        .execute();
    },
  };
}

/** Within the transaction that creates the job. */
export async function addEvaluation(
  tx: Kysely<Tables>,
  { id, modelId, entity, keyId, createdAtMs }: NewJob,
  { promptCount, sampleCount }: NewEvaluation,
): Promise<void> {
  const row = {
    job_id: id,
    model_id: modelId,
    entity,
    key_id: keyId,
    status: 'queued' as const,
    attempt: 0,
    unsettled: 0,
    cancel_requested: 0,
    prompt_count: promptCount,
    sample_count: sampleCount,
    answered_count: 0,
    failed_count: 0,
    is_kept: 1,
    created_at_ms: createdAtMs,
  };
  await tx.insertInto('evaluations').values(row).execute();
}

/** Cancels the evaluation of a job that produces no checkpoint, or on the owner's request: only if it has not started. */
export async function cancelEvaluation(tx: Kysely<Tables>, jobId: string, nowMs: number): Promise<void> {
  await tx
    .updateTable('evaluations')
    .set({ status: 'cancelled', error_message: 'cancelled', ended_at_ms: nowMs })
    .where('job_id', '=', jobId)
    .where('status', '=', 'queued')
    .execute();
}
