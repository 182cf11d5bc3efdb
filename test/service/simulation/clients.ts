// What clients do to a simulated world: submit jobs until they are accepted, cancel some, follow their events over reconnections. They use a
// server's services as its API does, and try again when a connection or a disk fails. They check what they see.
import { AppError } from '#domain/errors';
import { isFinished, type TrainingEvent } from '#domain/training-job';
import { Violation } from './audit.ts';
import type { Kind } from './kinds.ts';
import { ConnectionLost } from './scheduler.ts';
import type { Server } from './server.ts';
import { OWNER, submitJob, type World } from './world.ts';

/** A job as its client knows it. */
export interface AskedJob {
  readonly id: string;
  readonly kind: Kind;
  readonly modelId: string;
  /** The cancellation was accepted. */
  isCancelled: boolean;
  /** The client saw its closing event. */
  isOver: boolean;
}

const RETRY_MS_MAX = 2_000;

/** Tries with one server after another until one has answered. */
async function patiently<T>({ scheduler, server }: World, ask: (server: Server) => Promise<T>): Promise<T> {
  for (;;) {
    const asked = server();
    try {
      if (asked) return await scheduler.call(asked.process, () => ask(asked));
    } catch (error) {
      const isPassing =
        error instanceof ConnectionLost || (error instanceof AppError && error.code === 'storage_unavailable');
      if (!isPassing) throw error;
    }
    await scheduler.wait('retry', scheduler.random.next() * RETRY_MS_MAX, () => undefined);
  }
}

/** Submits, follows and perhaps cancels this job. */
export async function useJob(
  world: World,
  job: AskedJob,
  cancelAfterMs: number | null,
  onAccepted: () => void,
): Promise<void> {
  await patiently(world, (server) => submitJob(server, job.modelId, job.kind, job.id));
  onAccepted();
  const following = follow(world, job);
  following.catch(() => undefined); // awaited below
  if (cancelAfterMs !== null) {
    await world.scheduler.wait('before cancelling', cancelAfterMs, () => undefined);
    await patiently(world, ({ jobs }) => jobs.cancel(OWNER, job.id)).then(
      () => (job.isCancelled = true),
      async (error: unknown) => {
        if (!(error instanceof AppError) || error.code !== 'job_finished') throw error;
        const { status } = await patiently(world, ({ jobs }) => jobs.get(OWNER, job.id));
        if (!isFinished(status)) throw new Violation('a running job cannot be cancelled: it is said to have finished');
        job.isCancelled = true; // by an earlier try that got no answer, or not at all
      },
    );
  }
  await following;
}

async function follow(world: World, job: AskedJob): Promise<void> {
  let seen = 0;
  let after: string | null = null;
  while (!job.isOver) {
    await patiently(world, async (server) => {
      const reading = new AbortController();
      for await (const event of server.jobs.followEvents(OWNER, job.id, after, reading.signal)) {
        const isWait = event.type === 'training_waiting'; // has the ordinal of the event before it
        if (event.ordinal !== (isWait ? seen - 1 : seen))
          throw new Violation(`a follower got event ${event.ordinal} after ${seen - 1}`);
        const closes = await isClosing(server, job, event);
        if (!isWait) seen++;
        after = event.id;
        if (closes) job.isOver = true;
      }
      if (!job.isOver) throw new Violation(`the stream of events of ${job.kind} ended before its closing event`);
    });
  }
}

/** A checkpoint is listed before `training_ended` is visible. */
async function isClosing({ storage }: Server, job: AskedJob, { type, data }: TrainingEvent): Promise<boolean> {
  if (type === 'training_failed') return true;
  if (type !== 'training_ended') return false;
  if (!(await storage.checkpoints.find(job.modelId, data['step'] as number)))
    throw new Violation('training_ended is visible before its checkpoint');
  return true;
}
