// Training jobs: submit, list, follow, cancel. Events are returned in pages, or as server-sent events if the client accepts them.
import { z } from 'zod';
import { JOB_TYPES, type TrainingEvent } from '#domain/training-job';
import type { ApiLimits, ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { errorResponse } from '../http/error-response.ts';
import { envelope, orderField, pageFields, pageQuery, toEnvelope, toPage } from '../http/listing.ts';
import { evaluationWarnings, toEvaluationResponse } from './evaluation-answers.ts';
import { createDpoJob, readDpoJob } from './dpo-job.ts';
import { createSftJob, readSftJob } from './sft-job.ts';
import { createTrajectoryBodyParser } from './training-body.ts';
import {
  createdJob,
  createRlJob,
  eventResponse,
  jobDetailResponse,
  jobListResponse,
  jobResponse,
  readRlJob,
  toDescribedJobResponse,
  toEventResponse,
  toJobResponse,
} from './training-job.ts';
import { warned } from '#validation/unknown-fields';
import { clientSignal, sendEvents, sseFrame } from '../http/sse.ts';

const listQuery = z.looseObject({
  ...pageFields,
  ...orderField,
  model_id: z.string().optional(),
  status: z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled']).optional(),
  type: z.enum(JOB_TYPES).optional(),
  search: z
    .string()
    .optional()
    .describe('Text that the model’s `project/name` contains. The letters A to Z match in either case.'),
});

/** `closing` aborts when the server stops, so that streams of events do not delay the shutdown. */
export function trainingJobRoutes(
  {
    trainingJobs,
    jobInputs,
    evaluations,
    log,
  }: Pick<ApiServices, 'trainingJobs' | 'jobInputs' | 'evaluations' | 'log'>,
  { pingMs, connections }: ApiLimits,
  closing: AbortSignal,
): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/preview/training-jobs',
      tag: 'Training jobs',
      summary: 'Train a model on trajectories with rewards (RL). Creates one checkpoint',
      access: 'train',
      begins: 'train',
      errors: [404, 409, 413, 429],
      bodySize: 'large',
      createBodyParser: createTrajectoryBodyParser,
      creates: true,
      body: { schema: createRlJob, read: readRlJob },
      answer: createdJob,
      async handle({ caller, body: { modelId, body, evaluation }, newId }) {
        const { id } = await trainingJobs.submitRl(caller, body, modelId, newId, evaluation);
        return { id, ...warned(body.warnings) };
      },
    }),
    endpoint({
      method: 'POST',
      path: '/v1/preview/sft-training-jobs',
      tag: 'Training jobs',
      summary: 'Train a model on conversations in an artifact (SFT). Creates one checkpoint',
      access: 'train',
      begins: 'train',
      errors: [400, 404, 409, 429],
      creates: true,
      body: { schema: createSftJob, read: readSftJob },
      answer: createdJob,
      async handle({ caller, body, newId }) {
        const { id } = await trainingJobs.submitSft(caller, body, newId);
        return { id, ...warned(body.warnings) };
      },
    }),
    endpoint({
      method: 'POST',
      path: '/v1/preview/dpo-training-jobs',
      tag: 'Training jobs',
      summary: 'Train a model on preference pairs in an artifact (DPO). Creates one checkpoint',
      access: 'train',
      begins: 'train',
      errors: [400, 404, 409, 429],
      creates: true,
      body: { schema: createDpoJob, read: readDpoJob },
      answer: createdJob,
      async handle({ caller, body, newId }) {
        const { id } = await trainingJobs.submitDpo(caller, body, newId);
        return { id, ...warned(body.warnings) };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/preview/training-jobs',
      tag: 'Training jobs',
      summary: 'List your training jobs, oldest first unless `order` is `desc`',
      access: 'read',
      query: listQuery,
      answer: jobListResponse,
      async handle({ caller, query }) {
        const { model_id: modelId, status, type, search } = query;
        const filter = {
          ...(modelId === undefined ? {} : { modelId }),
          ...(type === undefined ? {} : { type }),
          ...(search ? { search } : {}),
        };
        const asked = status === undefined ? filter : { ...filter, status };
        const { rows, hasMore } = await trainingJobs.list(caller, asked, toPage(query), query.order);
        const data = (await trainingJobs.describe(rows)).map(toDescribedJobResponse);
        const page = toEnvelope({ rows: data, hasMore }, (job) => job);
        return { ...page, counts: await trainingJobs.countByStatus(caller, filter) };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/preview/training-jobs/{training_job_id}',
      tag: 'Training jobs',
      summary: 'Read a training job',
      access: 'read',
      errors: [404],
      answer: jobDetailResponse,
      async handle({ caller, params }) {
        const id = params.training_job_id!;
        const job = await trainingJobs.get(caller, id);
        const evaluation = await evaluations.find(caller, id);
        const [described] = await trainingJobs.describe([job]);
        return {
          ...toDescribedJobResponse(described!),
          warnings: [...(await jobInputs.warnings(caller, id)), ...evaluationWarnings(evaluation)],
          evaluation: evaluation && toEvaluationResponse(evaluation),
        };
      },
    }),
    endpoint({
      method: 'POST',
      path: '/v1/preview/training-jobs/{training_job_id}/cancel',
      tag: 'Training jobs',
      summary: 'Cancel a training job. A running job stops at its next gradient step and creates no checkpoint',
      access: 'train',
      errors: [404, 409],
      answer: jobResponse,
      async handle({ caller, params }) {
        const id = params.training_job_id!;
        await trainingJobs.cancel(caller, id);
        return toJobResponse(await trainingJobs.get(caller, id));
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/preview/training-jobs/{training_job_id}/events',
      tag: 'Training jobs',
      summary:
        'List the events of a training job, in order. With `Accept: text/event-stream`, they are streamed as they happen until the job ends',
      access: 'read',
      errors: [404],
      query: pageQuery,
      answer: envelope(eventResponse),
      alsoStreams: true,
      async handle({ caller, params, query, request, reply }) {
        const id = params.training_job_id!;
        if (!(request.headers.accept ?? '').includes('text/event-stream')) {
          return toEnvelope(await trainingJobs.listEvents(caller, id, toPage(query)), toEventResponse);
        }
        const header = request.headers['last-event-id'];
        const after = (typeof header === 'string' && header !== '' ? header : null) ?? (query.after || null);
        await trainingJobs.listEvents(caller, id, { after, limit: 1 }); // throws before the stream begins
        const signal = clientSignal(reply, closing);
        const onError = (error: unknown) => {
          if (!signal.aborted) log.warn('events.failed', { jobId: id, err: error });
          return signal.aborted ? '' : sseFrame({ error: errorResponse(error).body.error });
        };
        await sendEvents(reply, eventFrames(trainingJobs.followEvents(caller, id, after, signal)), onError, {
          pingMs,
          stallMs: connections.writeStallMs,
          openAtOnce: true,
        });
        return reply;
      },
    }),
  ];
}

/** Without `event:` fields, so that a browser's onmessage receives all of them; the type is in the data. */
async function* eventFrames(events: AsyncIterable<TrainingEvent>): AsyncGenerator<string> {
  for await (const event of events) yield sseFrame(toEventResponse(event), event.id);
}
