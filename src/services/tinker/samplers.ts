// What a Tinker client samples from: a base model, saved weights under a path, or unnamed weights from a save.
import type { Clock } from '#base/clock';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { TinkerSampler } from '#domain/tinker';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { checkpointName, modelName } from '#domain/model-name';
import type { BaseModels } from '../models/base-models.ts';
import { getCheckpointFiles } from '../models/checkpoint-files.ts';
import type { SampledModel } from '../models/models.ts';
import type { Saves } from './saves.ts';
import type { TinkerNames } from './tinker-names.ts';
import type { TinkerSessions } from './tinker-sessions.ts';

export interface NewSampler {
  readonly sessionId: string;
  readonly ordinal: number;
  /** One of them is set. With both, the weights must be of the base model. */
  readonly baseModel: string | null;
  readonly modelPath: string | null;
}

export interface Samplers {
  /** Idempotent per position in the session. Throws `checkpoint_not_found`, `base_model_not_found`, `not_found`, `invalid_request`. */
  create(caller: Caller, sampler: NewSampler): Promise<TinkerSampler>;
  get(caller: Caller, id: string): Promise<TinkerSampler>;
  /** How many tokens a prompt and its sample may have together; 0: its base model is not hosted here. */
  contextOf(sampler: TinkerSampler): number;
  /** Throws `checkpoint_not_found` if its weights were deleted, or belong to another entity and are no longer published. */
  modelOf(sampler: TinkerSampler): Promise<SampledModel>;
}

export interface SamplersDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly baseModels: BaseModels;
  readonly names: TinkerNames;
  readonly saves: Pick<Saves, 'find'>;
  readonly sessions: Pick<TinkerSessions, 'get'>;
  readonly clock: Clock;
}

export function createSamplers({ storage, blobs, baseModels, names, saves, sessions, clock }: SamplersDeps): Samplers {
  async function weightsOf(caller: Caller, path: string) {
    const found = await saves.find(caller.entity, path);
    if (!found) throw new AppError('checkpoint_not_found', `There are no saved weights ${path.slice(0, 300)}.`);
    return found;
  }

  return {
    async create(caller, { sessionId, ordinal, baseModel, modelPath }) {
      const session = await sessions.get(caller, sessionId);
      const weights = modelPath === null ? null : await weightsOf(caller, modelPath);
      if (weights) names.refuseOther(baseModel, weights.run.baseModel);
      const base = weights ? baseModels.get(weights.run.baseModel) : names.get(baseModel ?? '');
      const sampler = await storage.tinker.createSampler({
        id: `${session.id}:sampler:${ordinal}`,
        sessionId: session.id,
        ordinal,
        entity: caller.entity,
        baseModel: base.id,
        servedAs: baseModel ?? weights?.run.servedAs ?? base.id,
        modelPath,
        modelId: weights?.named.modelId ?? null,
        step: weights?.named.step ?? null,
        blob: null,
        createdAtMs: clock.now(),
      });
      if (sampler.baseModel === base.id && sampler.modelPath === modelPath && sampler.blob === null) return sampler;
      const message = `${sampler.id} is another sampling session. Send another sampling_session_seq_id.`;
      throw new AppError('invalid_request', message, { param: 'sampling_session_seq_id' });
    },

    async get(caller, id) {
      const sampler = await storage.tinker.findSampler(id);
      if (sampler && sampler.entity === caller.entity) return sampler;
      throw new AppError(
        'not_found',
        `No sampling session ${id.slice(0, 200)}. Unnamed weights are kept for the newest 32 of a session.`,
      );
    },

    contextOf({ baseModel }) {
      const base = baseModels.find(baseModel);
      return base ? Math.min(base.text.contextLength, base.inference.contextLength) : 0;
    },

    async modelOf({ id, entity, baseModel, modelPath, modelId, step, blob }) {
      const base = baseModels.get(baseModel);
      if (modelId === null) return { servedName: base.id, base, adapter: null, modelId: null, step: null };
      const model = await storage.models.find(modelId);
      const checkpoint = step === null ? null : await storage.checkpoints.find(modelId, step);
      const isReadable = modelPath === null || (await saves.find(entity, modelPath)) !== null;
      if (!model || !isReadable || (step !== null && !checkpoint)) {
        const message = 'The weights of this sampling session were deleted, or are no longer published.';
        throw new AppError('checkpoint_not_found', message);
      }
      if (checkpoint) {
        const directory = await getCheckpointFiles(blobs, checkpoint);
        return {
          servedName: checkpointName(model, step!),
          base,
          adapter: { id: checkpoint.id, directory },
          modelId,
          step,
        };
      }
      const directory = await blobs.findDirectory(blob!);
      if (directory === null) throw new AppError('damaged_data', `The weights of ${id} are gone from the blob store.`);
      return { servedName: modelName(model), base, adapter: { id, directory }, modelId, step };
    },
  };
}
