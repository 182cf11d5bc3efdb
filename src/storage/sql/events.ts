// Events: append-only, ordered by ordinal, once per (job, ordinal); what a job waited behind stands between them, in parts.
import type { Kysely } from 'kysely';
import { invariant } from '#base/invariant';
import type { EventStore, NewEvent } from '../storage.ts';
import { listPage, readFitting } from './listing.ts';
import { fromEvent, toTrainingEvent, type Tables } from './rows.ts';
import { transactionOf } from './transaction.ts';

/** Within the caller's transaction. False: that ordinal already exists. */
export async function appendEvent(db: Kysely<Tables>, event: NewEvent): Promise<boolean> {
  const count = await countEvents(db, event.jobId);
  if (event.ordinal < count) return false;
  invariant(
    event.ordinal === count,
    `event ${event.ordinal} of job ${event.jobId} would leave a gap after ${count} events`,
  );
  await db.insertInto('training_events').values(fromEvent(event)).execute();
  return true;
}

/** Within the caller's transaction: after the last event, without a number of its own. */
export async function appendBetween(db: Kysely<Tables>, event: Omit<NewEvent, 'ordinal'>): Promise<void> {
  const ordinal = (await countEvents(db, event.jobId)) - 1;
  const { last } = await db
    .selectFrom('training_events')
    .select((eb) => eb.fn.max('part').as('last'))
    .where('job_id', '=', event.jobId)
    .where('ordinal', '=', ordinal)
    .executeTakeFirstOrThrow();
  await db
    .insertInto('training_events')
    .values(fromEvent({ ...event, ordinal }, Number(last ?? 0) + 1))
    .execute();
}

async function countEvents(db: Kysely<Tables>, jobId: string): Promise<number> {
  const { last } = await db
    .selectFrom('training_events')
    .select((eb) => eb.fn.max('ordinal').as('last')) // there are no gaps: an index lookup, where counting would read all events
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  return last === null ? 0 : Number(last) + 1;
}

export function createEventStore(db: Kysely<Tables>): EventStore {
  return {
    append: (event) => transactionOf(db, `job ${event.jobId}`, (tx) => appendEvent(tx, event)),

    list: (jobId, page) =>
      listPage(
        db,
        {
          table: 'training_events',
          of: { job_id: jobId },
          by: ['ordinal', 'part'],
          order: 'asc',
          heavy: ['data'],
        },
        page,
        toTrainingEvent,
      ),

    async first(jobId, count) {
      const rows = await db
        .selectFrom('training_events')
        .selectAll()
        .where('job_id', '=', jobId)
        .where('part', '=', 0)
        .orderBy('ordinal')
        .limit(count)
        .execute();
      return rows.map(toTrainingEvent);
    },

    async listOfJobs(jobIds, rowsMax) {
      if (jobIds.length === 0) return { rows: [], hasMore: false };
      const all = db
        .selectFrom('training_events')
        .where('job_id', 'in', [...jobIds])
        .orderBy('job_id')
        .orderBy('ordinal')
        .orderBy('part');
      const { rows, hasMore } = await readFitting(
        ['data'],
        rowsMax,
        (weight, count) => all.select(weight.as('weight')).limit(count).execute(),
        (count) => all.selectAll().limit(count).execute(),
      );
      return { rows: rows.map(toTrainingEvent), hasMore };
    },

    count: (jobId) => countEvents(db, jobId),

    async findLatest(jobId) {
      const row = await db
        .selectFrom('training_events')
        .selectAll()
        .where('job_id', '=', jobId)
        .orderBy('ordinal', 'desc')
        .orderBy('part', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row ? toTrainingEvent(row) : null;
    },
  };
}
