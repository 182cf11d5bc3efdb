// One base model of this server: its tokenizer, and the backend that its roles need. Without a role there is no engine for it:
// chat fails with an error that names the role, or there is no trainer.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readBoundedText } from '#base/bounded-file';
import { systemClock } from '#base/clock';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { MemoryLimits } from '#engine/backend';
import { openBackend } from '#engine/open-backend';
import type { OpenWorkers } from '#engine/workers/workers';
import type { DownloadProgress } from '#model-files/hub-download';
import type { ResolvedModel } from '#model-files/resolve-model';
import type { BaseModel } from '#services/models/base-models';
import { createConversationEncoder } from '#services/jobs/data/conversation-encoder';
import type { Trainer } from '#services/jobs/attempt/job-attempt';
import type { RunTrainer } from '#services/tinker/run-session';
import { takeTurns } from '#services/trainer-turns';
import type { BlobStore } from '#storage/blobs';
import { readTextModel } from '#text/text-model';
import { createVocabulary } from '#text/vocabulary';
import { DEFAULT_LORA } from '#domain/lora-config';
import type { ServerConfig } from '#config/server-config';
import { weightsPath, workPath } from '#config/data-directory';
import type { CloseStack } from './close-stack.ts';
import { createJobDataChild } from './job-data-child.ts';

export interface HostedModel {
  readonly directory: string;
  readonly base: BaseModel;
  /** Null: this server does not train. */
  readonly trainer: Trainer | null;
  /** For training clients of the Tinker protocol, which share it with jobs. */
  readonly runTrainer: RunTrainer | null;
}

export type HostConfig = Pick<
  ServerConfig,
  | 'roles'
  | 'models'
  | 'parsers'
  | 'chatTemplate'
  | 'precision'
  | 'kvCacheDtype'
  | 'trainingPrecision'
  | 'trainerNice'
  | 'unreadMs'
  | 'dataDirectory'
>;

/** A model with its files on this machine, and its memory limits. */
export interface FoundModel extends ResolvedModel {
  readonly memory: MemoryLimits;
  /** Null: its engines run in this server. */
  readonly workers: OpenWorkers | null;
}

export async function hostModel(
  { id, directory, memory, workers }: FoundModel,
  config: HostConfig,
  blobs: BlobStore,
  progress: DownloadProgress,
  log: Log,
  open: CloseStack,
): Promise<HostedModel> {
  const text = await readTextModel(directory, systemClock, config.parsers, config.chatTemplate);
  const model = { id, directory, vocabulary: createVocabulary(text) };
  const options = {
    samples: config.roles.includes('serve'),
    trains: config.roles.includes('train'),
    precision: config.precision,
    kvCacheDtype: config.kvCacheDtype,
    trainingPrecision: config.trainingPrecision,
    ...memory,
    trainerNice: config.trainerNice,
    unreadMs: config.unreadMs,
    trainers: config.models.length,
    weightsDirectory: weightsPath(config.dataDirectory),
    onWeights: (done: number, of: number) => progress.onBytes(id, done, of, 'preparing'),
    log: log.child({ model: id }),
  };
  const backend = await openBackend(model, options, workers).finally(() => progress.onEnd(id));

  open.add(() => backend.close());
  const { inference, training } = backend;
  const size = await hiddenSizeOf(directory);
  const base: BaseModel = {
    id,
    ...size,
    createdAtMs: Math.round((await stat(join(directory, 'config.json'))).mtimeMs),
    text,
    inference,
    get capabilities() {
      return backend.capabilities;
    },
    writeFreshAdapter: (target, lora = DEFAULT_LORA) => backend.writeFreshAdapter(target, lora),
    checkAdapter: (source) => backend.checkAdapter(source),
  };
  const jobData = createJobDataChild({ directory, id, vocabSize: inference.vocabSize, template: config.chatTemplate });
  open.add(() => jobData.close());
  const shared =
    training &&
    takeTurns(training, {
      directory: workPath(config.dataDirectory),
      keepsGradients: () => backend.capabilities.keepsGradients,
      clock: systemClock,
      log: options.log,
    });
  const trainer: Trainer | null = shared && {
    engine: shared,
    capabilities: () => backend.capabilities,
    readElsewhere: jobData.read,
    ...size,
    encoder: createConversationEncoder(id, text, inference.vocabSize),
    unload: (checkpointId) => inference.unloadAdapter(checkpointId),
    async preload({ id: checkpointId, blobPrefix, fresh }) {
      if (fresh || !config.roles.includes('serve')) return; // servers with the role serve load it on its first request
      const adapter = await blobs.findDirectory(blobPrefix);
      if (adapter === null) return;
      await inference.loadAdapter({ id: checkpointId, directory: adapter }).catch((error: unknown) => {
        if (!(error instanceof AppError && error.code === 'too_many_requests')) throw error; // all places are in use: loaded on its first request
      });
    },
  };
  const runTrainer = shared && {
    engine: shared,
    capabilities: () => backend.capabilities,
    vocabSize: inference.vocabSize,
  };
  return { directory, base, trainer, runTrainer };
}

/** From config.json, including families that only workers support. */
async function hiddenSizeOf(directory: string): Promise<Pick<Trainer, 'hiddenSize'>> {
  const config = JSON.parse(await readBoundedText(join(directory, 'config.json'))) as { hidden_size?: unknown };
  return typeof config.hidden_size === 'number' && config.hidden_size > 0 ? { hiddenSize: config.hidden_size } : {};
}
