// A server that accepts workers, and workers with the embedded engines, over real sockets on loopback.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WebSocket } from 'ws';
import { silentLog } from '#base/log';
import { CONSTRAINT_KINDS } from '#domain/constraint';
import type { LoraConfig } from '#domain/lora-config';
import type { EngineCapabilities } from '#engine/capabilities';
import type { SamplerPool } from '#engine/workers/sampler-pool';
import type { TrainerPool } from '#engine/workers/trainer-pool';
import type { WorkerModel } from '#engine/workers/handshake';
import { dialServer, type DialedServer, type DialOptions } from '#engine/workers/dial-server';
import { serveWorker, type WorkerEngines } from '#engine/workers/serve-worker';
import { openWorkerFiles } from '#engine/workers/worker-files';
import { readWorkerModel } from '#engine/workers/worker-model';
import type { OpenWorkers, WorkersOptions } from '#engine/workers/workers';
import type { ApiKeys } from '#services/accounts/api-keys';
import { readDecoderConfig } from '#model-files/decoder-config';
import { writeFreshAdapter } from '#model-files/fresh-adapter';
import { BOOTSTRAP_KEY, openTestServer, type TestServer } from '../api/test-server.ts';

export interface WorkerLab {
  readonly url: string;
  readonly workers: OpenWorkers;
  /** Whether the server knows a worker. */
  isThere(): boolean;
  readonly inference: SamplerPool;
  readonly training: TrainerPool;
  /** The model that it hosts. */
  readonly model: WorkerModel;
  readonly apiKeys: ApiKeys;
  /** The server's clock; stands still until it is advanced. */
  readonly clock: TestServer['clock'];
  readonly capabilities: EngineCapabilities;
  /** The server's ends of all connections. */
  sockets(): readonly WebSocket[];
  /** Cuts every socket to the server, as a network failure would. */
  breakConnections(): void;
  /** Resolves once the server knows it. */
  connect(
    engines: WorkerEngines,
    changes?: Partial<DialOptions>,
    capabilities?: Partial<EngineCapabilities>,
    sampler?: { sequencesMax?: number },
    trainer?: { rowsAtOnce?: number },
  ): Promise<DialedServer>;
  /** Writes an adapter that fits the hosted model into a new directory. */
  writeAdapter(directory: string, more?: Pick<LoraConfig, 'targets'>): Promise<void>;
  close(): Promise<void>;
}

export const MODEL = 'tiny/worker';

/** `modelDirectory`: used by both ends. */
export async function openWorkerLab(
  modelDirectory: string,
  limits: WorkersOptions['limits'] = {},
  modelId = MODEL,
): Promise<WorkerLab> {
  const server = await openTestServer({ workerLimits: limits });
  const url = await server.app.listen({ port: 0, host: '127.0.0.1' });
  await writeFile(join(modelDirectory, 'tokenizer.json'), '{}', { flag: 'wx' }).catch(ignoreExisting); // tiny models have none
  const model = await readWorkerModel(modelId, modelDirectory);
  const { inference, training } = server.workers.host(model);
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-worker-'));
  const dialed: DialedServer[] = [];
  let count = 0;
  return {
    url,
    workers: server.workers,
    isThere: () => server.workers.list().length > 0,
    inference,
    training,
    model,
    apiKeys: server.apiKeys,
    clock: server.clock,
    capabilities: EVERYTHING,
    sockets: () => [...server.app.websocketServer.clients],
    breakConnections() {
      for (const socket of server.app.websocketServer.clients) socket.terminate();
    },
    async writeAdapter(target, more = {}) {
      await mkdir(target);
      const lora = { rank: 2, alpha: 4, seed: 1, ...more };
      await writeFreshAdapter(target, await readDecoderConfig(modelDirectory), lora, modelId);
    },
    async connect(engines, changes = {}, capabilities = {}, sampler = {}, trainer = {}) {
      const name = `worker-${++count}`;
      const files = await openWorkerFiles({
        url,
        key: BOOTSTRAP_KEY,
        directory: join(directory, name),
        cacheBytesMax: 1e9,
      });
      const before = server.workers.list().length;
      const worker = dialServer({
        url,
        key: BOOTSTRAP_KEY,
        name,
        version: '0',
        hello: {
          model,
          roles: [
            ...(engines.inference ? (['sample'] as const) : []),
            ...(engines.training ? (['train'] as const) : []),
          ],
          sampler: engines.inference && {
            contextLength: engines.inference.contextLength,
            vocabSize: engines.inference.vocabSize,
            sequencesMax: 128,
            adaptersMax: 8,
            capabilities: { ...EVERYTHING, ...capabilities },
            ...sampler,
          },
          trainer: engines.training && {
            limits: engines.training.limits,
            capabilities: { ...EVERYTHING, ...capabilities },
            rowsAtOnce: 1,
            ...trainer,
          },
        },
        serve: (port) => serveWorker(port, engines, files),
        log: silentLog,
        ...changes,
      });
      dialed.push(worker);
      while (server.workers.list().length === before) {
        await Promise.race([worker.over, new Promise((resolve) => setTimeout(resolve, 5))]);
      }
      return worker;
    },
    async close() {
      await Promise.all(dialed.map((worker) => worker.leave(0)));
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export const EVERYTHING: EngineCapabilities = {
  exactReplay: true,
  exactTraining: true,
  exactLogprobs: true,
  constraints: CONSTRAINT_KINDS,
  promptLogprobs: true,
  headAdapters: true,
  sharedPrefixRows: true,
  keepsGradients: true,
  precision: 'float32',
  unsupportedSampling: [],
};

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
