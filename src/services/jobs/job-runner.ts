// Claims jobs and runs each until it ends: with a checkpoint, or with `training_failed` and a cause. Jobs over different base models run
// side by side, and over one base model as many as its trainer has room for; jobs of one model run in order. Survives the death of a
// training process (another attempt continues from the saved progress) and of the server (leases; progress is in the blob store), and waits while the database or the disk cannot work.
import { mkdir, rm } from 'node:fs/promises';
import type { Log } from '#base/log';
import { AppError, publicError } from '#domain/errors';
import type { Model } from '#domain/model';
import type { TrainingJob } from '#domain/training-job';
import {
  attemptJob,
  endingOf,
  newEvent,
  type AttemptDeps,
  type AttemptOutcome,
  type Cut,
  type Trainer,
} from './attempt/job-attempt.ts';
import { forgetAttempt } from './attempt/job-progress.ts';
import { createClaimLoop, holdLease } from '../claim-loop.ts';
import { withRetries, type RetryPolicy } from '../retry-policy.ts';
import { heldBy } from '../trainer-turns.ts';
import type { DelayedWaits } from '../delayed-waits.ts';
import { noteQueue, watchWaits, WITHOUT_TRAINER } from './waiting.ts';
import { watchRowDeaths } from './attempt/row-deaths.ts';

export interface JobRunner {
  start(): Promise<void>;
  /** Lets running gradient steps finish, saves them, and releases their jobs. */
  stop(): Promise<void>;
  status(): { running: readonly string[]; lastFailure: string | null };
}

export interface JobRunnerDeps extends AttemptDeps {
  /** No other server runs jobs of this storage, so those marked running at the start are free. */
  readonly exclusive: boolean;
  /** Retries while the storage cannot work. */
  readonly retryPolicy: RetryPolicy;
  /** Consecutive attempts that end with the whole server and save nothing. A job must not crash the server forever. */
  readonly attemptsMax: number;
  /** Only jobs over one of these base models are for this server; null: there is no other server. */
  readonly baseModels: readonly string[] | null;
  /** Hosted base models, and how many of their jobs may be claimed and run at once, now. Other base models: one. */
  readonly trainerRoom: () => ReadonlyMap<string, TrainerRoom>;
  /** Null: this server does not (or no longer) host the base model. */
  trainerOf(baseModel: string): Trainer | null;
}

export interface TrainerRoom {
  /** Maximum number of concurrent jobs; further ones are not continued here. */
  readonly jobs: number;
  /** Whether its trainer is available now; if not, new jobs wait. */
  readonly isReady: boolean;
}

/** A dead server's jobs are free after this; a live one renews three times as often. */
const LEASE_MS = 20_000;
/** Maximum delay until a job submitted through another process is noticed. */
const POLL_MS = 1_000;
/** Consecutive deaths of the training process without a new gradient step in between. The process restarts with growing delays itself. */
const ENGINE_FAILURES_MAX = 8;

/** A job and its model, null if that was deleted. */
interface ClaimedJob {
  readonly job: TrainingJob;
  readonly model: Model | null;
}

export function createJobRunner(deps: JobRunnerDeps): JobRunner {
  const { storage, jobEvents, clock, retryPolicy } = deps;
  /** Running jobs → their base model. */
  const running = new Map<TrainingJob, string>();
  /** Running jobs that lost their trainer while no other is available. */
  const withoutTrainer = new Set<TrainingJob>();
  let lastFailure: string | null = null;
  let stopListening = () => {};

  const loop = createClaimLoop<ClaimedJob>({
    claim,
    run: runJob,
    runningMax: Infinity, // freeBaseModels decides
    pollMs: POLL_MS,
    report(error) {
      deps.log.error('job_runner.failed', { err: error });
      lastFailure = publicError(error).message;
    },
  });

  const runningOf = (baseModel: string): TrainingJob[] =>
    [...running.keys()].filter((job) => running.get(job) === baseModel);
  const roomOf = (baseModel: string): TrainerRoom => deps.trainerRoom().get(baseModel) ?? { jobs: 1, isReady: true };

  /** Base models whose trainer is available and has room for another job. */
  function freeBaseModels(): Parameters<typeof storage.jobs.claim>[3] {
    const isFull = (baseModel: string) => {
      const { jobs, isReady } = roomOf(baseModel);
      return !isReady || runningOf(baseModel).length >= jobs;
    };
    const known = new Set([...deps.trainerRoom().keys(), ...running.values()]);
    return deps.baseModels?.filter((baseModel) => !isFull(baseModel)) ?? { except: [...known].filter(isFull) };
  }

  async function claim(worker: string): Promise<ClaimedJob | null> {
    const job = await storage.jobs.claim(worker, clock.now(), LEASE_MS, freeBaseModels());
    if (!job) {
      await noteQueue(deps, (baseModel) => !deps.exclusive || roomOf(baseModel).isReady);
      return null;
    }
    const model = await retrying(() => storage.models.find(job.modelId), deps.log);
    if (model) running.set(job, model.baseModel); // counted before the next claim
    return { job, model };
  }

  async function runJob(claimed: ClaimedJob): Promise<void> {
    const { job } = claimed;
    const log = deps.log.child({ jobId: job.id, attempt: job.attempt });
    log.info('job.claimed', { modelId: job.modelId });
    deps.observer.began(job);
    let end: { outcome: AttemptOutcome | 'failed'; error?: unknown } = { outcome: 'stopped' };
    const renewLease = async () => {
      if (!(await storage.jobs.renewLease(job.id, job.attempt, clock.now() + LEASE_MS))) lease.cut('lost');
    };
    const waits = watchWaits({ ...deps, log }, job);
    const lease = holdLease<Cut>(loop.stopping, LEASE_MS, renewLease, (error) =>
      log.warn('job.lease_not_renewed', { err: error }),
    );
    try {
      const tries = () => tryUntilDecided(claimed, { ...deps, log }, waits, lease.signal);
      const outcome = await withRetries(tries, retryPolicy, log, lease.signal);
      lease.release();
      if (outcome === 'cancelled') await retrying(() => close(job, 'cancelled', 'cancelled'), log);
      if (outcome === 'stopped') await storage.jobs.renewLease(job.id, job.attempt, 0); // any server may continue at once
      end = { outcome };
      log.info(`job.${outcome}`);
    } catch (error) {
      if (loop.stopping.aborted) throw error; // the next start continues
      if (lease.signal.aborted) end = { outcome: lease.signal.reason as Cut };
      else end = await fail(job, error, log);
    } finally {
      lease.release();
      waits.end();
      running.delete(job);
      deps.observer.ended(job, end.outcome, end.error);
    }
    if (end.outcome !== 'stopped') await retrying(() => forgetAttempt(deps, job), log);
  }

  const retrying = <T>(work: () => Promise<T>, log: Log): Promise<T> =>
    withRetries(work, retryPolicy, log, loop.stopping);

  /** `signal`: aborted with a `Cut`. */
  async function tryUntilDecided(
    { job, model }: ClaimedJob,
    attempt: AttemptDeps,
    waits: DelayedWaits,
    signal: AbortSignal,
  ): Promise<AttemptOutcome> {
    if (!model) return 'lost';
    const trainer = deps.trainerOf(model.baseModel);
    if (!trainer) {
      throw new AppError(
        'base_model_not_found',
        `This server does not host the base model ${model.baseModel}. Start it with --model ${model.baseModel}.`,
      );
    }
    if (job.attempt - job.savedAttempt > deps.attemptsMax) {
      throw new AppError(
        'engine_failed',
        `The server stopped during each of ${deps.attemptsMax} attempts at this job, before anything new was saved.`,
      );
    }
    const watched = { ...trainer, engine: watchRowDeaths(heldBy(trainer.engine, waits.holder)) };
    let furthest = job.progress;
    for (let failures = 1; ; failures++) {
      try {
        return await attemptJob(job, model, watched, attempt, signal);
      } catch (error) {
        if (signal.aborted) return signal.reason as Cut;
        if (!(error instanceof AppError) || error.code !== 'engine_unavailable') throw error;
        const now = await storage.jobs.find(job.id);
        if (now && now.progress > furthest) [furthest, failures] = [now.progress, 1];
        if (failures >= ENGINE_FAILURES_MAX) throw error;
        attempt.log.warn('job.engine_lost', { failures, err: error });
        const outcome =
          (await endingOf(job, storage, signal)) ??
          (await waitForRoom(job, model.baseModel, attempt.log, waits, signal));
        if (outcome) return outcome;
      }
    }
  }

  /**
   * Several trainers may be gone at once: as many of their jobs continue as there is room for, before new ones are claimed; the others wait
   * without a limit, like those in the queue. Null: the job continues.
   */
  async function waitForRoom(
    job: TrainingJob,
    baseModel: string,
    log: Log,
    waits: DelayedWaits,
    signal: AbortSignal,
  ): Promise<AttemptOutcome | null> {
    withoutTrainer.add(job);
    try {
      for (let looks = 0; ; looks++) {
        const others = runningOf(baseModel).filter((other) => !withoutTrainer.has(other));
        if (others.length < roomOf(baseModel).jobs) return null;
        if (looks === 0) log.warn('job.waits_for_trainer', { baseModel });
        waits.waitsFor(WITHOUT_TRAINER);
        await jobEvents.wait(job.id, POLL_MS, signal);
        const outcome = await endingOf(job, storage, signal);
        if (outcome) return outcome;
      }
    } finally {
      withoutTrainer.delete(job);
      waits.waitsFor(null);
    }
  }

  async function fail(job: TrainingJob, error: unknown, log: Log): Promise<{ outcome: 'failed'; error: unknown }> {
    const message = (lastFailure = publicError(error).message);
    log.error('job.failed', { err: error });
    await retrying(() => close(job, 'failed', message), log);
    return { outcome: 'failed', error };
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
  }

  return {
    async start() {
      await rm(deps.workDirectory, { recursive: true, force: true }); // left behind by a crash
      await mkdir(deps.workDirectory, { recursive: true });
      if (deps.exclusive) await storage.jobs.releaseLeases(null); // their holders are gone
      stopListening = jobEvents.listen((jobId) => {
        if (jobId === null) loop.wake();
      });
      loop.start();
    },
    async stop() {
      stopListening();
      await loop.stop();
    },
    status: () => ({ running: [...running.keys()].map(({ id }) => id), lastFailure }),
  };
}
