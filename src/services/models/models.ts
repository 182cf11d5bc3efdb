// Registering, finding and deleting users' models, and resolving the model name of a chat request. Registration makes step 0, so that
// every model can be called and trained at once.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import {
  jobOfBlob,
  jobRecordBlob,
  modelEvaluationBlobs,
  modelLogBlobs,
  stepZeroBlob,
  tinkerBlobs,
} from '#domain/blob-names';
import type { Caller } from '#domain/caller';
import type { Checkpoint } from '#domain/checkpoint';
import { AppError } from '#domain/errors';
import type { LoraConfig } from '#domain/lora-config';
import type { Model } from '#domain/model';
import { NO_LABELS, type ModelLabels, type ModelProject } from '#domain/model-labels';
import { ADAPTERS_PROJECT, checkpointName, withSlashes } from '#domain/model-name';
import type { SavePolicy } from '#domain/save-policy';
import type { AdapterRef } from '#engine/inference-engine';
import type { BlobStore } from '#storage/blobs';
import type { Listing, Order, Page } from '#domain/page';
import type { ModelFilter, Storage } from '#storage/storage';
import type { AccountLimits } from '../accounts/account-limits.ts';
import { holdBlobs, type HeldBlobs } from '../accounts/stored-bytes.ts';
import type { BaseModel, BaseModels } from './base-models.ts';
import { findCheckpointLora, type CheckpointLora } from './checkpoint-lora.ts';
import { getCheckpointFiles } from './checkpoint-files.ts';
import { createUseCheckpoint } from './kept-checkpoints.ts';
import { getOwnModel } from './own-model.ts';
import { explainMissing, findNamedCheckpoint, getNamedCheckpoint, type NamedCheckpoint } from './named-checkpoint.ts';

export interface Registration {
  /** Null: the caller's own. */
  readonly entity: string | null;
  readonly project: string;
  readonly name: string;
  readonly baseModel: string;
  readonly returnExisting: boolean;
  /** The checkpoint that step 0 copies: the entity's own, or one that the caller may read; null: step 0 is a fresh adapter. */
  readonly fromCheckpoint: string | Checkpoint | null;
  /** LoRA settings of a fresh adapter; default: those of all jobs. */
  readonly lora?: LoraConfig;
  /** Null: all checkpoints are kept. */
  readonly savePolicy?: SavePolicy | null;
}

export interface Registered {
  readonly model: Model;
  /** `exists`: it already existed and is unchanged. */
  readonly outcome: 'created' | 'exists';
}

/** The resolved model of a chat request. */
export interface SampledModel {
  /** The name in answers. */
  readonly servedName: string;
  readonly base: BaseModel;
  /** Null for a base model, and for a checkpoint whose adapter changes nothing. */
  readonly adapter: AdapterRef | null;
  /** The trainable model, whose callers need logprobs; null for a base model. */
  readonly modelId: string | null;
  /** The step whose weights answer; null for a base model. */
  readonly step: number | null;
}

export type LabelsChange = Partial<Pick<ModelLabels, 'tags' | 'note'>> & { readonly archived?: boolean };

export interface Models {
  /** Returns the existing model if one has the id. Throws `base_model_not_found`, `model_conflict`, `invalid_request` (LoRA on a layer that the base model lacks), `not_found` (another entity), `checkpoint_not_found` (to fork). */
  register(caller: Caller, registration: Registration, id: string): Promise<Registered>;
  /** Throws `model_not_found`, also for another entity's model. */
  get(caller: Caller, id: string): Promise<Model>;
  /** LoRA settings of its latest checkpoint; null: all were deleted. */
  findLora(model: Model): Promise<CheckpointLora | null>;
  /** Null: all checkpoints are kept. */
  findSavePolicy(model: Model): Promise<SavePolicy | null>;
  /** Applies from the next checkpoint on. Throws `model_not_found`. */
  setSavePolicy(caller: Caller, id: string, policy: SavePolicy | null): Promise<Model>;
  findLabels(model: Model): Promise<ModelLabels>;
  /** What is left out stays as it is; archiving an archived model keeps the time. Throws `model_not_found`. */
  setLabels(caller: Caller, id: string, change: LabelsChange): Promise<ModelLabels>;
  list(caller: Caller, filter: Omit<ModelFilter, 'entity'>, page: Page, order?: Order): Promise<Listing<Model>>;
  /** By name; the cursor is the name of a project. */
  listProjects(caller: Caller, page: Page): Promise<Listing<ModelProject>>;
  /** Deletes its checkpoints, jobs and their data too; running requests finish. Throws `model_not_found`. */
  delete(caller: Caller, id: string): Promise<{ modelId: string; deletedCheckpoints: number }>;
  /** Null: the default base model. Throws `model_not_found`. */
  resolve(caller: Caller, name: string | null): Promise<SampledModel>;
}

export interface ModelsDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly baseModels: BaseModels;
  readonly limits: Pick<AccountLimits, 'storing'>;
  readonly clock: Clock;
  readonly log: Log;
}

export function createModels({ storage, blobs, baseModels, limits, clock, log }: ModelsDeps): Models {
  const useCheckpoint = createUseCheckpoint(storage, clock);
  const get = (caller: Caller, id: string): Promise<Model> => getOwnModel(storage, caller, id);
  const findLabels = async ({ id }: Model): Promise<ModelLabels> =>
    (await storage.models.listLabels([id])).get(id) ?? NO_LABELS;

  async function create(
    caller: Caller,
    registration: Registration & { entity: string },
    id: string,
  ): Promise<Registered> {
    const base = baseModels.get(registration.baseModel);
    const { entity, project, name } = registration;
    const model: Model = {
      id,
      entity,
      project,
      name,
      baseModel: base.id,
      runId: null,
      createdAtMs: clock.now(),
    };
    const source = await forkSource(registration);
    const blobPrefix = stepZeroBlob(model.id, source ? 'fork' : 'fresh');
    await limits.storing(caller, async (bytes) => {
      const target = holdBlobs(blobs, bytes);
      await (source
        ? copyAdapter(target, source, blobPrefix)
        : putFreshAdapter(target, base, blobPrefix, registration.lora));
    });
    const stepZero: Checkpoint = {
      id: createId(),
      modelId: model.id,
      step: 0,
      metrics: source?.metrics ?? {},
      blobPrefix,
      fresh: source?.fresh ?? true,
      createdAtMs: model.createdAtMs,
    };
    const { outcome, model: stored } = await storage.models.create(model, stepZero, registration.savePolicy);
    if (outcome !== 'created') {
      await blobs.delete(blobPrefix);
      return existing(stored, registration);
    }
    log.info('model.registered', { modelId: model.id, entity, project, name, baseModel: base.id, fork: source?.id });
    return { model: stored, outcome };
  }

  async function forkSource({ entity, baseModel, fromCheckpoint }: Registration & { entity: string }) {
    if (typeof fromCheckpoint === 'object') return fromCheckpoint;
    const expected = { baseModel, param: 'from_checkpoint' };
    return (await getNamedCheckpoint(storage, entity, fromCheckpoint, expected)).checkpoint;
  }

  /** With its optimizer state, so that training continues as the source's would. */
  async function copyAdapter(target: HeldBlobs, source: Checkpoint, blobPrefix: string): Promise<void> {
    await useCheckpoint(source);
    await target.putDirectory(blobPrefix, await getCheckpointFiles(blobs, source));
  }

  async function putFreshAdapter(
    target: HeldBlobs,
    base: BaseModel,
    blobPrefix: string,
    lora: LoraConfig | undefined,
  ): Promise<void> {
    const directory = await mkdtemp(join(tmpdir(), 'whetstone-step-0-'));
    try {
      await base.writeFreshAdapter(directory, lora);
      await target.putDirectory(blobPrefix, directory);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  async function sampledCheckpoint({ model, checkpoint }: NamedCheckpoint): Promise<SampledModel> {
    await useCheckpoint(checkpoint);
    return {
      servedName: checkpointName(model, checkpoint.step),
      base: baseModels.get(model.baseModel),
      adapter: checkpoint.fresh ? null : { id: checkpoint.id, directory: await getCheckpointFiles(blobs, checkpoint) },
      modelId: model.id,
      step: checkpoint.step,
    };
  }

  return {
    async register(caller, registration, id) {
      const entity = registration.entity ?? caller.entity;
      if (entity !== caller.entity) {
        throw new AppError(
          'not_found',
          `This key does not belong to the entity \`${entity}\`. Omit entity to use \`${caller.entity}\`.`,
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
      return found.id === id ? { model: found, outcome: 'created' } : existing(found, registration);
    },

    get,

    async findLora({ id }) {
      const latest = await storage.checkpoints.findLatest(id);
      return latest && findCheckpointLora(blobs, latest);
    },

    findSavePolicy: ({ id }) => storage.models.findSavePolicy(id),

    async setSavePolicy(caller, id, policy) {
      const model = await get(caller, id);
      await storage.models.setSavePolicy(id, policy);
      log.info('model.save_policy', { modelId: id, policy });
      return model;
    },

    findLabels,

    async setLabels(caller, id, { archived, ...change }) {
      const before = await findLabels(await get(caller, id));
      const archivedAtMs = archived === false ? null : (before.archivedAtMs ?? clock.now());
      const written = { ...change, ...(archived === undefined ? {} : { archivedAtMs }) };
      await storage.models.setLabels(id, written);
      log.info('model.labels', { modelId: id, ...written });
      return { ...before, ...written };
    },

    listProjects: ({ entity }, page) => storage.models.listProjects(entity, page),

    list: (caller, filter, page, order) => storage.models.list({ ...filter, entity: caller.entity }, page, order),

    async delete(caller, id) {
      const model = await get(caller, id);
      const deleted = await storage.models.delete(id);
      if (!deleted) return { modelId: id, deletedCheckpoints: 0 }; // another request deleted it first
      // Rows first: a crash leaves unreachable bytes, never a row without its blob.
      const engine = baseModels.find(model.baseModel)?.inference;
      for (const checkpoint of deleted.checkpoints) {
        await engine?.unloadAdapter(checkpoint.id);
        await blobs.delete(checkpoint.blobPrefix);
      }
      for (const blob of deleted.bodyBlobs) {
        await blobs.delete(blob);
        await blobs.delete(jobRecordBlob(jobOfBlob(blob)));
      }
      await blobs.delete(modelLogBlobs(id));
      await blobs.delete(modelEvaluationBlobs(id));
      await blobs.delete(tinkerBlobs(id));
      log.info('model.deleted', { modelId: id, checkpoints: deleted.checkpoints.length });
      return { modelId: id, deletedCheckpoints: deleted.checkpoints.length };
    },

    async resolve(caller, name) {
      const base = name === null ? baseModels.default : (baseModels.find(name) ?? baseModels.find(withSlashes(name)));
      if (base) return { servedName: base.id, base, adapter: null, modelId: null, step: null };
      const find = (text: string) => findNamedCheckpoint(storage, caller.entity, text);
      const named = (await find(name!)) ?? (await find(`${ADAPTERS_PROJECT}/${name}`));
      if (named) return sampledCheckpoint(named);
      const missing = await explainMissing(storage, caller.entity, name!);
      throw missing === null
        ? noModel(name!, baseModels)
        : new AppError('model_not_found', missing, { param: 'model' });
    },
  };
}

/** Base models have no steps: a name such as `whetstone/starter:step3` gets its own message, and so does a path of Tinker's. */
function noModel(name: string, baseModels: BaseModels): AppError {
  if (name.startsWith('tinker://'))
    return new AppError(
      'model_not_found',
      `\`${name.slice(0, 150)}\` is a path for Tinker's clients. Here the same weights are a step of a model \`tinker/SESSION-NUMBER\`: GET /v1/models lists yours.`,
      { param: 'model' },
    );
  const [, stem = ''] = /^(.+?)(?::latest|@latest|(?::step|:v|@)\d+)$/.exec(name) ?? [];
  const base = baseModels.find(stem) ?? baseModels.find(withSlashes(stem));
  const why = base
    ? `\`${base.id}\` is a base model, which has no steps. Send \`${base.id}\`, or a step of a trained model.`
    : `The model \`${name}\` does not exist. GET /v1/models lists the available ones.`;
  return new AppError('model_not_found', why, { param: 'model' });
}

function existing(model: Model, { baseModel, returnExisting }: Registration): Registered {
  const name = `${model.entity}/${model.project}/${model.name}`;
  if (model.baseModel !== baseModel) {
    throw new AppError(
      'model_conflict',
      `${name} exists with base model \`${model.baseModel}\`, not \`${baseModel}\`. Choose another name.`,
      { param: 'base_model' },
    );
  }
  if (returnExisting) return { model, outcome: 'exists' };
  throw new AppError('model_conflict', `${name} already exists. Send return_existing: true to get it.`, {
    param: 'name',
  });
}
