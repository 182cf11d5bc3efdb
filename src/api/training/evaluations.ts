// Evaluations: the answers of a job's checkpoint to the prompts of its request. Requesting one is in training-jobs.ts, sending rewards in
// checkpoints.ts.
import { z } from 'zod';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import {
  answeredPromptResponse,
  evaluationDetailResponse,
  evaluationResponse,
  modelEvaluationResponse,
  toAnsweredPrompt,
  toEvaluationDetail,
  toEvaluationResponse,
  toModelEvaluation,
} from './evaluation-answers.ts';
import { envelope, longPageFields, orderField, pageQuery, toEnvelope, toPage } from '../http/listing.ts';

const listQuery = z.looseObject({ ...longPageFields, ...orderField });

const EVALUATION = '/v1/preview/training-jobs/{training_job_id}/evaluation';

export function evaluationRoutes({ evaluations }: Pick<ApiServices, 'evaluations'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/preview/models/{model_id}/evaluations',
      tag: 'Models',
      summary:
        "List the status of the evaluations of a model's jobs. In the order of submission, each with the step of the checkpoint that answers",
      access: 'read',
      errors: [404],
      query: listQuery,
      answer: envelope(modelEvaluationResponse),
      handle: async ({ caller, params, query }) =>
        toEnvelope(await evaluations.list(caller, params.model_id!, toPage(query), query.order), toModelEvaluation),
    }),
    endpoint({
      method: 'GET',
      path: EVALUATION,
      tag: 'Training jobs',
      summary: 'Read the evaluation of a job: its status, its settings, and the source of its rewards',
      access: 'read',
      errors: [404],
      answer: evaluationDetailResponse,
      handle: async ({ caller, params }) => toEvaluationDetail(await evaluations.get(caller, params.training_job_id!)),
    }),
    endpoint({
      method: 'GET',
      path: `${EVALUATION}/answers`,
      tag: 'Training jobs',
      summary:
        'List the prompts of an evaluation, with answers and rewards. A page may have fewer than `limit` items if they are large',
      access: 'read',
      errors: [404],
      query: pageQuery,
      answer: envelope(answeredPromptResponse),
      handle: async ({ caller, params, query }) =>
        toEnvelope(await evaluations.listAnswers(caller, params.training_job_id!, toPage(query)), toAnsweredPrompt),
    }),
    endpoint({
      method: 'POST',
      path: `${EVALUATION}/cancel`,
      tag: 'Training jobs',
      summary: 'Cancel an evaluation. The job, its checkpoint, and the answers so far are kept',
      access: 'train',
      errors: [404, 409],
      answer: evaluationResponse,
      handle: async ({ caller, params }) =>
        toEvaluationResponse(await evaluations.cancel(caller, params.training_job_id!)),
    }),
  ];
}
