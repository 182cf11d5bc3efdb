// The server's side of workers: their connections, the files transferred in both directions, and a backend for each model that they
// serve. Opened once, before workers can connect.
import type { WebSocket } from 'ws';
import type { Log } from '#base/log';
import type { WorkerReport, WorkerTally } from '#domain/worker';
import type { WorkerModel } from './handshake.ts';
import { createOfferedFiles, type OfferedFiles } from './offered-files.ts';
import { createSamplerPool, DEFAULT_QUEUE_LIMITS, type SamplerPool } from './sampler-pool.ts';
import type { QueueLimits } from './sampler-queue.ts';
import { createTrainerPool, DEFAULT_TRAINER_LIMITS, type TrainerLimits, type TrainerPool } from './trainer-pool.ts';
import { openUploadedFiles, type UploadedFiles } from './uploaded-files.ts';
import { createWorkerTallies } from './worker-tallies.ts';
import { createWorkerRegistry, DEFAULT_REGISTRY_LIMITS, type MayStay, type RegistryLimits } from './worker-registry.ts';

export interface WorkersOptions {
  /** Directory for files in transfer, used by this object alone. */
  readonly directory: string;
  readonly limits?: Partial<RegistryLimits & QueueLimits & TrainerLimits>;
  readonly clock: { now(): number };
  readonly log: Log;
}

export interface OpenWorkers {
  /** From now on workers of this model may connect. */
  host(model: WorkerModel): { readonly inference: SamplerPool; readonly training: TrainerPool };
  accept(socket: WebSocket, mayStay?: MayStay): void;
  list(): readonly WorkerReport[];
  /** By name, including the counts of ended workers. */
  tallies(): readonly WorkerTally[];
  readonly offered: OfferedFiles;
  readonly uploaded: UploadedFiles;
  close(): Promise<void>;
}

export async function openWorkers({ directory, limits = {}, clock, log }: WorkersOptions): Promise<OpenWorkers> {
  const models = new Map<string, WorkerModel>();
  const registry = createWorkerRegistry(models, { ...DEFAULT_REGISTRY_LIMITS, ...limits }, clock, log);
  const offered = createOfferedFiles();
  const uploaded = await openUploadedFiles(directory);
  const tallies = createWorkerTallies();
  registry.onEnd(({ hello, counts }) => tallies.ended({ model: hello.model.id, name: hello.worker.name, ...counts }));

  function list(): WorkerReport[] {
    return registry.list().flatMap((worker) => {
      const { hello, state, connectedAtMs, heardAtMs, status, counts } = worker;
      if (state === 'ended') return [];
      const silentMs = Math.max(0, clock.now() - heardAtMs);
      const { worker: who, model, roles } = hello;
      const sequencesMax = hello.sampler?.sequencesMax ?? null;
      return [{ ...who, model: model.id, roles, state, connectedAtMs, silentMs, sequencesMax, ...counts, ...status }];
    });
  }

  return {
    host(model) {
      models.set(model.id, model);
      return {
        inference: createSamplerPool({ model, registry, offered, limits: { ...DEFAULT_QUEUE_LIMITS, ...limits }, log }),
        training: createTrainerPool({
          ...{ model, registry, offered, uploaded },
          limits: { ...DEFAULT_TRAINER_LIMITS, ...limits },
        }),
      };
    },
    accept: (socket, mayStay) => registry.accept(socket, mayStay),
    list,
    tallies: () => tallies.read(list()),
    offered,
    uploaded,
    async close() {
      registry.close();
      await uploaded.close();
    },
  };
}
