// The steps of a model: list, delete, download; and the log endpoint, which adds metrics to a step.
import { z } from 'zod';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { attachment } from '../http/header-text.ts';
import { answerWithFile } from '../http/file-answer.ts';
import { envelope, longPageFields, toEnvelope, toPage } from '../http/listing.ts';
import { checkpointResponse, deleteCheckpoints, deletedCheckpoints, toCheckpointResponse } from './model.ts';
import { logRequest, readLog } from '../training/training-job.ts';
import { parse, refuse } from '#validation/parse';
import { warned, warnings } from '#validation/unknown-fields';
import { createTrajectoryBodyParser } from '../training/training-body.ts';

const listQuery = z.looseObject({ ...longPageFields, order: z.enum(['asc', 'desc']).default('asc') });

/** Null: the latest. */
const stepPath = z.object({
  step: z
    .string()
    .regex(/^(?:latest|\d{1,15})$/, 'Input should be the number of a step, in digits, or `latest`')
    .transform((text) => (text === 'latest' ? null : Number(text))),
});

export function checkpointRoutes({
  checkpoints,
  logTrajectories,
}: Pick<ApiServices, 'checkpoints' | 'logTrajectories'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/preview/models/{model_id}/checkpoints',
      tag: 'Checkpoints',
      summary: 'List the checkpoints of a model, by step',
      access: 'read',
      errors: [404],
      query: listQuery,
      answer: envelope(checkpointResponse),
      handle: async ({ caller, params, query }) =>
        toEnvelope(await checkpoints.list(caller, params.model_id!, toPage(query), query.order), toCheckpointResponse),
    }),
    endpoint({
      method: 'DELETE',
      path: '/v1/preview/models/{model_id}/checkpoints',
      tag: 'Checkpoints',
      summary: 'Delete checkpoints of a model. Repeating the call is safe',
      access: 'train',
      errors: [404],
      body: { schema: deleteCheckpoints, read: (raw) => parse(deleteCheckpoints, raw, 'body') },
      answer: deletedCheckpoints,
      async handle({ caller, params, body }) {
        const { deletedCount, notFoundSteps } = await checkpoints.delete(caller, params.model_id!, [
          ...new Set(body.steps),
        ]);
        return { deleted_count: deletedCount, not_found_steps: [...notFoundSteps] };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/preview/models/{model_id}/checkpoints/{step}/download',
      tag: 'Checkpoints',
      summary:
        'Download a checkpoint as a tar of its PEFT directory. The step may be `latest`. A Range header selects a part of the file',
      access: 'read',
      alsoSucceeds: [206],
      errors: [404, 416, 422],
      answer: ['application/x-tar'],
      async handle({ caller, params, request, reply }) {
        const { step } = parse(stepPath, params, 'path');
        const { fileName, from, ...tar } = await checkpoints.download(caller, params.model_id!, step);
        const file = { ...tar, name: fileName, open: async (start: number) => from(start) };
        const about = { contentType: 'application/x-tar', disposition: attachment(fileName) };
        return answerWithFile(request, reply, file, about);
      },
    }),
    endpoint({
      method: 'POST',
      path: '/v1/preview/models/{model_id}/log',
      tag: 'Checkpoints',
      summary:
        'Log evaluated trajectories. Their metrics are added to a checkpoint, or their rewards to the answers of an evaluation',
      access: 'train',
      errors: [400, 404, 413],
      bodySize: 'large',
      createBodyParser: createTrajectoryBodyParser,
      creates: true,
      body: { schema: logRequest, read: readLog },
      answer: z.object({ step: z.int(), metrics: z.record(z.string(), z.number()), warnings }),
      async handle({ caller, params, body, newId }) {
        const { model_id: modelId, split, step = null, trajectory_groups: groups } = body;
        if (modelId && modelId !== params.model_id)
          refuse(['body', 'model_id'], `must be the model of the path, ${params.model_id!}, or left out`, modelId);
        const evaluationJobId = body.evaluation_job_id ?? null;
        const logged = await logTrajectories(caller, params.model_id!, { split, groups, step, evaluationJobId }, newId);
        return { ...logged, ...warned(body.warnings) };
      },
    }),
  ];
}
