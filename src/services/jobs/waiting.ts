// Says what jobs wait behind: in their rows, and once per reason in their events. Queued jobs are looked at when a trainer found nothing more
// to claim; running ones wait for their turn at the trainer (trainer-turns.ts). Does not decide who goes first.
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import { sayWaiting, type TrainingJob, type WaitingFor } from '#domain/training-job';
import type { NewEvent, QueuedJob, Storage } from '#storage/storage';
import { createDelayedWaits, isSameWait, seenBy, type DelayedWaits } from '../delayed-waits.ts';
import type { JobEvents } from './job-events.ts';

export interface WaitingDeps {
  readonly storage: Pick<Storage, 'jobs'>;
  readonly jobEvents: JobEvents;
  readonly clock: Clock;
  readonly log: Log;
}

/** The oldest; the others wait behind these. */
const QUEUED_MAX = 200;

/** `hasTrainer`: whether one for jobs of this base model is ready. */
export async function noteQueue(
  { storage, jobEvents, clock }: WaitingDeps,
  hasTrainer: (baseModel: string) => boolean,
): Promise<void> {
  for (const job of await storage.jobs.listQueued(QUEUED_MAX)) {
    const { id, waitingFor: was } = job;
    const now = waitOf(job, hasTrainer);
    if (isSameWait(was, now)) continue;
    const event = now && was === null ? waitingEvent(id, now, clock) : null;
    if (await storage.jobs.noteWaiting(id, null, { was, now }, event)) jobEvents.notify(id);
  }
}

function waitOf({ entity, baseModel, behind }: QueuedJob, hasTrainer: (baseModel: string) => boolean) {
  if (behind) return seenBy(entity, { kind: 'job', ...behind });
  return hasTrainer(baseModel) ? null : WITHOUT_TRAINER;
}

export const WITHOUT_TRAINER: WaitingFor = { kind: 'trainer', id: null };

/** The waits of one attempt at a job. */
export function watchWaits({ storage, jobEvents, clock, log }: WaitingDeps, job: TrainingJob): DelayedWaits {
  const { id, entity, attempt } = job;
  const said: WaitingFor[] = [];
  let was: WaitingFor | null = null;

  async function note(now: WaitingFor | null): Promise<void> {
    if (isSameWait(was, now)) return;
    const isNew = now !== null && !said.some((each) => isSameWait(each, now));
    const event = isNew ? waitingEvent(id, now, clock) : null;
    if (!(await storage.jobs.noteWaiting(id, attempt, { was, now }, event))) return;
    was = now;
    if (isNew) said.push(now);
    jobEvents.notify(id);
  }

  return createDelayedWaits({ kind: 'job', id, entity }, note, (err) => log.warn('job.wait_not_noted', { err }));
}

const waitingEvent = (jobId: string, { kind, id }: WaitingFor, clock: Clock): Omit<NewEvent, 'ordinal'> => ({
  id: createId(),
  jobId,
  type: 'training_waiting',
  data: { waiting_for: { type: kind, id, message: sayWaiting({ kind, id }) } },
  createdAtMs: clock.now(),
});
