// Assembles a worker: the embedded engines for one model, connected to a server. It reads only the model's files from this machine;
// the server's calls come over the worker protocol (docs/worker-protocol.md).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '#base/log';
import { TRAINER_NICE } from '#engine/backend';
import { openBackend } from '#engine/open-backend';
import { SAMPLER_LIMITS } from '#engine/sampler-limits';
import { dialServer } from '#engine/workers/dial-server';
import { serveWorker } from '#engine/workers/serve-worker';
import { openWorkerFiles } from '#engine/workers/worker-files';
import { readWorkerModel } from '#engine/workers/worker-model';
import { type DownloadProgress, UNWATCHED } from '#model-files/hub-download';
import { resolveModelDirectory } from '#model-files/resolve-model';
import { readTextModel } from '#text/text-model';
import { createVocabulary } from '#text/vocabulary';
import { readHubConfig } from '#config/hub-settings';
import { LOG_SETTINGS } from '#config/log-settings';
import { readSettings } from '#config/setting';
import { STOP_SETTINGS } from '#config/settings';
import { STARTER_DIRECTORY } from '#config/starter-directory';
import { VERSION } from '#config/version';

/** Cached adapter files: they are fetched again when they are needed again. */
const CACHE_BYTES = 16_000_000_000;

export interface RunWorkerOptions {
  readonly url: string;
  readonly key: string;
  readonly model: string;
  /** The server's name of the model. Default: that of `model`. */
  readonly modelId?: string | undefined;
  readonly roles: readonly ('sample' | 'train')[];
  readonly name: string;
}

/** Resolves when the worker has left its server; rejects when it is refused. */
export async function runWorker(
  { url, key, model, modelId, roles, name }: RunWorkerOptions,
  stop: AbortSignal,
  progress: DownloadProgress = UNWATCHED,
): Promise<void> {
  const { logLevel, logFormat } = readSettings(LOG_SETTINGS, {}, process.env);
  const log = createLog(logLevel, logFormat);
  const { drainSeconds, stepSeconds } = readSettings(STOP_SETTINGS, {}, process.env);
  const hub = readHubConfig(process.env);
  const scratch = await mkdtemp(join(tmpdir(), 'whetstone-worker-'));
  const found = await resolveModelDirectory(model, {
    starterDirectory: STARTER_DIRECTORY,
    ggufDirectory: join(scratch, 'gguf'),
    hub,
    parts: 'everything',
    progress,
    log,
    signal: AbortSignal.timeout(hub.downloadMs),
  });
  const { directory } = found;
  const id = modelId ?? found.id;
  const vocabulary = createVocabulary(await readTextModel(directory));
  const [samples, trains] = [roles.includes('sample'), roles.includes('train')];
  const options = {
    samples,
    trains,
    precision: 'float32',
    kvCacheDtype: 'float32',
    trainingPrecision: 'float32',
    contextLengthMax: null,
    cacheBytes: null,
    prefixCacheBytes: null,
    adapterBytes: null,
    trainingMemoryBytes: null,
    trainers: 1,
    trainerNice: TRAINER_NICE,
    unreadMs: SAMPLER_LIMITS.unreadMs,
    weightsDirectory: null,
    onWeights: (done: number, of: number) => progress.onBytes(id, done, of, 'preparing'),
    log,
  } as const;
  const backend = await openBackend({ id, directory, vocabulary }, options, null).finally(() => progress.onEnd(id));
  const files = await openWorkerFiles({
    url,
    key,
    directory: join(scratch, 'adapters'),
    cacheBytesMax: CACHE_BYTES,
  });
  const { inference, training, capabilities } = backend;
  const { contextLength, vocabSize } = inference;
  const { sequencesMax, adaptersMax } = SAMPLER_LIMITS;
  const sampler = { contextLength, vocabSize, sequencesMax, adaptersMax, capabilities };
  const engines = { inference: samples ? inference : null, training };
  const server = dialServer({
    url,
    key,
    name,
    version: VERSION,
    hello: {
      model: await readWorkerModel(id, directory),
      roles,
      sampler: samples ? sampler : null,
      trainer: training && { limits: training.limits, capabilities, rowsAtOnce: 1 },
    },
    serve: (port) => serveWorker(port, engines, files),
    log,
  });
  const leaveSeconds = Math.max(samples ? drainSeconds : 0, trains ? stepSeconds : 0);
  stop.addEventListener('abort', () => void server.leave(1000 * leaveSeconds), { once: true });
  try {
    await server.over;
  } finally {
    await files.close();
    await backend.close();
    await rm(scratch, { recursive: true, force: true });
  }
}
