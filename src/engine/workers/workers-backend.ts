// Workers as a backend: a pool of those that sample a model, a pool of those that train it, and the capabilities they share.
import { readDecoderConfig } from '#model-files/decoder-config';
import { checkAdapterElsewhere } from '#model-files/check-adapter-elsewhere';
import { writeFreshAdapter } from '#model-files/fresh-adapter';
import { createAbsentInferenceEngine } from '../absent-inference-engine.ts';
import type { Backend, BackendModel, BackendOptions } from '../backend.ts';
import { readWorkerModel } from './worker-model.ts';
import type { OpenWorkers } from './workers.ts';

const SAMPLE = ['sample'] as const;
const TRAIN = ['train'] as const;

/** Does not read the model's weights. Codes: `bad_model_files`. */
export async function openWorkersBackend(
  { id, directory }: BackendModel,
  { samples, trains }: BackendOptions,
  workers: OpenWorkers,
): Promise<Backend> {
  const config = await readDecoderConfig(directory);
  const model = await readWorkerModel(id, directory);
  const pools = workers.host({ ...model, uses: [...(samples ? SAMPLE : []), ...(trains ? TRAIN : [])] });
  return {
    inference: samples ? pools.inference : createAbsentInferenceEngine(model),
    training: trains ? pools.training : null,
    get capabilities() {
      const [sampler, trainer] = [pools.inference.capabilities, pools.training.capabilities];
      return { ...sampler, ...trainer, exactLogprobs: sampler.exactLogprobs && trainer.exactLogprobs };
    },
    writeFreshAdapter: (target, lora) => writeFreshAdapter(target, config, lora, id),
    checkAdapter: (directory) => checkAdapterElsewhere({ directory, config, baseModel: id }),
    async close() {
      await pools.inference.close();
      await pools.training.close();
    },
  };
}
