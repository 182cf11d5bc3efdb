// GET /v1/models in OpenAI's format and, with fields that do not collide, in Anthropic's: everything that chat requests accept as
// `model`. A model whose base this server does not host is neither listed nor read, because no request can use it.
import { z } from 'zod';
import type { Caller } from '#domain/caller';
import type { Checkpoint } from '#domain/checkpoint';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import { checkpointName, modelName, parseModelName, withSlashes } from '#domain/model-name';
import { unknownCursor, type Listing } from '#domain/page';
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
  steps_of: z
    .string()
    .optional()
    .describe(
      'List the steps of this model instead, newest first. Each can be called by its name, as `entity/project/name:step3`.',
    ),
  after: z
    .string()
    .optional()
    .describe(
      'The `id` of the last line of the previous answer; the list goes on with the model, or the step, after it.',
    ),
  after_id: z.string().optional().describe('The same as `after`, as Anthropic’s clients name it.'),
  before_id: z
    .string()
    .optional()
    .describe(
      'The `id` of the first line of the page after this one. `has_more` then speaks of lines before this page.',
    ),
  'lifecycle[]': z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe('Of Anthropic’s API: every model here is `active`, so a list without it has none.'),
  limit: integer({ ge: 1, le: LINES_MAX })
    .default(LINES_MAX)
    .describe('Maximum number of models or steps. `has_more` says whether others follow.'),
  ...labelQuery,
});

type Asked = z.output<typeof listQuery>;
type Line = ReturnType<typeof describeModel>;

const NOTHING = { rows: [], hasMore: false };

/** A page lies after a line, or, in Anthropic's form, before one. */
function placeIn({ after, after_id: afterId, before_id: before }: Asked) {
  if (before === undefined)
    return { cursor: after ?? afterId ?? null, field: after === undefined ? 'after_id' : 'after', isBackward: false };
  if (after === undefined && afterId === undefined) return { cursor: before, field: 'before_id', isBackward: true };
  throw new AppError('invalid_request', 'A page is after a model or before one: send after_id or before_id.', {
    param: 'before_id',
  });
}

/** Pages that were read backwards have the order of the list too. */
const inOrder = ({ rows, hasMore }: Listing<Line>, isBackward: boolean): Listing<Line> => ({
  rows: isBackward ? rows.toReversed() : rows,
  hasMore,
});

type Services = Pick<ApiServices, 'models' | 'baseModels' | 'checkpoints'>;

export function openAIModelRoutes({ models, baseModels, checkpoints }: Services): Endpoint[] {
  async function find(caller: Caller, name: string): Promise<Model | null> {
    const parsed = parseModelName(name);
    if (!parsed || (parsed.entity !== null && parsed.entity !== caller.entity)) return null;
    const filter = { project: parsed.project, name: parsed.name };
    return (await models.list(caller, filter, { after: null, limit: 1 })).rows[0] ?? null;
  }

  /** The base models, then the caller's own. Only the caller's own have labels. */
  async function listModels(caller: Caller, query: Asked): Promise<Listing<Line>> {
    const { cursor, field, isBackward } = placeIn(query);
    if (query['lifecycle[]'] !== undefined && !query['lifecycle[]'].includes('active')) return NOTHING;
    const hosted = baseModels.list();
    const listed = query.tag || query.archived === 'only' ? [] : hosted;
    const bases = isBackward ? listed.toReversed() : listed;
    const at = bases.findIndex(({ id }) => id === cursor);
    const last = cursor === null || at >= 0 ? null : await find(caller, cursor);
    if (cursor !== null && at < 0 && !last) throw unknownCursor(cursor, field);

    const filter = { ...toLabelFilter(query), baseModels: hosted.map(({ id }) => id) };
    const page = { after: last?.id ?? null, limit: query.limit };
    const read = () => models.list(caller, filter, page, isBackward ? 'desc' : 'asc');
    const { rows, hasMore } = isBackward && !last ? NOTHING : await read();
    const trained = rows.map((model) => describeModel(model, baseModels.get(model.baseModel)));
    const untrained = last && !isBackward ? [] : bases.slice(at + 1).map(describeBase);
    const lines = isBackward ? [...trained, ...untrained] : [...untrained, ...trained];
    return inOrder({ rows: lines.slice(0, query.limit), hasMore: hasMore || lines.length > query.limit }, isBackward);
  }

  async function listSteps(caller: Caller, name: string, query: Asked): Promise<Listing<Line>> {
    const { cursor, field, isBackward } = placeIn(query);
    const model = await find(caller, name);
    const base = model && baseModels.find(model.baseModel);
    if (!model || !base) throw noModel(name, 'steps_of');
    const step = cursor === null ? null : (parseModelName(cursor)?.step ?? null);
    const last = step === null ? null : await checkpoints.find(caller, model.id, step);
    if (cursor !== null && last === null) throw unknownCursor(cursor, field);
    const page = { after: last?.id ?? null, limit: query.limit };
    const { rows, hasMore } = await checkpoints.list(caller, model.id, page, isBackward ? 'asc' : 'desc');
    const latest = describeModel(model, base);
    const describe = ({ step: of, createdAtMs }: Checkpoint) => ({
      ...latest,
      ...named(checkpointName(model, of), createdAtMs),
      parent: latest.id,
    });
    return inOrder({ rows: rows.map(describe), hasMore }, isBackward);
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
      isAnthropicToo: true,
      query: listQuery,
      answer: openAIModelList,
      async handle({ caller, query }) {
        const { steps_of: of } = query;
        const listing = await (of === undefined ? listModels(caller, query) : listSteps(caller, of, query));
        return toEnvelope(listing, (line) => line);
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
      isAnthropicToo: true,
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
          ...(parsed.step === null ? {} : { id: servedName, display_name: servedName }),
        };
      },
    }),
  ];
}

const describeBase = (base: BaseModel) => ({
  ...named(base.id, base.createdAtMs),
  ...ofBase(base),
  owned_by: 'whetstone',
  parent: null as string | null,
});

const describeModel = (model: Model, base: BaseModel) => ({
  ...named(modelName(model), model.createdAtMs),
  ...ofBase(base),
  owned_by: model.entity,
  parent: model.baseModel as string | null,
});

/** `type` and what has dates as text are of Anthropic's form. */
const named = (id: string, createdAtMs: number) => ({
  id,
  object: 'model' as const,
  created: Math.floor(createdAtMs / 1000),
  type: 'model' as const,
  display_name: id,
  created_at: new Date(createdAtMs).toISOString(),
  lifecycle: 'active' as const,
});

/** A prompt may be shorter than the model allows if the engine has less memory. */
function ofBase({ id, text, inference }: BaseModel) {
  const contextLength = Math.min(text.contextLength, inference.contextLength);
  return {
    root: id,
    max_model_len: contextLength,
    max_input_tokens: contextLength,
    max_tokens: contextLength,
    allowed_fallback_models: [], // `fallbacks` is refused
  };
}

const noModel = (name: string, param: string): AppError =>
  new AppError('model_not_found', `The model \`${name}\` does not exist.`, { param });
