// Assembles a server: opens the storage and models that the server's roles need, passes them to the services, and those to
// the HTTP layer. Implementations are named only here and in server/.
import { fileURLToPath } from 'node:url';
import { createApp } from '#api/app';
import { openDashboard } from '#api/description/dashboard';
import { openReference } from '#api/description/reference';
import { createMetrics } from '#api/http/metrics';
import { observeJobs } from '#api/http/metrics-jobs';
import { measureStorage } from '#api/http/metrics-storage';
import { responseWriter } from '#api/responses/responses-response';
import { systemClock } from '#base/clock';
import { createLog, type Log } from '#base/log';
import { closeOlderFiles, makePrivateDirectory } from '#base/private-directory';
import { createSecretBox } from '#base/secret-box';
import { openTracing } from '#base/tracing';
import { createApiKeys } from '#services/accounts/api-keys';
import { createChargedBlobs } from '#services/accounts/charged-blobs';
import { openWorkers } from '#engine/workers/workers';
import { UNWATCHED, type DownloadProgress } from '#model-files/hub-download';
import { createUsage } from '#services/accounts/usage';
import { ROLES } from '#domain/role';
import { startingFault } from '#domain/storage-fault';
import { prepareSealedWebhooks, refuseUnsealedWebhooks } from '#storage/sealed-webhooks';
import type { WebhookStore } from '#storage/webhook-store';
import type { ServerConfig } from './config/server-config.ts';
import { databasePath, workersPath } from './config/data-directory.ts';
import { refuseLostDatabase } from './maintenance/lost-database.ts';
import { refuseUnfinishedRestore } from './maintenance/unfinished-restore.ts';
import { startBackground } from './server/background.ts';
import { createCloseStack, type CloseStack } from './server/close-stack.ts';
import { lockDataDirectory } from './server/data-lock.ts';
import { findLocalKey, makeFirstKey, refuseOpenDoor } from './server/first-key.ts';
import { hostModels } from './server/hosted-models.ts';
import { listen, tryPort } from './server/listen.ts';
import { serveAdapters } from './server/served-adapters.ts';
import { readSecretKeys } from './server/secret-keys.ts';
import { createServices } from './server/services.ts';
import { closeInTime, stopListening, together } from './server/stopping.ts';
import { openBlobs, openStorage } from './server/open-stores.ts';
import { VERSION } from './config/version.ts';

/** Next to this file; when running from source, where a build puts it. */
const DASHBOARD_DIRECTORY = fileURLToPath(new URL('../dist/dashboard/', import.meta.url));
const REFERENCE_DIRECTORY = fileURLToPath(new URL('../dist/reference/', import.meta.url));

export interface RunningServer {
  readonly url: string;
  /** The key that was created because there was none; shown once. */
  readonly firstKey: string | null;
  /** The key that commands on this machine find in the data directory; null: there is none, or it was revoked. */
  readonly localKey: string | null;
  /** Lets running requests and the running gradient step finish, up to their limits; jobs continue at the next start. */
  close(reason?: string): Promise<void>;
}

/** Throws AppError that says what to do: directory in use or not writable, database damaged, port taken, model not found. Leaves nothing open then. */
export async function startServer(
  config: ServerConfig,
  log: Log = createLog(config.logLevel, config.logFormat),
  progress: DownloadProgress = UNWATCHED,
): Promise<RunningServer> {
  const open = createCloseStack();
  try {
    return await start(config, log, progress, open);
  } catch (error) {
    await open.closeAll();
    throw startingFault(error, databasePath(config.dataDirectory)) ?? error;
  }
}

async function start(
  config: ServerConfig,
  log: Log,
  progress: DownloadProgress,
  open: CloseStack,
): Promise<RunningServer> {
  const beganMs = performance.now();
  const clock = systemClock;
  await makePrivateDirectory(config.dataDirectory);
  const lock = await lockDataDirectory(config.dataDirectory);
  open.add(() => lock.release());
  closeOlderFiles(config.dataDirectory).catch((err: unknown) => log.warn('data_directory.not_closed', { err })); // `whetstone doctor` reports it
  await refuseUnfinishedRestore(config);
  await tryPort(config.listen);
  const tracing = await openTracing({ version: VERSION, log });
  open.add(() => tracing.close());
  const metrics = createMetrics({
    baseModels: () => hosted.sampled(),
    workers: () => workers.tallies(),
    episodes: () => storage.episodes.countByStatus(),
    queuedJobs: () => services.health.queuedJobs(),
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
  await refuseLostDatabase(storage.inventory, bareBlobs, log);
  const blobs = createChargedBlobs(bareBlobs, storage.accounts);
  const webhookStore = await sealWebhooks(storage.webhooks, config, log);

  const workers = await openWorkers({ directory: workersPath(config.dataDirectory), clock, log });
  open.add(() => workers.close());
  const hosted = await hostModels(config, blobs, workers, progress, log, open);
  const observer = observeJobs(metrics.jobs, tracing);
  const parts = { storage, blobs, webhookStore, hosted, usage, observer, responseWriter, clock, log };
  const services = createServices(config, parts, open);
  await serveAdapters(config.adapters, { ...parts, ...services });
  const app = createApp({
    services: { ...services, apiKeys, usage, baseModels: hosted.baseModels, workers, metrics, tracing, clock, log },
    limits: config.api,
    version: VERSION,
    roles: config.roles,
    storeRoles: config.databaseUrl === null ? config.roles : ROLES,
    dashboard: await openDashboard(DASHBOARD_DIRECTORY),
    reference: await openReference(REFERENCE_DIRECTORY),
  });
  const background = await startBackground(config, { ...parts, services }, open);

  const url = await listen(app, config.listen);
  open.add(() => together(stopListening(app, config.stop, log), background.endTraining()));
  const firstKey = await makeFirstKey(apiKeys, config);
  const localKey = await findLocalKey(apiKeys, config.dataDirectory);
  const announced = { url, models: Object.fromEntries(hosted.directories) };
  await lock.announce(announced).catch((err: unknown) => log.warn('data_directory.not_announced', { err })); // commands then need --url
  log.info('server.started', {
    url,
    version: VERSION,
    roles: config.roles,
    models: hosted.baseModels.list().map(({ id }) => id),
    startMs: Math.round(performance.now() - beganMs),
  });
  return {
    url,
    firstKey,
    localKey,
    async close(reason = 'close') {
      log.info('server.stopping', { reason });
      await closeInTime(open, config.stop, log);
      log.info('server.stopped');
    },
  };
}

async function sealWebhooks(store: WebhookStore, config: ServerConfig, log: Log): Promise<WebhookStore> {
  const keys = await readSecretKeys(config);
  return keys === null ? refuseUnsealedWebhooks(store, log) : prepareSealedWebhooks(store, createSecretBox(keys), log);
}
