// What happened since the page was opened that its user wants to know at once: a job failed or ended with a warning (such as a reward that
// fell), a worker was lost. Compares one look at the server with the next. Pure.
import type { JobDetail, JobOfModel, Overview, Worker } from '../api/wire.ts';

export interface Alert {
  /** The same thing again has the same key. */
  readonly key: string;
  readonly kind: 'failed' | 'warned' | 'lost';
  readonly text: string;
  /** Null for a worker. */
  readonly job: JobOfModel | null;
}

type SeenWorker = Pick<Worker, 'id' | 'name' | 'state'>;

/** What is remembered between two looks. */
export interface Seen {
  /** Jobs that waited or ran, by id. */
  readonly open: ReadonlyMap<string, JobOfModel>;
  readonly ended: ReadonlySet<string>;
  readonly workers: readonly SeenWorker[];
}

type Look = Pick<Overview, 'running' | 'queued' | 'newest'>;

const hasEnded = ({ status }: Pick<JobOfModel, 'status'>): boolean => status !== 'queued' && status !== 'running';

/** Jobs that may have ended between the two looks: those that are in no list any more, and new ones that already ended. */
export function endedSince({ open, ended }: Seen, { running, queued, newest }: Look): JobOfModel[] {
  const still = new Set([...running, ...queued].map(({ id }) => id));
  const gone = [...open.values()].filter(({ id }) => !still.has(id));
  const fresh = newest.filter((job) => hasEnded(job) && !ended.has(job.id) && !open.has(job.id));
  return [...gone, ...fresh];
}

/**
 * `details`: of the jobs that may have ended. Lists of open jobs are short: one that is missing there may still run. `left`: those that
 * may have ended too, and of which the next look asks.
 */
export function rememberLook(
  seen: Seen | null,
  look: Look,
  details: readonly JobDetail[],
  workers: readonly SeenWorker[],
  left: readonly JobOfModel[] = [],
): Seen {
  const open = new Map([...look.running, ...look.queued, ...left].map((job) => [job.id, job]));
  for (const { id, status } of details) {
    const known = seen?.open.get(id);
    if (known && !hasEnded({ status })) open.set(id, known);
  }
  const ended = new Set([...(seen?.ended ?? []), ...look.newest.filter(hasEnded).map(({ id }) => id)]);
  for (const { id, status } of details) if (hasEnded({ status })) ended.add(id);
  return { open, ended, workers };
}

/** `jobs`: those of `details`. */
export function alertsOf(
  before: readonly SeenWorker[],
  jobs: readonly JobOfModel[],
  details: readonly JobDetail[],
  workers: readonly SeenWorker[],
): Alert[] {
  const found: Alert[] = [];
  for (const { id, status, error_message: reason, warnings = [] } of details) {
    const job = jobs.find((each) => each.id === id) ?? null;
    const add = (kind: Alert['kind'], text: string) =>
      found.push({ key: `${kind} ${job?.model.id} ${text}`, kind, text, job });
    if (status === 'failed') add('failed', reason ?? 'The job failed.');
    if (hasEnded({ status })) for (const warning of warnings) add('warned', warning);
  }
  for (const { id, name, state } of before) {
    if (state === 'draining') continue; // it was asked to leave
    const now = workers.find((each) => each.id === id);
    const text = now
      ? `The worker ${name} does not answer. It is expected to reconnect.`
      : `The worker ${name} is no longer connected.`;
    if (!now || (now.state === 'away' && state !== 'away'))
      found.push({ key: `lost ${id} ${text}`, kind: 'lost', text, job: null });
  }
  return found;
}
