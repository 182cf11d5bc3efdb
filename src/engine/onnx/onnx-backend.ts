// The embedded engine as a backend: a sampler and a trainer on ONNX Runtime, each in its own child process, and their capabilities.
import { allOpened } from '#base/all-opened';
import { CONSTRAINT_KINDS } from '#domain/constraint';
import { readDecoderConfig } from '#model-files/decoder-config';
import { checkAdapterElsewhere } from '#model-files/check-adapter-elsewhere';
import { writeFreshAdapter } from '#model-files/fresh-adapter';
import { createAbsentInferenceEngine } from '../absent-inference-engine.ts';
import type { Backend, BackendModel, BackendOptions } from '../backend.ts';
import type { EngineCapabilities, KVCacheDtype, ServingPrecision, TrainingPrecision } from '../capabilities.ts';
import type { InferenceEngine } from '../inference-engine.ts';
import type { TrainingEngine } from '../training-engine.ts';
import { openInferenceEngine, openTrainingEngine } from './open-engines.ts';
import { DEFAULT_INFERENCE_LIMITS } from './serving/inference-limits.ts';
import { machineMemory, trainingMemoryShare } from './machine-memory.ts';
import { limitsOf, planMemory } from './memory-plan.ts';
import { servingLayout, trainingLayout } from './weights/weight-layout.ts';
import { prepareSideBySide } from './weights/prepare-weights.ts';
import type { WeightsPlace } from './weights/weights.ts';

export { limitsOf, machineMemory, planMemory };

export const onnxCapabilities = (
  precision: ServingPrecision,
  kvCacheDtype: KVCacheDtype = 'float32',
  trainingPrecision: TrainingPrecision = 'float32',
): EngineCapabilities => ({
  exactReplay: true,
  exactTraining: true,
  exactLogprobs: precision === 'float32' && kvCacheDtype === 'float32' && trainingPrecision === 'float32',
  constraints: CONSTRAINT_KINDS,
  promptLogprobs: true,
  embeddings: true,
  headAdapters: true,
  sharedPrefixRows: true,
  keepsGradients: true,
  precision,
  unsupportedSampling: [],
});

export async function openOnnxBackend(model: BackendModel, options: BackendOptions): Promise<Backend> {
  const { id, directory, vocabulary } = model;
  const { samples, trains, precision, kvCacheDtype, trainingPrecision, unreadMs, trainers, trainerNice, log } = options;
  const { contextLengthMax, cacheBytes, prefixCacheBytes, adapterBytes, trainingMemoryBytes } = options;
  const config = await readDecoderConfig(directory);
  const weights: WeightsPlace = options.weightsDirectory === null ? {} : { directory: options.weightsDirectory };
  // Prepared in this process, so that the engines' processes only map the files.
  const { served, trained } = prepareSideBySide(
    {
      served: samples ? servingLayout(config, precision) : null,
      trained: trains ? trainingLayout(config, trainingPrecision) : null,
    },
    { modelDirectory: directory, ...weights, onBytes: options.onWeights, log },
  );
  const contextLength = contextLengthMax ?? DEFAULT_INFERENCE_LIMITS.contextLength;
  const [inference, training] = await allOpened<[InferenceEngine, TrainingEngine | null]>([
    samples
      ? served.then(() =>
          openInferenceEngine({
            modelDirectory: directory,
            precision,
            kvCacheDtype,
            weights,
            limits: {
              ...DEFAULT_INFERENCE_LIMITS,
              unreadMs,
              contextLength,
              cacheBytes: cacheBytes ?? DEFAULT_INFERENCE_LIMITS.cacheBytes,
              prefixCacheBytes: prefixCacheBytes ?? DEFAULT_INFERENCE_LIMITS.prefixCacheBytes,
              adapterBytes: adapterBytes ?? DEFAULT_INFERENCE_LIMITS.adapterBytes,
            },
            vocabulary,
            log,
          }),
        )
      : Promise.resolve(
          createAbsentInferenceEngine({
            contextLength: Math.min(config.maxPositions, contextLength),
            vocabSize: config.vocab,
          }),
        ),
    trains
      ? trained.then(() =>
          openTrainingEngine({
            modelDirectory: directory,
            baseModelName: id,
            precision: trainingPrecision,
            weights,
            memoryBytes: trainingMemoryBytes ?? trainingMemoryShare(trainers),
            nice: trainerNice,
            log,
          }),
        )
      : Promise.resolve(null),
  ]);
  return {
    inference,
    training,
    capabilities: onnxCapabilities(precision, kvCacheDtype, trainingPrecision),
    writeFreshAdapter: (target, lora) => writeFreshAdapter(target, config, lora, id),
    checkAdapter: (source) => checkAdapterElsewhere({ directory: source, config, baseModel: id }),
    close: async () => void (await Promise.all([inference.close(), training?.close()])),
  };
}
