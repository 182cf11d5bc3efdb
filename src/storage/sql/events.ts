// Events: append-only, ordered by ordinal, once per (job, ordinal).
import { sql, type Kysely } from 'kysely';
import { invariant } from '#base/invariant';
import type { EventStore, NewEvent } from '../storage.ts';
import { toListing } from './listing.ts';
import { fromEvent, toTrainingEvent, type Tables } from './rows.ts';

/** Within a transaction of the caller. False: that ordinal was there already. */
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

export async function countEvents(db: Kysely<Tables>, jobId: string): Promise<number> {
  const { last } = await db
    .selectFrom('training_events')
    .select((eb) => eb.fn.max('ordinal').as('last')) // no gaps: a seek in the index, where counting would read them all
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  return last === null ? 0 : Number(last) + 1;
}

export function createEventStore(db: Kysely<Tables>): EventStore {
  return {
    append: (event) => db.transaction().execute((tx) => appendEvent(tx, event)),

    async list(jobId, { after, limit }) {
      let query = db.selectFrom('training_events').selectAll().where('job_id', '=', jobId);
      if (after !== null) {
        query = query.where(
          'ordinal',
          '>',
          sql<number>`(select ordinal from training_events where id = ${after} and job_id = ${jobId})`,
        );
      }
      return toListing(
        await query
          .orderBy('ordinal')
          .limit(limit + 1)
          .execute(),
        limit,
        toTrainingEvent,
      );
    },

    count: (jobId) => countEvents(db, jobId),
  };
}
