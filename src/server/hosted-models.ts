// All base models of this server, and what its roles do with them: who samples, who trains. One of them is hosted-model.ts.
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { TrainingEngine } from '#engine/training-engine';
import type { OpenWorkers } from '#engine/workers/workers';
import type { DownloadProgress } from '#model-files/hub-download';
import type { Trainer } from '#services/jobs/job-attempt';
import { createBaseModels, type BaseModel, type BaseModels } from '#services/models/base-models';
import type { RunTrainer } from '#services/tinker/run-session';
import type { BlobStore } from '#storage/blobs';
import type { ServerConfig } from '#config';
import type { CloseStack } from './close-stack.ts';
import { hostModel, type HostedModel } from './hosted-model.ts';

export interface HostedModels {
  readonly baseModels: BaseModels;
  /** By the base model's id. */
  readonly trainers: ReadonlyMap<string, Trainer>;
  /** By the base model's id: training clients take turns there with the jobs. */
  readonly runTrainers: ReadonlyMap<string, RunTrainer>;
  readonly trainingEngines: readonly TrainingEngine[];
  /** Those with an engine here. */
  readonly sampled: () => readonly BaseModel[];
  /** Why no job can run now; empty when all is well. */
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
  const all = await Promise.all([
    ...config.models.map((name) => hostModel(name, config, blobs, null, progress, log, open)),
    ...config.workerModels.map((name) => hostModel(name, config, blobs, workers, progress, log, open)),
  ]);
  refuseNamesakes(all);
  // `--model a --model a`: the engines of the second are closed with the others, but nobody sees them.
  const hosted = [...new Map(all.map((each) => [each.base.id, each])).values()];
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
    trainingEngines: all.flatMap(({ trainer }) => trainer?.engine ?? []),
    sampled: () => (config.roles.includes('serve') ? baseModels.list() : []),
    trainingFaults: () => [...trainers].flatMap(([id, { engine }]) => faultsOf(id, engine)),
  };
}

/** Two revisions of one model, or two directories with one name: clients could call only one of them. */
function refuseNamesakes(all: readonly HostedModel[]): void {
  const directories = new Map<string, string>();
  for (const { base, directory } of all) {
    const other = directories.get(base.id) ?? directory;
    if (other !== directory)
      throw new AppError(
        'invalid_request',
        `Two models of this server would be called ${base.id}: ${other} and ${directory}. Host one of them, or give a copy another name.`,
      );
    directories.set(base.id, directory);
  }
}

function faultsOf(id: string, engine: TrainingEngine): string[] {
  const { ready, lastFailure } = engine.status();
  return ready ? [] : [`the trainer of ${id} is not ready: ${lastFailure ?? 'starting'}`];
}
