// Claims jobs and sees each to its end: a checkpoint, or `training_failed` with a cause. Survives the death of the training
// process (another attempt from the saved progress) and of its own (leases; progress is in the blob store), and waits while the
// database or the disk cannot work.
import { mkdir, rm } from 'node:fs/promises';
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { TrainingJob } from '#domain/training-job';
import { attemptJob, newEvent, type AttemptDeps, type AttemptOutcome, type Trainer } from './job-attempt.ts';
import { forgetProgress } from './job-progress.ts';
import { withPatience, type Patience } from './patience.ts';

export interface JobRunner {
  start(): Promise<void>;
  /** Lets the running gradient step end, saves it, gives the job back. */
  stop(): Promise<void>;
  status(): { running: string | null; lastFailure: string | null };
}

export interface JobRunnerDeps extends AttemptDeps {
  /** No other server runs jobs of this storage: those that were running when it starts are free. */
  readonly exclusive: boolean;
  /** With a storage that cannot work. */
  readonly patience?: Patience;
  /** Only jobs of models over one of these are for this server; undefined: there is no other. */
  readonly baseModels?: readonly string[] | undefined;
  /** Null: this server does not host the base model (any more). */
  trainerOf(baseModel: string): Trainer | null;
}

/** A dead server's jobs are free after this; a live one renews three times as often. */
const LEASE_MS = 20_000;
/** How long a job submitted through another process may wait for us to notice. */
const POLL_MS = 1_000;
/** Deaths of the training process in a row, without a new gradient step between. It restarts with growing delays itself. */
const ENGINE_FAILURES_MAX = 8;
/** A full disk takes somebody's minutes; a job that waits longer says so and ends. */
const PATIENCE: Patience = { firstMs: 500, mostMs: 15_000, totalMs: 30 * 60_000 };
/** Attempts in a row that ended with the whole server and saved nothing. A job must not take it down for ever. */
const ATTEMPTS_MAX = 12;

export function createJobRunner(deps: JobRunnerDeps): JobRunner {
  const { storage, blobs, jobEvents, clock, patience = PATIENCE } = deps;
  const worker = createId();
  const stopping = new AbortController();
  let loop: Promise<void> = Promise.resolve();
  let running: string | null = null;
  let lastFailure: string | null = null;

  async function runJobs(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const job = await storage.jobs.claim(worker, clock.now(), LEASE_MS, deps.baseModels);
        if (job) await runJob(job);
        else await jobEvents.wait(null, POLL_MS, stopping.signal);
      } catch (error) {
        deps.log.error('job_runner.failed', { err: error });
        lastFailure = messageOf(error);
        await jobEvents.wait(null, POLL_MS, stopping.signal);
      }
    }
  }

  async function runJob(job: TrainingJob): Promise<void> {
    const log = deps.log.child({ jobId: job.id, attempt: job.attempt });
    log.info('job.claimed', { modelId: job.modelId });
    deps.observer?.began(job);
    let end: { outcome: AttemptOutcome | 'failed'; error?: unknown } = { outcome: 'stopped' };
    running = job.id;
    const heartbeat = setInterval(() => {
      storage.jobs
        .renewLease(job.id, job.attempt, clock.now() + LEASE_MS)
        .catch((error: unknown) => log.warn('job.lease_not_renewed', { err: error }));
    }, LEASE_MS / 3);
    try {
      const outcome = await patiently(() => tryUntilDecided(job, { ...deps, log }), log);
      if (outcome === 'cancelled') await patiently(() => close(job, 'cancelled', 'cancelled'), log);
      if (outcome === 'stopped') await storage.jobs.releaseLeases(worker);
      end = { outcome };
      log.info(`job.${outcome}`);
    } catch (error) {
      if (stopping.signal.aborted) throw error; // whoever starts next goes on
      const message = (lastFailure = messageOf(error));
      log.error('job.failed', { err: error });
      await patiently(() => close(job, 'failed', message), log);
      end = { outcome: 'failed', error };
    } finally {
      clearInterval(heartbeat);
      deps.observer?.ended(job, end.outcome, end.error);
      running = null;
    }
  }

  const patiently = <T>(work: () => Promise<T>, log: Log): Promise<T> =>
    withPatience(work, patience, log, stopping.signal);

  async function tryUntilDecided(job: TrainingJob, attempt: AttemptDeps): Promise<AttemptOutcome> {
    const model = await storage.models.find(job.modelId);
    if (!model) return 'lost';
    const trainer = deps.trainerOf(model.baseModel);
    if (!trainer) {
      throw new AppError(
        'base_model_not_found',
        `This server does not host the base model ${model.baseModel}. Start it with --model ${model.baseModel}.`,
      );
    }
    if (job.attempt - job.savedAttempt > ATTEMPTS_MAX) {
      throw new AppError(
        'engine_failed',
        `The server stopped during each of ${ATTEMPTS_MAX} attempts at this job, before anything new was saved.`,
      );
    }
    let furthest = job.progress;
    for (let failures = 1; ; failures++) {
      try {
        return await attemptJob(job, model, trainer, attempt, stopping.signal);
      } catch (error) {
        if (stopping.signal.aborted) return 'stopped';
        if (!(error instanceof AppError) || error.code !== 'engine_unavailable') throw error;
        const now = await storage.jobs.find(job.id);
        if (now && now.progress > furthest) [furthest, failures] = [now.progress, 1];
        if (failures >= ENGINE_FAILURES_MAX) throw error;
        attempt.log.warn('job.engine_lost', { failures, err: error });
        if (now?.cancelRequested) return 'cancelled';
      }
    }
  }

  async function close(job: TrainingJob, status: 'failed' | 'cancelled', message: string): Promise<void> {
    const ordinal = await storage.events.count(job.id);
    await storage.jobs.finish(job.id, job.attempt, {
      status,
      errorMessage: message,
      endedAtMs: clock.now(),
      event: newEvent(deps, job, ordinal, 'training_failed', { error_message: message }),
      checkpoint: null,
    });
    jobEvents.notify(job.id);
    await forgetProgress(blobs, job.id);
    await blobs.delete(`checkpoints/${job.modelId}/${job.id}`);
  }

  return {
    async start() {
      await rm(deps.workDirectory, { recursive: true, force: true }); // what a crash left behind
      await mkdir(deps.workDirectory, { recursive: true });
      if (deps.exclusive) await storage.jobs.releaseLeases(null); // whoever held them is gone
      loop = runJobs();
    },
    async stop() {
      stopping.abort();
      await loop;
    },
    status: () => ({ running, lastFailure }),
  };
}

/** For the job's owner: our own words, nothing of the machine. */
function messageOf(error: unknown): string {
  return error instanceof AppError
    ? error.message
    : 'The job failed because of an internal error. The server log has the details.';
}
