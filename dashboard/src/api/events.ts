// Events of a job as they happen, over fetch, because an EventSource cannot send the key.
import { followEvents } from '../../../src/client/follow.ts';
import { send, type Item } from './client.ts';

const EVENTS = '/v1/preview/training-jobs/{training_job_id}/events';

export type JobEvent = Item<typeof EVENTS>;

/** Yields all events, and reconnects if the connection breaks. Throws ApiError if retrying cannot help; returns when `signal` aborts. */
export async function* followJob(jobId: string, signal: AbortSignal): AsyncGenerator<JobEvent> {
  try {
    yield* followEvents<JobEvent>(async (lastId) => {
      const headers = { accept: 'text/event-stream', ...(lastId === null ? {} : { 'last-event-id': lastId }) };
      return (await send('get', EVENTS, { path: { training_job_id: jobId }, headers, signal })).body!;
    }, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
