// What a job's checkpoint answered to the prompts that its request named. Asking for it is training-jobs.ts, giving rewards
// checkpoints.ts.
import { z } from 'zod';
import type { ApiServices } from '../api-services.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import {
  answeredPromptResponse,
  evaluationDetailResponse,
  evaluationResponse,
  modelEvaluationResponse,
  toAnsweredPrompt,
  toEvaluationDetail,
  toEvaluationResponse,
  toModelEvaluation,
} from '../schema/evaluation-answers.ts';
import { envelope, orderField, pageFields, pageQuery, toEnvelope, toPage } from '../schema/listing.ts';

const listQuery = z.looseObject({ ...pageFields, ...orderField });

const EVALUATION = '/v1/preview/training-jobs/{training_job_id}/evaluation';

export function evaluationRoutes({ evaluations }: Pick<ApiServices, 'evaluations'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/preview/models/{model_id}/evaluations',
      tag: 'Models',
      summary: "How far the evaluations of a model's jobs are, by submission, with the step that answers",
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
      summary: "How far a job's evaluation is, how it asks, and where its rewards come from",
      access: 'read',
      errors: [404],
      answer: evaluationDetailResponse,
      handle: async ({ caller, params }) => toEvaluationDetail(await evaluations.get(caller, params.training_job_id!)),
    }),
    endpoint({
      method: 'GET',
      path: `${EVALUATION}/answers`,
      tag: 'Training jobs',
      summary: 'Prompt by prompt: what the checkpoint answered, and the rewards. A page may have fewer than asked for',
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
      summary: 'End an evaluation. The job, its checkpoint, and the answers that are there stay',
      access: 'train',
      errors: [404, 409],
      answer: evaluationResponse,
      handle: async ({ caller, params }) =>
        toEvaluationResponse(await evaluations.cancel(caller, params.training_job_id!)),
    }),
  ];
}
