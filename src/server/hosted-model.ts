// One base model of this server: its tokenizer, and the engines that its roles need, each a process. Where a role is missing
// there is no process: chat fails by name, and there is nobody to train.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Log } from '#base/log';
import type { Role } from '#domain/role';
import { createAbsentInferenceEngine } from '#engine/absent-inference-engine';
import type { InferenceEngine } from '#engine/inference-engine';
import type { TrainingEngine } from '#engine/training-engine';
import { createLoraAdapter, linearLayers } from '#engine/onnx/learning/lora';
import { writePeftDirectory } from '#engine/onnx/learning/peft-directory';
import { readDecoderConfig } from '#engine/onnx/models/config';
import { openInferenceEngine, openTrainingEngine } from '#engine/onnx/open-engines';
import { DEFAULT_INFERENCE_LIMITS } from '#engine/onnx/serving/inference-limits';
import { resolveModelDirectory } from '#engine/onnx/weights/resolve-model';
import type { BaseModel } from '#services/base-models';
import { createConversationEncoder } from '#services/conversation-encoder';
import type { Trainer } from '#services/job-attempt';
import type { BlobStore } from '#storage/blobs';
import { openTextModel } from '#text/text-model';
import { createVocabulary } from '#text/vocabulary';
import { DEFAULT_LORA } from '#training/rl-config';
import { allOpened, type Closers } from './closers.ts';
import type { ServerConfig } from '#config';

const STARTER_DIRECTORY = fileURLToPath(new URL('../../models/starter', import.meta.url));

export interface HostedModel {
  readonly base: BaseModel;
  /** Null: this server does not train. */
  readonly trainer: Trainer | null;
}

export type HostConfig = Pick<ServerConfig, 'roles' | 'precision' | 'hub' | 'prefixCacheBytes' | 'trainingMemoryBytes'>;

export async function openHostedModel(
  name: string,
  config: HostConfig,
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
  const decoder = await readDecoderConfig(directory);
  const layers = linearLayers(decoder);
  const text = await openTextModel(directory);
  const plays = (role: Role) => config.roles.includes(role);
  const childLog = log.child({ model: id });
  const [inference, training] = await allOpened<[InferenceEngine, TrainingEngine | null]>([
    plays('serve')
      ? openInferenceEngine({
          modelDirectory: directory,
          precision: config.precision,
          ...(config.prefixCacheBytes === null ? {} : { limits: { prefixCacheBytes: config.prefixCacheBytes } }),
          vocabulary: createVocabulary(text),
          log: childLog,
        })
      : Promise.resolve(
          createAbsentInferenceEngine({
            contextLength: Math.min(decoder.maxPositions, DEFAULT_INFERENCE_LIMITS.contextLength),
            vocabSize: decoder.vocab,
          }),
        ),
    plays('train')
      ? openTrainingEngine({
          modelDirectory: directory,
          baseModelName: id,
          ...(config.trainingMemoryBytes === null ? {} : { memoryBytes: config.trainingMemoryBytes }),
          log: childLog,
        })
      : Promise.resolve(null),
  ]);
  open.add(() => inference.close());
  if (training) open.add(() => training.close());
  const base: BaseModel = {
    id,
    createdAtMs: Math.round((await stat(join(directory, 'config.json'))).mtimeMs),
    text,
    inference,
    writeFreshAdapter: (target) => writePeftDirectory(target, createLoraAdapter(layers, DEFAULT_LORA), layers, id),
  };
  const trainer: Trainer | null = training && {
    engine: training,
    encoder: createConversationEncoder(id, text, decoder.vocab),
    async preload({ id: checkpointId, blobPrefix }) {
      if (!plays('serve')) return; // the servers that chat load it when it is first called
      const adapter = await blobs.openDirectory(blobPrefix);
      if (adapter !== null) await inference.loadAdapter({ id: checkpointId, directory: adapter });
    },
  };
  return { base, trainer };
}

/** `--model a --model a`: the engines of the second are closed with the others, but nobody sees them. */
export const unique = (hosted: readonly HostedModel[]): HostedModel[] => [
  ...new Map(hosted.map((each) => [each.base.id, each])).values(),
];
