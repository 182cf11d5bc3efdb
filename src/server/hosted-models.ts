// All base models of this server, and which of them it samples and trains. One of them is hosted-model.ts.
import { resolve } from 'node:path';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { TrainingEngine } from '#engine/training-engine';
import type { OpenWorkers } from '#engine/workers/workers';
import type { ModelParts } from '#model-files/hub-cache';
import type { DownloadProgress } from '#model-files/hub-download';
import { resolveModelDirectory, type ResolvedModel } from '#model-files/resolve-model';
import type { Trainer } from '#services/jobs/attempt/job-attempt';
import { createBaseModels, type BaseModel, type BaseModels } from '#services/models/base-models';
import type { RunTrainer } from '#services/tinker/run-session';
import type { BlobStore } from '#storage/blobs';
import type { ServerConfig } from '#config/server-config';
import { ggufPath } from '#config/data-directory';
import { STARTER_DIRECTORY } from '#config/starter-directory';
import type { CloseStack } from './close-stack.ts';
import { hostModel, type FoundModel } from './hosted-model.ts';
import { planModelMemory } from './model-memory.ts';

export interface HostedModels {
  readonly baseModels: BaseModels;
  /** By the base model's id. */
  readonly trainers: ReadonlyMap<string, Trainer>;
  /** By the base model's id: shared by training clients and jobs. */
  readonly runTrainers: ReadonlyMap<string, RunTrainer>;
  readonly trainingEngines: readonly TrainingEngine[];
  /** Of the models whose weights are on this machine, by id. */
  readonly directories: ReadonlyMap<string, string>;
  /** Those with an engine on this server. */
  readonly sampled: () => readonly BaseModel[];
  /** Why no job can run now; empty if jobs can run. */
  readonly trainingFaults: () => readonly string[];
}

export async function hostModels(
  config: ServerConfig,
  blobs: BlobStore,
  workers: OpenWorkers,
  progress: DownloadProgress,
  log: Log,
  open: CloseStack,
): Promise<HostedModels> {
  const options = {
    starterDirectory: STARTER_DIRECTORY,
    ggufDirectory: ggufPath(config.dataDirectory),
    hub: config.hub,
    progress,
    log,
  };
  const find = (name: string, parts: ModelParts) =>
    resolveModelDirectory(name, { ...options, parts, signal: AbortSignal.timeout(config.hub.downloadMs) });
  const here = await Promise.all(config.models.map((name) => find(name, 'everything')));
  const elsewhere = await Promise.all(config.workerModels.map((name) => find(name, 'without weights')));
  refuseNamesakes([...here, ...elsewhere]);
  const memoryOf = await planModelMemory(unique(here), config, log);
  const found: FoundModel[] = [
    ...here.map((each) => ({ ...each, memory: memoryOf(each.id), workers: null })),
    ...elsewhere.map((each) => ({ ...each, memory: config.memoryLimits, workers })),
  ];
  const hosted = await Promise.all(unique(found).map((each) => hostModel(each, config, blobs, progress, log, open)));
  const [first, ...others] = hosted.map(({ base }) => base);
  const baseModels = createBaseModels([first!, ...others]);
  const trainers = new Map(hosted.flatMap(({ base, trainer }) => (trainer ? [[base.id, trainer] as const] : [])));
  const runTrainers = new Map(
    hosted.flatMap(({ base, runTrainer }) => (runTrainer ? [[base.id, runTrainer] as const] : [])),
  );
  return {
    baseModels,
    trainers,
    runTrainers,
    directories: new Map(here.map(({ id, directory }) => [id, resolve(directory)])),
    trainingEngines: hosted.flatMap(({ trainer }) => trainer?.engine ?? []),
    sampled: () => (config.roles.includes('serve') ? baseModels.list() : []),
    trainingFaults: () => [...trainers].flatMap(([id, { engine }]) => faultsOf(id, engine)),
  };
}

/** Removes duplicates, as in `--model a --model a`. */
const unique = <T extends ResolvedModel>(models: readonly T[]): T[] => [
  ...new Map(models.map((each) => [each.id, each])).values(),
];

/** Two revisions of one model, or two directories with one name: clients could call only one of them. */
function refuseNamesakes(all: readonly ResolvedModel[]): void {
  const directories = new Map<string, string>();
  for (const { id, directory } of all) {
    const other = directories.get(id) ?? directory;
    if (other !== directory)
      throw new AppError(
        'invalid_request',
        `Two models of this server would be called ${id}: ${other} and ${directory}. Host only one of them, or rename one directory.`,
      );
    directories.set(id, directory);
  }
}

function faultsOf(id: string, engine: TrainingEngine): string[] {
  const { ready, lastFailure } = engine.status();
  return ready ? [] : [`the trainer of ${id} is not ready: ${lastFailure ?? 'starting'}`];
}
