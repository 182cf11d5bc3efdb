// The one file that names implementations: it opens storage, engines and models, and hands them to each other.
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApp } from '#api/app';
import { createMetrics } from '#api/metrics';
import { observeJobs } from '#api/metrics-jobs';
import { measureStorage } from '#api/metrics-storage';
import { readSftLine } from '#api/schema/sft';
import { systemClock } from '#base/clock';
import { createLog, type Log } from '#base/log';
import { openTracing } from '#base/tracing';
import { SCOPES } from '#domain/api-key';
import { AppError } from '#domain/errors';
import type { TrainingEngine } from '#engine/training-engine';
import { createLoraAdapter, linearLayers } from '#engine/onnx/learning/lora';
import { writePeftDirectory } from '#engine/onnx/learning/peft-directory';
import { readDecoderConfig } from '#engine/onnx/models/config';
import { openInferenceEngine, openTrainingEngine } from '#engine/onnx/open-engines';
import { resolveModelDirectory } from '#engine/onnx/weights/resolve-model';
import { createAccountLimits } from '#services/account-limits';
import { createApiKeys, DEFAULT_ENTITY, type ApiKeys } from '#services/api-keys';
import { createArtifacts } from '#services/artifacts';
import { createBaseModels, type BaseModel } from '#services/base-models';
import { createChargedBlobs } from '#services/charged-blobs';
import { createChat } from '#services/chat';
import { createCheckpoints } from '#services/checkpoints';
import { createConversationEncoder } from '#services/conversation-encoder';
import { createHealth } from '#services/health';
import { createIdempotent } from '#services/idempotency';
import type { Trainer } from '#services/job-attempt';
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
import type { BlobStore } from '#storage/blobs';
import { createTemplateSandbox } from '#text/template-sandbox/template-sandbox';
import { openTextModel } from '#text/text-model';
import { createVocabulary } from '#text/vocabulary';
import { DEFAULT_LORA } from '#training/rl-config';
import type { ServerConfig } from './config.ts';
import { openBlobs, openStorage } from './stores.ts';
import { lockDataDirectory } from './data-lock.ts';
import { VERSION } from './version.ts';

/** Between looks for uploads that nobody made a version of. */
const CLEAN_UP_MS = 60 * 60 * 1000;

const STARTER_DIRECTORY = fileURLToPath(new URL('../models/starter', import.meta.url));

export interface RunningServer {
  readonly url: string;
  /** The key that was made because there was none; shown once. */
  readonly firstKey: string | null;
  /** Lets running requests finish, up to the drain limit; jobs go on at the next start. */
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
  const startMs = performance.now();
  const clock = systemClock;
  await mkdir(config.dataDirectory, { recursive: true });
  const lock = await lockDataDirectory(config.dataDirectory);
  open.add(() => lock.release());
  const tracing = await openTracing({ version: VERSION, log });
  open.add(() => tracing.close());
  const metrics = createMetrics({
    baseModels: () => baseModels.list(),
    queuedJobs: () => health.queuedJobs(),
    queuedJobsMax: config.jobs.queuedMax,
  });
  const storage = measureStorage(await openStorage(config, log), metrics.storage);
  open.add(() => storage.close());
  const usage = createUsage({ storage: storage.usage, log });
  open.add(() => usage.close());
  const bareBlobs = measureStorage(await openBlobs(config), metrics.storage, 'blobs.');
  open.add(async () => bareBlobs.close());
  const blobs = createChargedBlobs(bareBlobs, storage.accounts);
  const hosted = await Promise.all(config.models.map((name) => openHostedModel(name, config, blobs, log, open)));
  const [first, ...others] = unique(hosted);
  const baseModels = createBaseModels([first!.base, ...others.map(({ base }) => base)]);
  const trainers = new Map(hosted.map(({ base, trainer }) => [base.id, trainer]));

  const jobEvents = createJobEvents();
  /** Rows in the data directory are ours alone; a Postgres may have other servers. */
  const exclusive = config.databaseUrl === null;
  const observer = observeJobs(metrics.jobs, tracing);
  const runner = createJobRunner({
    exclusive,
    storage,
    blobs,
    jobEvents,
    clock,
    log,
    workDirectory: join(config.dataDirectory, 'work'),
    saveEveryMs: config.jobs.saveEveryMs,
    readSftLine,
    observer,
    trainerOf: (baseModel) => trainers.get(baseModel) ?? null,
  });
  const apiKeys = createApiKeys({ store: storage.apiKeys, clock, log, bootstrapKey: config.bootstrapKey });
  await refuseOpenDoor(apiKeys, config);
  const accountLimits = createAccountLimits({ storage, clock });
  const models = createModels({ storage, blobs, baseModels, limits: accountLimits, clock, log });
  const health = createHealth({
    storage,
    baseModels,
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
  const cleanUp = () => artifacts.cleanUp().catch((err: unknown) => log.warn('artifacts.not_cleaned', { err }));
  await cleanUp();
  const cleaning = setInterval(() => void cleanUp(), CLEAN_UP_MS);
  open.add(async () => clearInterval(cleaning));
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
  });

  if (exclusive) await storage.idempotency.releaseAll(); // whoever held them is gone
  await runner.start();
  open.add(() => runner.stop());
  const post = createWebhookPost();
  const webhookSender = createWebhookSender({ store: storage.webhooks, jobEvents, clock, log, post });
  webhookSender.start();
  open.add(() => webhookSender.stop());
  const url = await listen(app, config.listen);
  open.add(() => drain(app, config.drainMs, log));
  const firstKey = await createFirstKey(apiKeys, config);
  log.info('server.started', { url, version: VERSION, models: [...trainers.keys()], startMs: Math.round(performance.now() - startMs) }); // prettier-ignore
  return {
    url,
    firstKey,
    async close(reason = 'close') {
      log.info('server.stopping', { reason });
      await open.closeAll();
      log.info('server.stopped');
    },
  };
}

interface HostedModel {
  readonly base: BaseModel;
  readonly trainer: Trainer;
}

async function openHostedModel(
  name: string,
  config: ServerConfig,
  blobs: BlobStore,
  log: Log,
  open: Closers,
): Promise<HostedModel> {
  const { id, directory } = await resolveModelDirectory(name, {
    starterDirectory: STARTER_DIRECTORY,
    hfHome: config.hub.home,
    hfToken: config.hub.token ?? undefined,
    hfEndpoint: config.hub.endpoint ?? undefined,
    log,
    signal: AbortSignal.timeout(config.hub.downloadMs),
  });
  const layers = linearLayers(await readDecoderConfig(directory));
  const text = await openTextModel(directory);
  const [inference, training] = await allOpened([
    openInferenceEngine({
      modelDirectory: directory,
      precision: config.precision,
      vocabulary: createVocabulary(text),
      log: log.child({ model: id }),
    }),
    openTrainingEngine({
      modelDirectory: directory,
      baseModelName: id,
      ...(config.trainingMemoryBytes === null ? {} : { memoryBytes: config.trainingMemoryBytes }),
      log: log.child({ model: id }),
    }),
  ]);
  open.add(() => inference.close());
  open.add(() => training.close());
  const base: BaseModel = {
    id,
    createdAtMs: Math.round((await stat(join(directory, 'config.json'))).mtimeMs),
    text,
    inference,
    writeFreshAdapter: (target) => writePeftDirectory(target, createLoraAdapter(layers, DEFAULT_LORA), layers, id),
  };
  const trainer: Trainer = {
    engine: training,
    encoder: createConversationEncoder(id, text, inference.vocabSize),
    async preload({ id: checkpointId, blobPrefix }) {
      const adapter = await blobs.openDirectory(blobPrefix);
      if (adapter !== null) await inference.loadAdapter({ id: checkpointId, directory: adapter });
    },
  };
  return { base, trainer };
}

/** If one fails, the others are closed before its error is thrown: no child process is left behind. */
async function allOpened<A extends Closable, B extends Closable>(opening: [Promise<A>, Promise<B>]): Promise<[A, B]> {
  const settled = await Promise.allSettled(opening);
  const failed = settled.find(({ status }) => status === 'rejected');
  if (!failed) return Promise.all(opening);
  for (const each of settled) if (each.status === 'fulfilled') await each.value.close();
  throw failed.status === 'rejected' ? failed.reason : failed;
}

interface Closable {
  close(): Promise<void>;
}

/** `--model a --model a`: the engines of the second are closed with the others, but nobody sees them. */
const unique = (hosted: readonly HostedModel[]): HostedModel[] => [
  ...new Map(hosted.map((each) => [each.base.id, each])).values(),
];

function faultsOf(id: string, engine: TrainingEngine): string[] {
  const { ready, lastFailure } = engine.status();
  return ready ? [] : [`the trainer of ${id} is not ready: ${lastFailure ?? 'starting'}`];
}

async function listen(app: ReturnType<typeof createApp>, { host, port }: ServerConfig['listen']): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') throw error;
    const why = { EADDRINUSE: 'is in use', EACCES: 'may not be used by this user', EADDRNOTAVAIL: 'is not an address of this machine' }[code]; // prettier-ignore
    throw new AppError('invalid_request', `${host}:${port} ${why}. Choose another with --host and --port.`, {
      cause: error,
    });
  }
}

/** Requests that run may finish; what runs longer than the limit is cut. */
async function drain(app: ReturnType<typeof createApp>, limitMs: number, log: Log): Promise<void> {
  const timer = setTimeout(() => {
    log.warn('server.drain_cut', { limitMs });
    app.server.closeAllConnections();
  }, limitMs);
  await app.close().finally(() => clearTimeout(timer));
}

async function createFirstKey(apiKeys: ApiKeys, { bootstrapKey }: ServerConfig): Promise<string | null> {
  if (bootstrapKey !== null || (await apiKeys.list(null)).length > 0) return null;
  return (await apiKeys.create({ entity: DEFAULT_ENTITY, name: 'first start', scopes: SCOPES })).secret;
}

/** Whoever can reach a server without keys could read its first key from a log. */
async function refuseOpenDoor(apiKeys: ApiKeys, { listen: { host }, bootstrapKey, dataDirectory }: ServerConfig) {
  if (isLoopback(host) || bootstrapKey !== null) return;
  if ((await apiKeys.list(null)).some(({ revokedAtMs }) => revokedAtMs === null)) return;
  throw new AppError(
    'invalid_request',
    `${host} can be reached from other machines, and there is no API key yet. Make one with \`whetstone keys create --data ${dataDirectory}\`, or set WHETSTONE_API_KEY; or listen on 127.0.0.1.`,
  );
}

/** `localhost` is what resolvers must not send elsewhere (RFC 6761 §6.3). */
const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(?:\.\d+){3}$/.test(host);

interface Closers {
  add(close: () => Promise<void>): void;
  /** Last opened, first closed; one that fails does not keep the others open. */
  closeAll(): Promise<void>;
}

function createClosers(): Closers {
  const closers: (() => Promise<void>)[] = [];
  return {
    add: (close) => void closers.push(close),
    async closeAll() {
      const failures: unknown[] = [];
      for (let close = closers.pop(); close; close = closers.pop()) {
        await close().catch((error: unknown) => failures.push(error));
      }
      if (failures.length > 0) throw new AggregateError(failures, 'not everything could be closed');
    },
  };
}
