// What was submitted to a training job, and its settings, read back by the owner.
import { Readable } from 'node:stream';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import {
  configResponse,
  groupPath,
  jobGroupResponse,
  toConfigResponse,
  toJobGroupResponse,
  toTrajectoryResponse,
  trajectoryResponse,
} from './job-input.ts';
import { envelope, pageQuery, toEnvelope, toPage } from '../http/listing.ts';
import { tokensResponse, toTokensResponse } from './trained-tokens.ts';
import { linesOf, linesQuery, TRAJECTORY_LINES } from './trajectory-lines.ts';
import { parse } from '#validation/parse';

const JOB = '/v1/preview/training-jobs/{training_job_id}';

export function jobInputRoutes({ jobInputs }: Pick<ApiServices, 'jobInputs'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: `${JOB}/config`,
      tag: 'Training jobs',
      summary: 'Read the settings of a training job, and where its data is',
      access: 'read',
      errors: [404],
      answer: configResponse,
      handle: async ({ caller, params }) => toConfigResponse(await jobInputs.config(caller, params.training_job_id!)),
    }),
    endpoint({
      method: 'GET',
      path: `${JOB}/groups`,
      tag: 'Training jobs',
      summary:
        'List the groups submitted to an RL job, in order. A page may have fewer than `limit` items if they are large',
      access: 'read',
      errors: [404],
      query: pageQuery,
      answer: envelope(jobGroupResponse),
      handle: async ({ caller, params, query }) =>
        toEnvelope(await jobInputs.listGroups(caller, params.training_job_id!, toPage(query)), toJobGroupResponse),
    }),
    endpoint({
      method: 'GET',
      path: `${JOB}/groups/{group}`,
      tag: 'Training jobs',
      summary: 'Read a group of an RL job',
      access: 'read',
      errors: [404, 422],
      answer: jobGroupResponse,
      async handle({ caller, params }) {
        const { group } = parse(groupPath, params, 'path');
        return toJobGroupResponse(await jobInputs.getGroup(caller, params.training_job_id!, group));
      },
    }),
    endpoint({
      method: 'GET',
      path: `${JOB}/groups/{group}/trajectories`,
      tag: 'Training jobs',
      summary:
        'List the complete trajectories of a group: messages, rewards, logs. A page may have fewer than `limit` items if they are large',
      access: 'read',
      errors: [404],
      query: pageQuery,
      answer: envelope(trajectoryResponse),
      async handle({ caller, params, query }) {
        const { group } = parse(groupPath, params, 'path');
        const page = await jobInputs.listTrajectories(caller, params.training_job_id!, group, toPage(query));
        return toEnvelope(page, toTrajectoryResponse);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${JOB}/groups/{group}/tokens`,
      tag: 'Training jobs',
      summary:
        'List the trajectories of a group as they were trained, token by token. A page may have fewer than `limit` items if they are large',
      access: 'read',
      errors: [404],
      query: pageQuery,
      answer: envelope(tokensResponse),
      async handle({ caller, params, query }) {
        const { group } = parse(groupPath, params, 'path');
        const page = await jobInputs.listTokens(caller, params.training_job_id!, group, toPage(query));
        return toEnvelope(page, toTokensResponse);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${JOB}/trajectories`,
      tag: 'Training jobs',
      summary:
        'Export the trajectories submitted to an RL job, one per line. Can be filtered by a text that they contain',
      access: 'read',
      errors: [404],
      query: linesQuery,
      answer: [TRAJECTORY_LINES],
      async handle({ caller, params, query: { view, search = null }, reply }) {
        const lines = await linesOf(view, {
          trajectories: () => jobInputs.streamTrajectories(caller, params.training_job_id!, search),
          summaries: () => jobInputs.streamSummaries(caller, params.training_job_id!, search),
        });
        return reply.type(TRAJECTORY_LINES).send(Readable.from(lines));
      },
    }),
  ];
}
