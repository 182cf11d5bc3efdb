// The server's background work: removes old uploads, runs jobs, evaluates checkpoints, answers background
// responses, calls webhooks, each if its roles include it.
import type { Log } from '#base/log';
import type { TrainingEngine } from '#engine/training-engine';
import { createOnlineTrainer } from '#services/episodes/online-trainer';
import { createEvaluationRunner } from '#services/evaluations/evaluation-runner';
import { deleteOldData } from '#services/jobs/data-retention';
import { createJobRunner, type TrainerRoom } from '#services/jobs/job-runner';
import type { RetryPolicy } from '#services/retry-policy';
import { deleteOldResponses } from '#services/responses/response-retention';
import { createResponseRunner } from '#services/responses/response-runner';
import { createRunWorker } from '#services/tinker/run-worker';
import { createWebhookPost } from '#services/webhooks/webhook-post';
import { createWebhookSender } from '#services/webhooks/webhook-sender';
import type { ServerConfig } from '#config/server-config';
import { workPath } from '#config/data-directory';
import type { CloseStack } from './close-stack.ts';
import type { Services, ServiceParts } from './services.ts';
import { stopTraining, together } from './stopping.ts';

/** Interval between searches for uploads without a version, and for data past its retention. */
const CLEAN_UP_MS = 60 * 60 * 1000;
/** Between searches for samples that no client has fetched for long: they are in memory. */
const SAMPLES_CLEAN_UP_MS = 60_000;
const JOB_ATTEMPTS_MAX = 20;
/** Freeing a full disk takes minutes; a job that waits longer fails and says so. */
const STORAGE_RETRIES: RetryPolicy = { initialDelayMs: 500, maxDelayMs: 15_000, totalMs: 30 * 60_000 };

export interface BackgroundParts extends ServiceParts {
  readonly services: Services;
}

/** What must be stopped in addition to the requests. */
export interface Background {
  endTraining(): Promise<void>;
}

export async function startBackground(
  config: ServerConfig,
  parts: BackgroundParts,
  open: CloseStack,
): Promise<Background> {
  const { storage, blobs, webhookStore, hosted, services, observer, clock, log } = parts;
  const { artifacts, jobEvents, webhookAddresses } = services;
  /** A data directory's rows belong to this server alone; a Postgres may have other servers. */
  const exclusive = config.databaseUrl === null;

  if (exclusive) await storage.idempotency.releaseAll(); // the servers that held them are gone
  if (config.roles.includes('api')) {
    await keepClean('artifacts', () => artifacts.cleanUp(), log, open);
    await keepClean('tinker', () => services.tinker.saves.deleteExpired(), log, open);
    const { keepDataMs: keepMs } = config.jobs;
    if (keepMs !== null)
      await keepClean('data', () => deleteOldData({ storage, blobs, clock, log, keepMs }), log, open);
    const old = { storage, blobs, clock, log, keepMs: config.responses.keepMs };
    await keepClean('responses', () => deleteOldResponses(old), log, open);
    await keepClean('episodes', () => services.episodes.expire(config.episodes.keepMs), log, open);
  }

  if (config.roles.includes('serve')) {
    const { sampling } = services.tinker;
    await keepClean('tinker_samples', async () => sampling.clear(), log, open, SAMPLES_CLEAN_UP_MS);
  }

  const runner = createJobRunner({
    exclusive,
    storage,
    blobs,
    jobEvents,
    clock,
    log,
    workDirectory: workPath(config.dataDirectory),
    saveEveryMs: config.jobs.saveEveryMs,
    observer,
    retryPolicy: STORAGE_RETRIES,
    attemptsMax: JOB_ATTEMPTS_MAX,
    baseModels: exclusive ? null : [...hosted.trainers.keys()],
    trainerRoom: () => new Map([...hosted.trainers].map(([id, { engine }]) => [id, roomOf(engine)])),
    trainerOf: (baseModel) => hosted.trainers.get(baseModel) ?? null,
  });
  const runWorker = createRunWorker({
    exclusive,
    storage,
    blobs,
    saves: services.tinker.saves,
    runEvents: services.tinker.runEvents,
    clock,
    log,
    workDirectory: workPath(config.dataDirectory),
    saveEveryMs: config.jobs.saveEveryMs,
    trainers: hosted.runTrainers,
  });
  const training = { stop: () => together(runner.stop(), runWorker.stop()) };
  const endTraining = () => stopTraining(training, hosted.trainingEngines, config.stop, log);
  if (config.roles.includes('train')) {
    await runner.start();
    await runWorker.start();
    open.add(endTraining);
  }

  if (config.roles.includes('serve')) {
    const evaluationRunner = createEvaluationRunner({
      exclusive,
      storage,
      blobs,
      chat: services.chat,
      jobEvents,
      clock,
      log,
      baseModels: hosted.sampled().map(({ id }) => id),
      retryPolicy: STORAGE_RETRIES,
    });
    await evaluationRunner.start();
    open.add(() => evaluationRunner.stop());

    const responseRunner = createResponseRunner({
      exclusive,
      storage,
      blobs,
      chat: services.chat,
      live: services.liveResponses,
      writer: parts.responseWriter,
      clock,
      log,
      baseModels: hosted.sampled().map(({ id }) => id),
      retryPolicy: STORAGE_RETRIES,
    });
    await responseRunner.start();
    open.add(() => responseRunner.stop());
  }

  if (config.roles.includes('api')) {
    const { trainingJobs } = services;
    const onlineTrainer = createOnlineTrainer({ exclusive, storage, trainingJobs, jobEvents, clock, log });
    await onlineTrainer.start();
    open.add(() => onlineTrainer.stop());
  }

  // With `api`, not `train`: webhooks are called even while no trainer runs, and training machines often have no internet access.
  if (config.roles.includes('api')) {
    const post = createWebhookPost(webhookAddresses);
    const sender = createWebhookSender({ store: webhookStore, jobEvents, clock, log, post });
    sender.start();
    open.add(() => sender.stop());
  }
  return { endTraining };
}

/** Jobs of other models that take turns with those at the trainer. More would hold their data in memory only to wait. */
const JOBS_BESIDE = 2;

function roomOf(engine: TrainingEngine): TrainerRoom {
  const { sessionsMax, ready } = engine.status();
  return { jobs: sessionsMax === 0 ? 0 : sessionsMax + JOBS_BESIDE, isReady: ready };
}

/** Once now, and then at intervals. */
async function keepClean(
  what: string,
  work: () => Promise<void>,
  log: Log,
  open: CloseStack,
  everyMs = CLEAN_UP_MS,
): Promise<void> {
  const cleanUp = () => work().catch((err: unknown) => log.warn(`${what}.not_cleaned`, { err }));
  await cleanUp();
  const cleaning = setInterval(() => void cleanUp(), everyMs);
  open.add(async () => clearInterval(cleaning));
}
