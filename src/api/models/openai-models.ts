// GET /v1/models in OpenAI's format: everything that chat requests accept as `model`. A model whose base this server does not host is
// neither listed nor read, because no request can use it.
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import { checkpointName, modelName, parseModelName, withSlashes } from '#domain/model-name';
import type { BaseModel } from '#services/models/base-models';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { openAIModel, openAIModelList } from './model.ts';

const LISTED_MODELS_MAX = 1_000; // OpenAI's list has no pages; older models and steps can still be used by name
const LISTED_STEPS_MAX = 100; // per model, newest first

type Services = Pick<ApiServices, 'models' | 'baseModels' | 'checkpoints'>;

export function openAIModelRoutes({ models, baseModels, checkpoints }: Services): Endpoint[] {
  async function ofModel(caller: Caller, model: Model) {
    const base = baseModels.find(model.baseModel);
    if (base === null) return [];
    const { rows } = await checkpoints.list(caller, model.id, { after: null, limit: LISTED_STEPS_MAX }, 'desc');
    const latest = describeModel(model, base);
    const steps = rows.map(({ step, createdAtMs }) => ({
      ...latest,
      id: checkpointName(model, step),
      created: seconds(createdAtMs),
      parent: latest.id,
    }));
    return [latest, ...steps];
  }

  return [
    endpoint({
      method: 'GET',
      path: '/v1/models',
      tag: 'Models',
      summary: 'List the models that chat requests can use',
      access: 'any key',
      role: 'every',
      answer: openAIModelList,
      async handle({ caller }) {
        const { rows } = await models.list(caller, {}, { after: null, limit: LISTED_MODELS_MAX });
        const trained = await Promise.all(rows.map((model) => ofModel(caller, model)));
        return { object: 'list', data: [...baseModels.list().map(describeBase), ...trained.flat()] };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/models/{model*}',
      tag: 'Models',
      summary: 'Read a model that chat requests can use',
      access: 'any key',
      role: 'every',
      errors: [404],
      answer: openAIModel,
      async handle({ caller, params }) {
        const name = params.model!;
        const base = baseModels.find(name) ?? baseModels.find(withSlashes(name));
        if (base) return describeBase(base);
        const parsed = parseModelName(name);
        const { servedName } = await models.resolve(caller, name); // throws if the model is not the caller's
        const filter = parsed && { project: parsed.project, name: parsed.name };
        const model = filter && (await models.list(caller, filter, { after: null, limit: 1 })).rows[0];
        if (!model) throw new AppError('model_not_found', `The model \`${name}\` does not exist.`, { param: 'model' });
        return {
          ...describeModel(model, baseModels.get(model.baseModel)),
          id: parsed.step === null ? modelName(model) : servedName,
        };
      },
    }),
  ];
}

const describeBase = (base: BaseModel) => ({
  id: base.id,
  object: 'model' as const,
  created: seconds(base.createdAtMs),
  owned_by: 'whetstone',
  root: base.id,
  parent: null as string | null,
  max_model_len: contextLength(base),
});

const describeModel = (model: Model, base: BaseModel) => ({
  id: modelName(model),
  object: 'model' as const,
  created: seconds(model.createdAtMs),
  owned_by: model.entity,
  root: model.baseModel,
  parent: model.baseModel as string | null,
  max_model_len: contextLength(base),
});

/** A prompt may be shorter than the model allows if the engine has less memory. */
const contextLength = ({ text, inference }: BaseModel): number => Math.min(text.contextLength, inference.contextLength);

const seconds = (ms: number): number => Math.floor(ms / 1000);
