// Logged trajectories of a model, read back by the owner. Logging them is in checkpoints.ts.
import { Readable } from 'node:stream';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { groupPath, groupResponse, toGroupResponse, toTrajectoryResponse, trajectoryResponse } from './job-input.ts';
import { envelope, pageQuery, toEnvelope, toPage } from '../http/listing.ts';
import { logQuery, logResponse, toLogResponse } from './trajectory-log.ts';
import { linesOf, linesQuery, TRAJECTORY_LINES } from './trajectory-lines.ts';
import { parse } from '#validation/parse';

const LOGS = '/v1/preview/models/{model_id}/logs';

export function trajectoryLogRoutes({
  loggedTrajectories: logged,
}: Pick<ApiServices, 'loggedTrajectories'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: LOGS,
      tag: 'Checkpoints',
      summary: 'List the trajectory logs of a model, oldest first. Can be filtered by split and step',
      access: 'read',
      errors: [404],
      query: logQuery,
      answer: envelope(logResponse),
      async handle({ caller, params, query }) {
        const { split, step } = query;
        const filter = { ...(split === undefined ? {} : { split }), ...(step === undefined ? {} : { step }) };
        return toEnvelope(await logged.list(caller, params.model_id!, filter, toPage(query)), toLogResponse);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${LOGS}/{log_id}/groups`,
      tag: 'Checkpoints',
      summary: 'List the groups of a log, in order. A page may have fewer than `limit` items if they are large',
      access: 'read',
      errors: [404],
      query: pageQuery,
      answer: envelope(groupResponse),
      async handle({ caller, params, query }) {
        const page = await logged.listGroups(caller, params.model_id!, params.log_id!, toPage(query));
        return toEnvelope(page, toGroupResponse);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${LOGS}/{log_id}/groups/{group}/trajectories`,
      tag: 'Checkpoints',
      summary:
        'List the complete trajectories of a logged group. A page may have fewer than `limit` items if they are large',
      access: 'read',
      errors: [404],
      query: pageQuery,
      answer: envelope(trajectoryResponse),
      async handle({ caller, params, query }) {
        const { group } = parse(groupPath, params, 'path');
        const page = toPage(query);
        const listing = await logged.listTrajectories(caller, params.model_id!, params.log_id!, group, page);
        return toEnvelope(listing, toTrajectoryResponse);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${LOGS}/{log_id}/trajectories`,
      tag: 'Checkpoints',
      summary: 'Export the trajectories of a log, one per line. Can be filtered by a text that they contain',
      access: 'read',
      errors: [404],
      query: linesQuery,
      answer: [TRAJECTORY_LINES],
      async handle({ caller, params, query: { view, search = null }, reply }) {
        const lines = await linesOf(view, {
          trajectories: () => logged.streamTrajectories(caller, params.model_id!, params.log_id!, search),
          summaries: () => logged.streamSummaries(caller, params.model_id!, params.log_id!, search),
        });
        return reply.type(TRAJECTORY_LINES).send(Readable.from(lines));
      },
    }),
  ];
}
