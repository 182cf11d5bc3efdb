// Registering, finding and deleting users' models, and turning the name in a chat request into what can be sampled.
// Registration makes step 0, so that every model can be called and trained at once.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import type { Caller } from '#domain/caller';
import type { Checkpoint } from '#domain/checkpoint';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import type { AdapterRef } from '#engine/inference-engine';
import type { BlobStore } from '#storage/blobs';
import type { Listing, Page } from '#domain/page';
import type { ModelFilter, Storage } from '#storage/storage';
import type { AccountLimits } from './account-limits.ts';
import type { BaseModel, BaseModels } from './base-models.ts';
import { checkpointName } from './model-name.ts';
import { getOwnModel } from './own-model.ts';
import { findNamedCheckpoint, getNamedCheckpoint, type NamedCheckpoint } from './named-checkpoint.ts';

export interface Registration {
  /** Null: the caller's own. */
  readonly entity: string | null;
  readonly project: string;
  readonly name: string;
  readonly baseModel: string;
  readonly returnExisting: boolean;
  /** Name of the checkpoint that step 0 is a copy of; null: a fresh adapter. */
  readonly fromCheckpoint: string | null;
}

/** What a chat request samples from. */
export interface SampledModel {
  /** As answers name it. */
  readonly servedName: string;
  readonly base: BaseModel;
  /** Null for a base model, and for the step made at registration, whose adapter changes nothing. */
  readonly adapter: AdapterRef | null;
  /** A checkpoint of a trainable model: its callers need logprobs. */
  readonly trainable: boolean;
}

export interface Models {
  /** Throws `base_model_not_found`, `model_conflict`, `not_found` (another entity), `checkpoint_not_found` (to fork). One that has the id already is returned. */
  register(caller: Caller, registration: Registration, id: string): Promise<Model>;
  /** Throws `model_not_found`, also for another entity's. */
  get(caller: Caller, id: string): Promise<Model>;
  list(caller: Caller, filter: Omit<ModelFilter, 'entity'>, page: Page): Promise<Listing<Model>>;
  /** Its checkpoints, jobs and their data go too; requests that run finish. Throws `model_not_found`. */
  delete(caller: Caller, id: string): Promise<{ modelId: string; deletedCheckpoints: number }>;
  /** Null: the default base model. Throws `model_not_found`. */
  resolve(caller: Caller, name: string | null): Promise<SampledModel>;
}

export interface ModelsDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly baseModels: BaseModels;
  readonly limits: Pick<AccountLimits, 'bytesLeft' | 'charge'>;
  readonly clock: Clock;
  readonly log: Log;
}

export function createModels({ storage, blobs, baseModels, limits, clock, log }: ModelsDeps): Models {
  const get = (caller: Caller, id: string): Promise<Model> => getOwnModel(storage, caller, id);

  async function create(caller: Caller, registration: Registration & { entity: string }, id: string): Promise<Model> {
    await limits.bytesLeft(caller);
    const base = baseModels.get(registration.baseModel);
    const { entity, project, name } = registration;
    const model: Model = {
      id, entity, project, name, baseModel: base.id, runId: null, createdAtMs: clock.now(),
    }; // prettier-ignore
    const source = registration.fromCheckpoint === null ? null : await forkSource(registration);
    const blobPrefix = source ? `checkpoints/${model.id}/fork` : freshPrefix(model.id);
    const { sizeBytes } = await (source ? copyAdapter(source, blobPrefix) : putFreshAdapter(base, blobPrefix));
    const stepZero: Checkpoint = {
      id: createId(),
      modelId: model.id,
      step: 0,
      metrics: source?.metrics ?? {},
      blobPrefix,
      createdAtMs: model.createdAtMs,
    };
    const { outcome, model: stored } = await storage.models.create(model, stepZero);
    if (outcome === 'created') {
      await limits.charge(caller, blobPrefix, sizeBytes);
      log.info('model.registered', { modelId: model.id, entity, project, name, baseModel: base.id, fork: source?.id });
    } else await blobs.delete(blobPrefix);
    return outcome === 'created' ? stored : existing(stored, registration);
  }

  async function forkSource({ entity, baseModel, fromCheckpoint }: Registration & { entity: string }) {
    const expected = { baseModel, param: 'from_checkpoint' };
    return (await getNamedCheckpoint(storage, entity, fromCheckpoint!, expected)).checkpoint;
  }

  /** With its optimizer state: training goes on as the source's would. */
  async function copyAdapter(source: Checkpoint, blobPrefix: string): Promise<{ sizeBytes: number }> {
    return blobs.putDirectory(blobPrefix, (await adapterOf(source)).directory);
  }

  async function putFreshAdapter(base: BaseModel, blobPrefix: string): Promise<{ sizeBytes: number }> {
    const directory = await mkdtemp(join(tmpdir(), 'whetstone-step-0-'));
    try {
      await base.writeFreshAdapter(directory);
      return await blobs.putDirectory(blobPrefix, directory);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  async function sampledCheckpoint({ model, checkpoint }: NamedCheckpoint): Promise<SampledModel> {
    return {
      servedName: checkpointName(model, checkpoint.step),
      base: baseModels.get(model.baseModel),
      adapter: checkpoint.blobPrefix === freshPrefix(model.id) ? null : await adapterOf(checkpoint),
      trainable: true,
    };
  }

  async function adapterOf(checkpoint: Checkpoint): Promise<AdapterRef> {
    const directory = await blobs.openDirectory(checkpoint.blobPrefix);
    if (directory !== null) return { id: checkpoint.id, directory };
    throw new AppError('bad_model_files', `The files of checkpoint ${checkpoint.step} are gone from the blob store.`);
  }

  return {
    async register(caller, registration, id) {
      const entity = registration.entity ?? caller.entity;
      if (entity !== caller.entity) {
        throw new AppError(
          'not_found',
          `No entity \`${entity}\` for this key. Leave entity out to use \`${caller.entity}\`.`,
          { param: 'entity' },
        );
      }
      const found = await storage.models.findByName(entity, registration.project, registration.name);
      if (!found) {
        const { project, name } = registration;
        if (await storage.artifacts.exists({ entity, project, name })) {
          throw new AppError(
            'model_conflict',
            `${entity}/${project}/${name} is an artifact. Choose another name for the model.`,
            { param: 'name' },
          );
        }
        return create(caller, { ...registration, entity }, id);
      }
      return found.id === id ? found : existing(found, registration);
    },

    get,

    list: (caller, filter, page) => storage.models.list({ ...filter, entity: caller.entity }, page),

    async delete(caller, id) {
      const model = await get(caller, id);
      const deleted = await storage.models.delete(id);
      if (!deleted) return { modelId: id, deletedCheckpoints: 0 }; // another request was faster
      // Rows first: what is left behind if we die here is unreachable bytes, never a row without its blob.
      const engine = baseModels.find(model.baseModel)?.inference;
      for (const checkpoint of deleted.checkpoints) {
        await engine?.unloadAdapter(checkpoint.id);
        await blobs.delete(checkpoint.blobPrefix);
      }
      for (const blob of deleted.bodyBlobs) await blobs.delete(blob);
      await blobs.delete(`logs/${id}`);
      log.info('model.deleted', { modelId: id, checkpoints: deleted.checkpoints.length });
      return { modelId: id, deletedCheckpoints: deleted.checkpoints.length };
    },

    async resolve(caller, name) {
      const base = name === null ? baseModels.default : baseModels.find(name);
      if (base) return { servedName: base.id, base, adapter: null, trainable: false };
      const named = await findNamedCheckpoint(storage, caller.entity, name!);
      if (named) return sampledCheckpoint(named);
      throw new AppError(
        'model_not_found',
        `The model \`${name}\` does not exist. GET /v1/models lists what can be called.`,
        { param: 'model' },
      );
    },
  };
}

const freshPrefix = (modelId: string): string => `checkpoints/${modelId}/0`;

function existing(model: Model, { baseModel, returnExisting }: Registration): Model {
  const name = `${model.entity}/${model.project}/${model.name}`;
  if (model.baseModel !== baseModel) {
    throw new AppError(
      'model_conflict',
      `${name} exists with base model \`${model.baseModel}\`, not \`${baseModel}\`. Choose another name.`,
      { param: 'base_model' },
    );
  }
  if (returnExisting) return model;
  throw new AppError('model_conflict', `${name} exists already. Send return_existing: true to get it.`, {
    param: 'name',
  });
}
