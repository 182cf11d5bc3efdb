// The slow, simple reference for sql/events.ts.
import { invariant } from '#base/invariant';
import { paginate } from './page.ts';
import { asJson, refuseSecond, type Tables } from './tables.ts';
import type { NewEvent } from '#storage/storage';
import type { TestedStorage } from './tested-storage.ts';

export function createEvents(tables: Tables): TestedStorage['events'] {
  const eventsOf = (jobId: string) => tables.events.filter((event) => event.jobId === jobId);
  return {
    append: async (event) => appendEvent(tables, event),
    list: async (jobId, page) => paginate(eventsOf(jobId), eventsOf(jobId), page),
    first: async (jobId, count) => numbered(tables, jobId).slice(0, count),
    count: async (jobId) => numbered(tables, jobId).length,
  };
}

export const numbered = ({ events }: Pick<Tables, 'events'>, jobId: string) =>
  events.filter((event) => event.jobId === jobId && event.type !== 'training_waiting');

/** False: it already exists. */
export function appendEvent({ events, jobs }: Tables, event: NewEvent): boolean {
  const count = numbered({ events }, event.jobId).length;
  if (event.ordinal < count) return false;
  invariant(
    event.ordinal === count,
    `event ${event.ordinal} of job ${event.jobId} would leave a gap after ${count} events`,
  );
  invariant(
    jobs.some((job) => job.id === event.jobId),
    `event of job ${event.jobId}, which is gone`,
  );
  refuseSecond(events, event);
  events.push(asJson(event));
  return true;
}
