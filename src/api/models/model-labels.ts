// What people write on a model (tags, a note, whether it is archived), and the projects that the models belong to. Wire ↔ domain. The
// rest of a model is model.ts.
import { z } from 'zod';
import { hasUnseenCharacters, UNSEEN_PROBLEM } from '#base/unseen-characters';
import type { ModelLabels, ModelProject } from '#domain/model-labels';
import { boolean, integer, list } from '#validation/lax';
import { parse } from '#validation/parse';
import { unknownFields, warned, warnings } from '#validation/unknown-fields';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { envelope, pageFields, toEnvelope, toPage } from '../http/listing.ts';

const TAGS_MAX = 32;
const TAG_LENGTH_MAX = 64;
/** A page of text; longer texts are artifacts. */
const NOTE_LENGTH_MAX = 4_000;

const refusing = (test: (text: string) => boolean, problem: string) => (text: string, ctx: z.core.$RefinementCtx) => {
  if (!test(text)) return;
  const msg = `Value error, ${problem}.`;
  const complaint = { type: 'value_error', msg, ctx: { error: {} } };
  ctx.addIssue({ code: 'custom', message: msg, params: { complaint } });
};

const tag = z
  .string()
  .min(1)
  .max(TAG_LENGTH_MAX)
  .superRefine(refusing((text) => /["\\,\s]/.test(text), 'a tag has no spaces, commas, quotes or backslashes'))
  .superRefine(refusing(hasUnseenCharacters, UNSEEN_PROBLEM));

const note = z
  .string()
  .max(NOTE_LENGTH_MAX)
  .superRefine(refusing((text) => hasUnseenCharacters(text.replace(/[\t\n\r]/g, '')), UNSEEN_PROBLEM));

const changeLabels = z
  .looseObject({
    tags: list(tag, TAGS_MAX).optional().describe('All tags of the model, each once.'),
    note: note.nullish().describe('A note for people. Null or empty: none.'),
    archived: boolean()
      .optional()
      .describe('Whether lists leave the model out. An archived model still answers and can be trained, by its name.'),
  })
  .meta({ title: 'ModelLabelsRequest', description: 'Fields that are left out stay as they are.' });

const readLabels = (raw: unknown) => {
  const read = parse(changeLabels, raw, 'body');
  return {
    change: {
      ...(read.tags === undefined ? {} : { tags: [...new Set(read.tags)] }),
      ...(read.note === undefined ? {} : { note: read.note || null }),
      ...(read.archived === undefined ? {} : { archived: read.archived }),
    },
    warnings: unknownFields(changeLabels, read),
  };
};

export const labelFields = {
  tags: z.array(z.string()),
  note: z.string().nullable().describe('A note for people; null: none.'),
  archived_at: z.iso.datetime().nullable().describe('Null: lists show the model.'),
};

export const toLabelFields = ({ tags, note: text, archivedAtMs }: ModelLabels) => ({
  tags: [...tags],
  note: text,
  archived_at: archivedAtMs === null ? null : new Date(archivedAtMs).toISOString(),
});

const labelsResponse = z
  .object({ object: z.literal('model_labels'), model_id: z.guid(), ...labelFields, warnings })
  .meta({ title: 'ModelLabels' });

/** Of a list of models. */
export const labelQuery = {
  tag: z.string().optional().describe('Only models with this tag.'),
  archived: z
    .enum(['exclude', 'include', 'only'])
    .optional()
    .describe('Whether archived models are listed. Default: exclude, or include if `name` is given.'),
};

interface LabelFilter {
  readonly tag?: string;
  readonly archived?: 'exclude' | 'only';
}

interface LabelQuery {
  readonly tag?: string | undefined;
  readonly archived?: 'exclude' | 'include' | 'only' | undefined;
  readonly name?: string | undefined;
}

/** Whoever names a model gets it, archived or not. */
export function toLabelFilter({ tag: asked, archived, name }: LabelQuery): LabelFilter {
  const which = archived ?? (name ? 'include' : 'exclude');
  return { ...(asked ? { tag: asked } : {}), ...(which === 'include' ? {} : { archived: which }) };
}

const projectResponse = z
  .object({
    id: z.string().describe('The name of the project.'),
    object: z.literal('model_project'),
    model_count: z.int().describe('Models that are not archived.'),
    archived_count: z.int().describe('Models that are archived.'),
    active_at: z.iso.datetime().describe('The latest activity of one of its models.'),
  })
  .meta({ title: 'ModelProject' });

const toProjectResponse = ({ project, modelCount, archivedCount, activeAtMs }: ModelProject) => ({
  id: project,
  object: 'model_project' as const,
  model_count: modelCount,
  archived_count: archivedCount,
  active_at: new Date(activeAtMs).toISOString(),
});

const projectsQuery = z.looseObject({
  limit: integer({ ge: 1, le: 100 }).default(100),
  after: pageFields.after.describe('Name of the last project of the previous page.'),
});

export function modelLabelRoutes({ models }: Pick<ApiServices, 'models'>): Endpoint[] {
  return [
    endpoint({
      method: 'PUT',
      path: '/v1/preview/models/{model_id}/labels',
      tag: 'Models',
      summary: 'Change the tags and the note of a model, archive it, or bring it back. What is left out stays as it is',
      access: 'train',
      errors: [404],
      body: { schema: changeLabels, read: readLabels },
      answer: labelsResponse,
      async handle({ caller, params, body }) {
        const labels = await models.setLabels(caller, params.model_id!, body.change);
        return {
          object: 'model_labels',
          model_id: params.model_id!,
          ...toLabelFields(labels),
          ...warned(body.warnings),
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/preview/model-projects',
      tag: 'Models',
      summary: 'List the projects of your models by name, with the number of models in each',
      access: 'read',
      query: projectsQuery,
      answer: envelope(projectResponse),
      handle: async ({ caller, query }) =>
        toEnvelope(await models.listProjects(caller, toPage(query)), toProjectResponse),
    }),
  ];
}
