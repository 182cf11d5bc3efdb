// Wires a server: it opens storage, engines and models as far as the server's roles need them, and hands them to each other.
// Implementations are named here and in hosted-model.ts and stores.ts only.
import { mkdir } from 'node:fs/promises';
import { createApp } from '#api/app';
import { createMetrics } from '#api/metrics';
import { observeJobs } from '#api/metrics-jobs';
import { measureStorage } from '#api/metrics-storage';
import { readSftLine } from '#api/schema/sft';
import { systemClock } from '#base/clock';
import { createLog, type Log } from '#base/log';
import { openTracing } from '#base/tracing';
import type { Role } from '#domain/role';
import type { TrainingEngine } from '#engine/training-engine';
import { createAccountLimits } from '#services/account-limits';
import { createApiKeys } from '#services/api-keys';
import { createArtifacts, type Artifacts } from '#services/artifacts';
import { createBaseModels } from '#services/base-models';
import { createChargedBlobs } from '#services/charged-blobs';
import { createChat } from '#services/chat';
import { createCheckpoints } from '#services/checkpoints';
import { createHealth } from '#services/health';
import { createIdempotent } from '#services/idempotency';
import { createJobEvents } from '#services/job-events';
import { createJobRunner } from '#services/job-runner';
import { createLogTrajectories } from '#services/log-trajectories';
import { createModels } from '#services/models';
import { createSampledTokens, recallTokens } from '#services/sampled-tokens';
import { createTrainingJobs } from '#services/training-jobs';
import { createUsage } from '#services/usage';
import { createWebhookPost } from '#services/webhook-post';
import { createWebhookSender } from '#services/webhook-sender';
import { createWebhooks } from '#services/webhooks';
import { createTemplateSandbox } from '#text/template-sandbox/template-sandbox';
import { createClosers, type Closers } from './server/closers.ts';
import type { ServerConfig } from './config.ts';
import { lockDataDirectory } from './server/data-lock.ts';
import { createFirstKey, refuseOpenDoor } from './server/first-key.ts';
import { openHostedModel, unique } from './server/hosted-model.ts';
import { listen } from './server/listen.ts';
import { closeInTime, stopListening, stopTraining, together } from './server/stopping.ts';
import { workPath } from './data-directory.ts';
import { openBlobs, openStorage } from './stores.ts';
import { VERSION } from './version.ts';

/** Between looks for uploads that nobody made a version of. */
const CLEAN_UP_MS = 60 * 60 * 1000;

export interface RunningServer {
  readonly url: string;
  /** The key that was made because there was none; shown once. */
  readonly firstKey: string | null;
  /** Lets running requests and the running gradient step finish, up to their limits; jobs go on at the next start. */
  close(reason?: string): Promise<void>;
}

/** Throws AppError with what to do: directory in use, port taken, model not found. Nothing is left open then. */
export async function startServer(config: ServerConfig, log: Log = createLog(config.logLevel)): Promise<RunningServer> {
  const open = createClosers();
  try {
    return await start(config, log, open);
  } catch (error) {
    await open.closeAll();
    throw error;
  }
}

async function start(config: ServerConfig, log: Log, open: Closers): Promise<RunningServer> {
  const beganMs = performance.now();
  const clock = systemClock;
  const plays = (role: Role) => config.roles.includes(role);
  await mkdir(config.dataDirectory, { recursive: true });
  const lock = await lockDataDirectory(config.dataDirectory);
  open.add(() => lock.release());
  const tracing = await openTracing({ version: VERSION, log });
  open.add(() => tracing.close());
  const metrics = createMetrics({
    baseModels: () => sampled(),
    queuedJobs: () => health.queuedJobs(),
    queuedJobsMax: config.jobs.queuedMax,
  });
  const storage = measureStorage(await openStorage(config, log), metrics.storage);
  open.add(() => storage.close());
  const apiKeys = createApiKeys({ store: storage.apiKeys, clock, log, bootstrapKey: config.bootstrapKey });
  await refuseOpenDoor(apiKeys, config);
  const usage = createUsage({ storage: storage.usage, log });
  open.add(() => usage.close());
  const bareBlobs = measureStorage(await openBlobs(config), metrics.storage, 'blobs.');
  open.add(async () => bareBlobs.close());
  const blobs = createChargedBlobs(bareBlobs, storage.accounts);
  const hosted = await Promise.all(config.models.map((name) => openHostedModel(name, config, blobs, log, open)));
  const [first, ...others] = unique(hosted);
  const baseModels = createBaseModels([first!.base, ...others.map(({ base }) => base)]);
  /** Those with an engine here. */
  const sampled = () => (plays('serve') ? baseModels.list() : []);
  const trainers = new Map(hosted.flatMap(({ base, trainer }) => (trainer ? [[base.id, trainer] as const] : [])));

  const jobEvents = createJobEvents();
  /** Rows in the data directory are ours alone; a Postgres may have other servers. */
  const exclusive = config.databaseUrl === null;
  const observer = observeJobs(metrics.jobs, tracing);
  const accountLimits = createAccountLimits({ storage, clock });
  const models = createModels({ storage, blobs, baseModels, limits: accountLimits, clock, log });
  const health = createHealth({
    storage,
    baseModels: { list: sampled },
    trainingFaults: () => [...trainers.entries()].flatMap(([id, { engine }]) => faultsOf(id, engine)),
    clock,
    deadlineMs: config.healthDeadlineMs,
  });
  const artifacts = createArtifacts({
    storage,
    blobs,
    clock,
    log,
    fileBytesMax: config.api.fileBytesMax,
    limits: accountLimits,
  });
  const sampledTokens = createSampledTokens();
  const sandbox = config.chat.trustRequestTemplates ? createTemplateSandbox() : null;
  if (sandbox) open.add(() => sandbox.close());
  const app = createApp({
    services: {
      apiKeys,
      accountLimits,
      baseModels,
      models,
      health,
      clock,
      log,
      chat: createChat({
        models,
        sampledTokens,
        recordUsage: (use) => usage.record(use),
        sandbox,
        settings: {
          priorities: config.chat.schedulingPolicy === 'priority',
          logprobsMax: config.chat.logprobsMax,
        },
        limits: accountLimits,
        clock,
        log,
      }),
      artifacts,
      checkpoints: createCheckpoints({ storage, blobs, baseModels, log }),
      usage,
      webhooks: createWebhooks({ store: storage.webhooks, jobEvents, clock }),
      trainingJobs: createTrainingJobs({
        storage,
        blobs,
        jobEvents,
        clock,
        log,
        queuedJobsMax: config.jobs.queuedMax,
        limits: accountLimits,
        observer,
        artifacts,
        recall: (body, model) => recallTokens(body, model, baseModels, sampledTokens),
      }),
      logTrajectories: createLogTrajectories({ storage, blobs, limits: accountLimits }),
      idempotent: createIdempotent(storage.idempotency, clock),
      metrics,
      tracing,
    },
    limits: config.api,
    version: VERSION,
    roles: config.roles,
  });

  if (exclusive) await storage.idempotency.releaseAll(); // whoever held them is gone
  if (plays('api')) await keepArtifactsClean(artifacts, log, open);
  const runner = createJobRunner({
    exclusive,
    storage,
    blobs,
    jobEvents,
    clock,
    log,
    workDirectory: workPath(config.dataDirectory),
    saveEveryMs: config.jobs.saveEveryMs,
    readSftLine,
    observer,
    baseModels: exclusive ? undefined : [...trainers.keys()],
    trainerOf: (baseModel) => trainers.get(baseModel) ?? null,
  });
  const endTraining = () =>
    stopTraining(
      runner,
      hosted.flatMap(({ trainer }) => trainer?.engine ?? []),
      config.stop,
      log,
    );
  if (plays('train')) {
    await runner.start();
    open.add(endTraining);
  }
  // With `api`, not `train`: calls go out also while no trainer runs, and machines that train often reach nothing outside.
  if (plays('api')) {
    const post = createWebhookPost();
    const webhookSender = createWebhookSender({ store: storage.webhooks, jobEvents, clock, log, post });
    webhookSender.start();
    open.add(() => webhookSender.stop());
  }
  const url = await listen(app, config.listen);
  open.add(() => together(stopListening(app, config.stop, log), endTraining()));
  const firstKey = await createFirstKey(apiKeys, config);
  const startMs = Math.round(performance.now() - beganMs);
  log.info('server.started', {
    url,
    version: VERSION,
    roles: config.roles,
    models: hosted.map(({ base }) => base.id),
    startMs,
  });
  return {
    url,
    firstKey,
    async close(reason = 'close') {
      log.info('server.stopping', { reason });
      await closeInTime(open, config.stop, log);
      log.info('server.stopped');
    },
  };
}

async function keepArtifactsClean(artifacts: Artifacts, log: Log, open: Closers): Promise<void> {
  const cleanUp = () => artifacts.cleanUp().catch((err: unknown) => log.warn('artifacts.not_cleaned', { err }));
  await cleanUp();
  const cleaning = setInterval(() => void cleanUp(), CLEAN_UP_MS);
  open.add(async () => clearInterval(cleaning));
}

function faultsOf(id: string, engine: TrainingEngine): string[] {
  const { ready, lastFailure } = engine.status();
  return ready ? [] : [`the trainer of ${id} is not ready: ${lastFailure ?? 'starting'}`];
}
