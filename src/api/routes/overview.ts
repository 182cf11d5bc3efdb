// What a person looks at first, in two answers: the state of things, and models in short.
import { z } from 'zod';
import type { ApiServices } from '../api-services.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { envelope, pageFields, toEnvelope, toPage } from '../schema/listing.ts';
import {
  modelSummaryResponse,
  overviewResponse,
  toModelSummaryResponse,
  toOverviewResponse,
} from '../schema/overview.ts';

const listQuery = z.looseObject({
  ...pageFields,
  project: z.string().optional(),
  name: z.string().optional().meta({ description: 'The whole name.' }),
  search: z.string().optional().meta({ description: 'Stands somewhere in `project/name`; A to Z in either case.' }),
});

export function overviewRoutes(
  { overviews, baseModels }: Pick<ApiServices, 'overviews' | 'baseModels'>,
  version: string,
): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/overview',
      tag: 'Server',
      summary: 'What is running, what waits, what came last, and what was used today',
      access: 'read',
      answer: overviewResponse,
      async handle({ caller }) {
        const key = { entity: caller.entity, scopes: [...caller.scopes] };
        const base_models = baseModels.list().map(({ id }) => id);
        return toOverviewResponse(await overviews.read(caller), { version, key, base_models });
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/preview/model-summaries',
      tag: 'Models',
      summary:
        'List your models in short, latest activity first (made, job submitted or ended): last job, last step, rewards of the last steps',
      access: 'read',
      query: listQuery,
      answer: envelope(modelSummaryResponse),
      async handle({ caller, query }) {
        const { project, name, search } = query;
        const filter = { ...(project ? { project } : {}), ...(name ? { name } : {}), ...(search ? { search } : {}) };
        return toEnvelope(await overviews.listModels(caller, filter, toPage(query)), toModelSummaryResponse);
      },
    }),
  ];
}
