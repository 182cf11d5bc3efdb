// Two summaries for the dashboard's start page: the current state, and the models.
import { z } from 'zod';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { envelope, pageFields, toEnvelope, toPage } from '../http/listing.ts';
import { labelQuery, toLabelFilter } from '../models/model-labels.ts';
import {
  modelSummaryResponse,
  overviewResponse,
  toModelSummaryResponse,
  toOverviewResponse,
} from './overview-schema.ts';

const listQuery = z.looseObject({
  ...pageFields,
  project: z.string().optional(),
  name: z.string().optional().describe('The full name.'),
  search: z.string().optional().describe('Text that `project/name` contains. The letters A to Z match in either case.'),
  ...labelQuery,
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
      summary: 'Read an overview: running, queued and recent jobs, and today’s usage',
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
        'List summaries of your models, most recent activity first. Activity is the creation of the model, or the submission or end of a job. A summary has the last job, the last step, and the rewards of the last steps',
      access: 'read',
      query: listQuery,
      answer: envelope(modelSummaryResponse),
      async handle({ caller, query }) {
        const { project, name, search } = query;
        const filter = {
          ...(project ? { project } : {}),
          ...(name ? { name } : {}),
          ...(search ? { search } : {}),
          ...toLabelFilter(query),
        };
        return toEnvelope(await overviews.listModels(caller, filter, toPage(query)), toModelSummaryResponse);
      },
    }),
  ];
}
