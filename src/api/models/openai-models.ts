// GET /v1/models in OpenAI's format: everything that chat requests accept as `model`. A model whose base this server does not host is
// neither listed nor read, because no request can use it.
import { z } from 'zod';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import { checkpointName, modelName, parseModelName, withSlashes } from '#domain/model-name';
import { unknownCursor } from '#domain/page';
import type { BaseModel } from '#services/models/base-models';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { integer } from '#validation/lax';
import { toEnvelope } from '../http/listing.ts';
import { labelQuery, toLabelFilter } from './model-labels.ts';
import { openAIModel, openAIModelList } from './model.ts';

/** A line takes about 200 bytes. */
const LINES_MAX = 10_000;

const listQuery = z.looseObject({
  steps_of: z.string().optional().meta({
    description:
      'List the steps of this model instead, newest first. Each can be called by its name, as `entity/project/name:step3`.',
  }),
  after: z.string().optional().meta({
    description:
      'The `id` of the last line of the previous answer; the list goes on with the model, or the step, after it.',
  }),
  limit: integer({ ge: 1, le: LINES_MAX })
    .default(LINES_MAX)
    .meta({ description: 'Maximum number of models or steps. `has_more` says whether others follow.' }),
  ...labelQuery,
});

type Services = Pick<ApiServices, 'models' | 'baseModels' | 'checkpoints'>;

export function openAIModelRoutes({ models, baseModels, checkpoints }: Services): Endpoint[] {
  async function find(caller: Caller, name: string): Promise<Model | null> {
    const parsed = parseModelName(name);
    if (!parsed || (parsed.entity !== null && parsed.entity !== caller.entity)) return null;
    const filter = { project: parsed.project, name: parsed.name };
    return (await models.list(caller, filter, { after: null, limit: 1 })).rows[0] ?? null;
  }

  async function listModels(caller: Caller, { after, limit, ...labels }: z.output<typeof listQuery>) {
    const last = after === undefined || baseModels.find(after) ? null : await find(caller, after);
    if (after !== undefined && !last && !baseModels.find(after)) throw unknownCursor(after);
    const hosted = baseModels.list();
    const filter = { ...toLabelFilter(labels), baseModels: hosted.map(({ id }) => id) };
    const { rows, hasMore } = await models.list(caller, filter, { after: last?.id ?? null, limit });
    const trained = rows.map((model) => describeModel(model, baseModels.get(model.baseModel)));
    const bases = after === undefined ? hosted.map(describeBase) : [];
    return toEnvelope({ rows: [...bases, ...trained], hasMore }, (line) => line);
  }

  async function listSteps(caller: Caller, name: string, { after, limit }: z.output<typeof listQuery>) {
    const model = await find(caller, name);
    const base = model && baseModels.find(model.baseModel);
    if (!model || !base) throw noModel(name, 'steps_of');
    const step = after === undefined ? null : (parseModelName(after)?.step ?? null);
    const last = step === null ? null : await checkpoints.find(caller, model.id, step);
    if (after !== undefined && last === null) throw unknownCursor(after);
    const { rows, hasMore } = await checkpoints.list(caller, model.id, { after: last?.id ?? null, limit }, 'desc');
    const latest = describeModel(model, base);
    return toEnvelope({ rows, hasMore }, ({ step: of, createdAtMs }) => ({
      ...latest,
      id: checkpointName(model, of),
      created: seconds(createdAtMs),
      parent: latest.id,
    }));
  }

  return [
    endpoint({
      method: 'GET',
      path: '/v1/models',
      tag: 'Models',
      summary: 'List the models that chat requests can use, one line each, oldest first; or the steps of one',
      access: 'any key',
      role: 'every',
      errors: [400, 404],
      query: listQuery,
      answer: openAIModelList,
      handle: ({ caller, query }) =>
        query.steps_of === undefined ? listModels(caller, query) : listSteps(caller, query.steps_of, query),
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
        const model = await find(caller, name);
        if (!model || !parsed) throw noModel(name, 'model');
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

const noModel = (name: string, param: string): AppError =>
  new AppError('model_not_found', `The model \`${name}\` does not exist.`, { param });

/** A prompt may be shorter than the model allows if the engine has less memory. */
const contextLength = ({ text, inference }: BaseModel): number => Math.min(text.contextLength, inference.contextLength);

const seconds = (ms: number): number => Math.floor(ms / 1000);
