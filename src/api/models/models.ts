// Users' models: register, list, read, delete; and the base models that they can start from.
import { z } from 'zod';
import type { LoraConfig } from '#domain/lora-config';
import type { Model } from '#domain/model';
import type { CheckpointLora } from '#services/models/checkpoint-lora';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { envelope, pageFields, toEnvelope, toPage } from '../http/listing.ts';
import {
  changedModel,
  changeModel,
  createdModel,
  createModel,
  deletedModel,
  modelResponse,
  oneModelResponse,
  readChangeModel,
  readCreateModel,
  toModelResponse,
  toOneModelResponse,
} from './model.ts';
import { labelQuery, toLabelFilter } from './model-labels.ts';
import { warned } from '#validation/unknown-fields';

const listQuery = z.looseObject({
  ...pageFields,
  entity: z.string().optional(),
  project: z.string().optional(),
  name: z.string().optional(),
  base_model: z.string().optional(),
  ...labelQuery,
});

const NO_SECOND_FORK = 'from_checkpoint was not used: the model existed already, and its step 0 was not changed.';

const NO_SECOND_POLICY =
  'save_policy was not used: the model existed already. PUT /v1/preview/models/{model_id}/save-policy changes it.';

const IS_ARCHIVED =
  'The model is archived: lists leave it out. PUT /v1/preview/models/{model_id}/labels brings it back with {"archived": false}.';

/** Scripts register their model at every start, so only differences from the existing model are reported. The seed is not stored. */
function otherLora(asked: LoraConfig, has: CheckpointLora | null): string[] {
  if (!has) return [];
  const { r, lora_alpha: alpha, use_rslora: rankStabilized, target_modules: targets } = has;
  const { targets: askedTargets = targets } = asked;
  const isSame =
    asked.rank === r &&
    asked.alpha === alpha &&
    asked.rankStabilized === rankStabilized &&
    askedTargets.every((name) => targets.includes(name)) &&
    targets.every((name) => askedTargets.includes(name));
  if (isSame) return [];
  const shown = `r ${r}, lora_alpha ${alpha}, use_rslora ${rankStabilized}, target_modules ${targets.join(', ')}`;
  return [`lora was not used: the model existed already, with ${shown}.`];
}

export function modelRoutes({
  models,
  baseModels,
  onlineTrainings,
}: Pick<ApiServices, 'models' | 'baseModels' | 'onlineTrainings'>): Endpoint[] {
  const aboutModel = async (model: Model) => ({
    lora: await models.findLora(model),
    policy: await models.findSavePolicy(model),
    labels: await models.findLabels(model),
    trainedOnline: await onlineTrainings.has(model),
  });
  return [
    endpoint({
      method: 'POST',
      path: '/v1/preview/models',
      tag: 'Models',
      summary: 'Register a model to train. It can be used immediately: step 0 answers like its base model',
      access: 'train',
      errors: [404, 409],
      creates: true,
      body: { schema: createModel, read: readCreateModel },
      answer: createdModel,
      async handle({ caller, body: { registration, warnings }, newId }) {
        const { model, outcome } = await models.register(caller, registration, newId);
        const exists = outcome === 'exists';
        const ignored = [
          ...(exists && registration.fromCheckpoint !== null ? [NO_SECOND_FORK] : []),
          ...(exists && registration.savePolicy ? [NO_SECOND_POLICY] : []),
          ...(exists && (await models.findLabels(model)).archivedAtMs !== null ? [IS_ARCHIVED] : []),
          ...(exists && registration.lora ? otherLora(registration.lora, await models.findLora(model)) : []),
        ];
        return { ...toModelResponse(model), ...warned([...warnings, ...ignored]) };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/preview/models',
      tag: 'Models',
      summary: 'List your models, oldest first',
      access: 'read',
      query: listQuery,
      answer: envelope(modelResponse),
      async handle({ caller, query }) {
        const { entity, project, name, base_model: baseModel } = query;
        if (entity !== undefined && entity !== caller.entity)
          return toEnvelope({ rows: [], hasMore: false }, toModelResponse);
        const filter = {
          ...(project === undefined ? {} : { project }),
          ...(name === undefined ? {} : { name }),
          ...(baseModel === undefined ? {} : { baseModel }),
          ...toLabelFilter(query),
        };
        return toEnvelope(await models.list(caller, filter, toPage(query)), toModelResponse);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/preview/models/{model_id}',
      tag: 'Models',
      summary: 'Read a model',
      access: 'read',
      errors: [404],
      answer: oneModelResponse,
      async handle({ caller, params }) {
        const model = await models.get(caller, params.model_id!);
        return toOneModelResponse(model, await aboutModel(model));
      },
    }),
    endpoint({
      method: 'PUT',
      path: '/v1/preview/models/{model_id}/save-policy',
      tag: 'Models',
      summary: 'Change which checkpoints of a model are kept. Takes effect when the next checkpoint is created',
      access: 'train',
      errors: [404],
      body: { schema: changeModel, read: readChangeModel },
      answer: changedModel,
      async handle({ caller, params, body: { savePolicy, warnings } }) {
        const model = await models.setSavePolicy(caller, params.model_id!, savePolicy);
        return { ...toOneModelResponse(model, await aboutModel(model)), ...warned(warnings) };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/v1/preview/models/{model_id}',
      tag: 'Models',
      summary: 'Delete a model, its checkpoints and its jobs',
      access: 'train',
      errors: [404],
      answer: deletedModel,
      async handle({ caller, params }) {
        const { modelId, deletedCheckpoints } = await models.delete(caller, params.model_id!);
        return { model_id: modelId, deleted_checkpoints: deletedCheckpoints, deleted_run: false };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/preview/base-models',
      tag: 'Models',
      summary: 'List the ids of the base models that this server hosts',
      access: 'public',
      answer: z.array(z.string()),
      handle: async () => baseModels.list().map(({ id }) => id),
    }),
  ];
}
