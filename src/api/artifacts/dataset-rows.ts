// Training data as a job would train on it, row by row. Storing it is in artifacts.ts.
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { rowResponse, rowsQuery, toRowResponse, toRowsOf } from './dataset-row.ts';
import { envelope, toEnvelope, toPage } from '../http/listing.ts';
import { namedArtifact } from './named-artifact.ts';

export function datasetRowRoutes({ datasetRows }: Pick<ApiServices, 'datasetRows'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/preview/artifacts/{entity}/{project}/{artifact}/rows',
      tag: 'Artifacts',
      summary:
        'List rows of training data with the tokens that a job would train on. Rows are conversations or preference pairs. A page may have fewer than `limit` items if they are large',
      access: 'read',
      errors: [400, 404],
      query: rowsQuery,
      answer: envelope(rowResponse),
      async handle({ caller, params, query }) {
        const listing = await datasetRows.list(caller, namedArtifact(caller, params), toRowsOf(query), toPage(query));
        return toEnvelope(listing, toRowResponse);
      },
    }),
  ];
}
