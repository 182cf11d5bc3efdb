// Jobs and the right to run them. Every write of a worker names its attempt: one whose lease was taken over matches no row.
import { sql, type Kysely } from 'kysely';
import { NEXT_STATUS, type JobStatus } from '#domain/training-job';
import type { JobStore } from '../storage.ts';
import type { StorageDialect } from './dialect.ts';
import { appendEvent } from './events.ts';
import { toListing } from './listing.ts';
import { fromCheckpoint, toTrainingJob, type Tables } from './rows.ts';
import { enqueueDeliveries } from './webhooks.ts';

const UNFINISHED = (Object.keys(NEXT_STATUS) as JobStatus[]).filter((status) => NEXT_STATUS[status].length > 0);

/** A lease that ends later than any could was given before a clock was set back. */
const LEASES_AHEAD_MAX = 3;

export function createJobStore(db: Kysely<Tables>, { skipLocked }: StorageDialect): JobStore {
  return {
    async create(job) {
      const insert = (tx: Kysely<Tables>) =>
        tx
          .insertInto('training_jobs')
          .values({
            id: job.id,
            ordinal: sql<number>`(select coalesce(max(ordinal), 0) + 1 from training_jobs)`,
            type: job.type,
            model_id: job.modelId,
            entity: job.entity,
            key_id: job.keyId,
            status: 'queued',
            body_blob: job.bodyBlob,
            attempt: 0,
            saved_attempt: 0,
            cancel_requested: 0,
            progress: 0,
            skipped: '{}',
            created_at_ms: job.createdAtMs,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
      return toTrainingJob(await db.transaction().execute(insert)); // alone: the ordinal is read, then written
    },

    async find(id) {
      const row = await db.selectFrom('training_jobs').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? toTrainingJob(row) : null;
    },

    async list({ entity, modelId, status }, { after, limit }) {
      let query = db.selectFrom('training_jobs').selectAll().where('entity', '=', entity);
      if (modelId !== undefined) query = query.where('model_id', '=', modelId);
      if (status !== undefined) query = query.where('status', '=', status);
      if (after !== null) {
        query = query.where('ordinal', '>', sql<number>`(select ordinal from training_jobs where id = ${after})`);
      }
      return toListing(
        await query
          .orderBy('ordinal')
          .limit(limit + 1)
          .execute(),
        limit,
        toTrainingJob,
      );
    },

    async countQueued(account) {
      let query = db
        .selectFrom('training_jobs')
        .select((eb) => eb.fn.countAll<number | string>().as('count'))
        .where('status', '=', 'queued');
      if (account) query = query.where('entity', '=', account.entity);
      if (account?.keyId) query = query.where('key_id', '=', account.keyId);
      return Number((await query.executeTakeFirstOrThrow()).count);
    },

    async claim(worker, nowMs, leaseMs, baseModels) {
      const hosted =
        baseModels === undefined
          ? sql``
          : sql`and job.model_id in (select id from models where base_model in (${sql.join([...baseModels])}))`;
      const next = sql<string>`(
        select job.id from training_jobs job
         where (job.status = 'queued' or (job.status = 'running'
             and (job.lease_until_ms <= ${nowMs} or job.lease_until_ms > ${nowMs + LEASES_AHEAD_MAX * leaseMs})))
           ${hosted}
           and not exists (
             select 1 from training_jobs older
              where older.model_id = job.model_id and older.ordinal < job.ordinal and older.status in (${sql.join(UNFINISHED)}))
         order by (select coalesce(max(other.claimed_at_ms), 0) from training_jobs other where other.entity = job.entity),
                  job.ordinal
         limit 1 ${skipLocked})`;
      const row = await db
        .updateTable('training_jobs')
        .set({
          status: 'running',
          worker,
          claimed_at_ms: nowMs,
          lease_until_ms: nowMs + leaseMs,
          attempt: sql<number>`attempt + 1`,
        })
        .where('id', '=', next)
        .returningAll()
        .executeTakeFirst();
      return row ? toTrainingJob(row) : null;
    },

    async renewLease(id, attempt, leaseUntilMs) {
      return changed(
        await db
          .updateTable('training_jobs')
          .set({ lease_until_ms: leaseUntilMs })
          .where('id', '=', id)
          .where('attempt', '=', attempt)
          .where('status', '=', 'running')
          .executeTakeFirst(),
      );
    },

    async releaseLeases(worker) {
      let query = db.updateTable('training_jobs').set({ lease_until_ms: 0 }).where('status', '=', 'running');
      if (worker !== null) query = query.where('worker', '=', worker);
      await query.execute();
    },

    async updateProgress(id, attempt, { step, progress, skipped, startedAtMs, savedAttempt }) {
      return changed(
        await db
          .updateTable('training_jobs')
          .set({
            attempt, // never empty: an update that says nothing still tells whether the job is ours
            ...(step === undefined ? {} : { step }),
            ...(progress === undefined ? {} : { progress }),
            ...(skipped === undefined ? {} : { skipped: JSON.stringify(skipped) }),
            ...(startedAtMs === undefined ? {} : { started_at_ms: startedAtMs }),
            ...(savedAttempt === undefined ? {} : { saved_attempt: savedAttempt }),
          })
          .where('id', '=', id)
          .where('attempt', '=', attempt)
          .where('status', '=', 'running')
          .executeTakeFirst(),
      );
    },

    finish(id, attempt, { status, errorMessage, endedAtMs, event, checkpoint }) {
      return db.transaction().execute(async (tx) => {
        const ended = await tx
          .updateTable('training_jobs')
          .set({
            status,
            error_message: errorMessage,
            ended_at_ms: endedAtMs,
            lease_until_ms: null,
            ...(status === 'succeeded' ? { progress: 1 } : {}),
          })
          .where('id', '=', id)
          .where('attempt', '=', attempt)
          .where('status', '=', 'running')
          .returningAll()
          .executeTakeFirst();
        if (!ended) return false;
        if (checkpoint) await tx.insertInto('checkpoints').values(fromCheckpoint(checkpoint)).execute();
        await appendEvent(tx, event);
        await enqueueDeliveries(tx, toTrainingJob(ended), endedAtMs);
        return true;
      });
    },

    requestCancel(id, nowMs, event) {
      return db.transaction().execute(async (tx) => {
        const row = await tx.selectFrom('training_jobs').select('status').where('id', '=', id).executeTakeFirst();
        switch (row?.status) {
          case undefined:
            return 'not_found';
          case 'queued': {
            const ended = await tx
              .updateTable('training_jobs')
              .set({ status: 'cancelled', cancel_requested: 1, error_message: 'cancelled', ended_at_ms: nowMs })
              .where('id', '=', id)
              .returningAll()
              .executeTakeFirstOrThrow();
            await appendEvent(tx, event);
            await enqueueDeliveries(tx, toTrainingJob(ended), nowMs);
            return 'cancelled';
          }
          case 'running':
            await tx.updateTable('training_jobs').set({ cancel_requested: 1 }).where('id', '=', id).execute();
            return 'cancelling';
          case 'succeeded':
          case 'failed':
          case 'cancelled':
            return 'already_finished';
        }
      });
    },
  };
}

const changed = ({ numUpdatedRows }: { numUpdatedRows: bigint }): boolean => numUpdatedRows > 0n;
