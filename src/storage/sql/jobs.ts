// Jobs and the right to run them: made, claimed, leased, ended and cancelled. Every write of a worker names its attempt: after its lease was
// taken over it matches no row. Lists are job-lists.ts.
import { sql, type Kysely } from 'kysely';
import type { Checkpoint } from '#domain/checkpoint';
import { toldDeletions } from '#domain/save-policy';
import type { JobStatus, WaitingFor } from '#domain/training-job';
import type { JobStore } from '../storage.ts';
import type { StorageDialect } from './dialect.ts';
import { markTrained, releaseTrained, UNFINISHED } from './episodes-of-jobs.ts';
import { addEvaluation, cancelEvaluation } from './evaluations.ts';
import { appendBetween, appendEvent } from './events.ts';
import { hasLapsed, leasedTo } from './lease.ts';
import { readingJobs } from './job-lists.ts';
import { noteActivity } from './models.ts';
import { fromCheckpoint, toTrainingJob, type Tables } from './rows.ts';
import { enqueueDeliveries } from './webhooks.ts';
import { ofEntity, orderOf as orderOfTable, transactionOf, transactionOfOwner } from './transaction.ts';

type CancelOutcome = Awaited<ReturnType<JobStore['requestCancel']>>;

export function createJobStore(db: Kysely<Tables>, { skipLocked }: StorageDialect): JobStore {
  /** What ends with a job belongs to its entity; the job's events are also appended by themselves. */
  const inJob = <T>(id: string, ifGone: T, work: (tx: Kysely<Tables>) => Promise<T>): Promise<T> =>
    transactionOfOwner(db, { table: 'training_jobs', id, objects: [`job ${id}`] }, ifGone, work);

  return {
    ...readingJobs(db),

    async create(job) {
      const insert = async (tx: Kysely<Tables>) => {
        const row = await tx
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
            kl_reference: job.klReference ? JSON.stringify(job.klReference) : null,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        if (job.evaluation) await addEvaluation(tx, job, job.evaluation);
        if (job.episodes) await markTrained(tx, job, job.episodes);
        await noteActivity(tx, job.modelId, job.createdAtMs);
        return row;
      };
      return toTrainingJob(await transactionOf(db, [ofEntity(job.entity), orderOfTable('training_jobs')], insert));
    },

    async claim(worker, nowMs, leaseMs, baseModels) {
      const hosted =
        baseModels === null ? sql`` : sql`and job.model_id in (select id from models where ${over(baseModels)})`;
      const next = sql<string>`(
        select job.id from training_jobs job
         where (job.status = 'queued' or (job.status = 'running' and ${hasLapsed('job.lease_until_ms', nowMs, leaseMs)}))
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
          ...leasedTo(worker, nowMs, leaseMs),
          status: 'running',
          claimed_at_ms: nowMs,
          waiting_for: null,
        })
        .where('id', '=', next)
        .returningAll()
        .executeTakeFirst();
      return row ? toTrainingJob(row) : null;
    },

    noteWaiting(id, attempt, { was, now }, event) {
      return transactionOf(db, `job ${id}`, async (tx) => {
        const before = written(was);
        const ofJob = tx
          .updateTable('training_jobs')
          .set({ waiting_for: written(now) })
          .where('id', '=', id)
          .where('waiting_for', before === null ? 'is' : '=', before);
        const isOurs =
          attempt === null
            ? ofJob.where('status', '=', 'queued')
            : ofJob.where('status', '=', 'running').where('attempt', '=', attempt);
        const isNoted = changed(await isOurs.executeTakeFirst());
        if (isNoted && event) await appendBetween(tx, event);
        return isNoted;
      });
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

    assignStep(id, attempt) {
      return inJob<number | null>(id, null, async (tx) => {
        const row = await tx
          .updateTable('training_jobs')
          .set({ step: sql<number>`coalesce(step, (select last_step + 1 from models where models.id = model_id))` })
          .where('id', '=', id)
          .where('attempt', '=', attempt)
          .where('status', '=', 'running')
          .returning('step')
          .executeTakeFirst();
        return row?.step ?? null;
      });
    },

    async updateProgress(id, attempt, { progress, skipped, startedAtMs, savedAttempt }) {
      return changed(
        await db
          .updateTable('training_jobs')
          .set({
            attempt, // never empty: an update without changes still tells whether the job is ours
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

    finish(id, attempt, { status, errorMessage, endedAtMs, event, checkpoint, surplus }) {
      return inJob(id, false, async (tx) => {
        const ended = await tx
          .updateTable('training_jobs')
          .set({
            status,
            error_message: errorMessage,
            ended_at_ms: endedAtMs,
            lease_until_ms: null,
            waiting_for: null,
            ...(status === 'succeeded' ? { progress: 1 } : {}),
          })
          .where('id', '=', id)
          .where('attempt', '=', attempt)
          .where('status', '=', 'running')
          .returningAll()
          .executeTakeFirst();
        if (!ended) return false;
        if (checkpoint) await addCheckpoint(tx, checkpoint);
        else {
          await cancelEvaluation(tx, id, endedAtMs);
          await releaseTrained(tx, id);
        }
        await noteActivity(tx, ended.model_id, endedAtMs);
        const deleted = surplus ? await deleteUnused(tx, surplus.ids, surplus.usedSinceMs) : [];
        await appendEvent(tx, { ...event, data: { ...event.data, ...toldDeletions(deleted) } });
        await enqueueDeliveries(tx, toTrainingJob(ended), endedAtMs);
        return true;
      });
    },

    async forgetBody(id) {
      await db
        .updateTable('training_jobs')
        .set({ body_blob: '' })
        .where('id', '=', id)
        .where('ended_at_ms', 'is not', null)
        .execute();
    },

    requestCancel(id, nowMs, event) {
      return inJob<CancelOutcome>(id, 'not_found', async (tx) => {
        const ofJob = (status: JobStatus) =>
          tx.updateTable('training_jobs').where('id', '=', id).where('status', '=', status);
        // Each update names the status: in Postgres another server may claim the job between two statements.
        const ended = await ofJob('queued')
          .set({
            status: 'cancelled',
            cancel_requested: 1,
            error_message: 'cancelled',
            ended_at_ms: nowMs,
            waiting_for: null,
          })
          .returningAll()
          .executeTakeFirst();
        if (ended) {
          await cancelEvaluation(tx, id, nowMs);
          await releaseTrained(tx, id);
          await noteActivity(tx, ended.model_id, nowMs);
          await appendEvent(tx, event);
          await enqueueDeliveries(tx, toTrainingJob(ended), nowMs);
          return 'cancelled';
        }
        if (changed(await ofJob('running').set({ cancel_requested: 1 }).executeTakeFirst())) return 'cancelling';
        const row = await tx.selectFrom('training_jobs').select('id').where('id', '=', id).executeTakeFirst();
        return row ? 'already_finished' : 'not_found';
      });
    },
  };
}

async function addCheckpoint(tx: Kysely<Tables>, checkpoint: Checkpoint): Promise<void> {
  await tx.insertInto('checkpoints').values(fromCheckpoint(checkpoint)).execute();
  await tx
    .updateTable('models')
    .set({ last_step: checkpoint.step })
    .where('id', '=', checkpoint.modelId)
    .where('last_step', '<', checkpoint.step)
    .execute();
}

/** Returns the steps. */
async function deleteUnused(tx: Kysely<Tables>, ids: readonly string[], usedSinceMs: number): Promise<number[]> {
  if (ids.length === 0) return [];
  const rows = await tx
    .deleteFrom('checkpoints')
    .where('id', 'in', [...ids])
    .where('used_at_ms', '<', usedSinceMs)
    .returning('step')
    .execute();
  return rows.map(({ step }) => step).sort((a, b) => a - b);
}

/** An empty list is not SQL everywhere. */
function over(baseModels: readonly string[] | { readonly except: readonly string[] }) {
  const [names, isIn] = 'except' in baseModels ? [baseModels.except, false] : [baseModels, true];
  if (names.length === 0) return isIn ? sql`1 = 0` : sql`1 = 1`;
  const list = sql.join([...names]);
  return isIn ? sql`base_model in (${list})` : sql`base_model not in (${list})`;
}

const written = (waitingFor: WaitingFor | null): string | null => waitingFor && JSON.stringify(waitingFor);

const changed = ({ numUpdatedRows }: { numUpdatedRows: bigint }): boolean => numUpdatedRows > 0n;
