// An evaluation as clients read it: its status, and the answers with their rewards. Domain → wire.
import { counted } from '#base/counted';
import { z } from 'zod';
import { NEXT_EVALUATION_STATUS, type Evaluation, type EvaluationStatus } from '#domain/evaluation';
import type { AnsweredPrompt, EvaluationDetail, EvaluationOfStep } from '#services/evaluations/evaluations';
import { isoOrNull } from '../http/time.ts';

const STATUSES = Object.keys(NEXT_EVALUATION_STATUS) as [EvaluationStatus, ...EvaluationStatus[]];

export const evaluationResponse = z
  .object({
    status: z
      .enum(STATUSES)
      .describe('queued: waiting for the checkpoint, then for a server with the role serve that hosts the base model.'),
    num_prompts: z.int().describe('Number of prompts.'),
    num_samples: z.int().describe('Number of answers per prompt.'),
    num_answered: z.int().describe('Number of finished prompts, including those that could not be answered.'),
    num_failed: z.int().describe('Number of prompts that could not be answered. Each has the reason in `error`.'),
    error_message: z.string().nullable(),
    started_at: z.iso.datetime().nullable().describe('When it started; null if it has not started.'),
    ended_at: z.iso.datetime().nullable().describe('When it ended; null if it has not ended.'),
  })
  .meta({ title: 'Evaluation' });

export const toEvaluationResponse = (evaluation: Evaluation): z.input<typeof evaluationResponse> => ({
  status: evaluation.status,
  num_prompts: evaluation.promptCount,
  num_samples: evaluation.sampleCount,
  num_answered: evaluation.answeredCount,
  num_failed: evaluation.failedCount,
  error_message: evaluation.errorMessage,
  started_at: isoOrNull(evaluation.startedAtMs),
  ended_at: isoOrNull(evaluation.endedAtMs),
});

/** Warnings in addition to those of the job, which does not fail with its evaluation. */
export function evaluationWarnings(evaluation: Evaluation | null): string[] {
  if (!evaluation) return [];
  const { status, errorMessage, failedCount, promptCount } = evaluation;
  return [
    ...(status === 'failed' ? [`The evaluation failed: ${errorMessage ?? ''}`] : []),
    ...(failedCount > 0
      ? [`The evaluation could not answer ${failedCount} of ${counted(promptCount, 'prompt')}.`]
      : []),
  ];
}

export const modelEvaluationResponse = evaluationResponse
  .extend({
    id: z.guid().describe('Id of the training job.'),
    step: z.int().nullable().describe('Step of the checkpoint that answers; null until the job runs.'),
  })
  .meta({ title: 'ModelEvaluation' });

export const toModelEvaluation = ({ evaluation, step }: EvaluationOfStep): z.input<typeof modelEvaluationResponse> => ({
  ...toEvaluationResponse(evaluation),
  id: evaluation.jobId,
  step,
});

const record = z.record(z.string(), z.unknown());

export const evaluationDetailResponse = evaluationResponse
  .extend({
    training_job_id: z.guid(),
    model_id: z.guid(),
    step: z.int().nullable().describe('Step of the checkpoint that answers; null until the job runs.'),
    source: z.string().nullable().describe('The artifact version and file; null: the prompts were in the request.'),
    settings: z
      .object({
        samples: z.int(),
        max_tokens: z.int(),
        temperature: z.number().nullable(),
        top_p: z.number().nullable(),
        stop: z.array(z.string()),
        seed: z.int(),
        chat_template_kwargs: record,
      })
      .nullable()
      .describe('Null: prompts and answers are no longer stored.'),
    log: z
      .object({ id: z.guid(), split: z.string() })
      .nullable()
      .describe('Source of the rewards: the latest log for this job.'),
  })
  .meta({ title: 'EvaluationDetail' });

export function toEvaluationDetail({
  evaluation,
  job,
  body,
  log,
}: EvaluationDetail): z.input<typeof evaluationDetailResponse> {
  const { source, settings } = body ?? { source: null, settings: null };
  return {
    ...toEvaluationResponse(evaluation),
    training_job_id: evaluation.jobId,
    model_id: evaluation.modelId,
    step: job.step,
    source: source && `${source.entity}/${source.project}/${source.name}:v${source.version} ${source.path}`,
    settings: settings && {
      samples: settings.samples,
      max_tokens: settings.maxTokens,
      temperature: settings.temperature,
      top_p: settings.topP,
      stop: [...settings.stop],
      seed: settings.seed,
      chat_template_kwargs: { ...settings.chatTemplateKwargs },
    },
    log: log && { id: log.id, split: log.split },
  };
}

export const answeredPromptResponse = z
  .object({
    id: z.string(),
    index: z.int(),
    messages: z.array(record),
    tools: z.array(z.unknown()),
    reference: record.nullable().describe('The reference answer from the data; the model did not see it.'),
    metadata: record,
    error: z.string().nullable().describe('Why the prompt could not be answered.'),
    answers: z
      .array(
        z.object({
          index: z.int(),
          message: record,
          finish_reason: z.string(),
          token_ids: z.array(z.int()),
          logprobs: z.array(z.number()).describe('Log-probability of each token, in nats.'),
          reward: z.number().nullable().describe('Null: no reward was sent.'),
          metrics: z.record(z.string(), z.union([z.number(), z.boolean()])),
          reward_metadata: record.describe('Metadata of the trajectory that has the reward.'),
        }),
      )
      .nullable()
      .describe('Null: not answered yet.'),
  })
  .meta({ title: 'AnsweredPrompt' });

export const toAnsweredPrompt = ({
  index,
  prompt,
  answers,
  error,
}: AnsweredPrompt): z.input<typeof answeredPromptResponse> => ({
  id: String(index),
  index,
  messages: [...prompt.messages],
  tools: [...(prompt.tools ?? [])],
  reference: prompt.reference,
  metadata: { ...prompt.metadata },
  error,
  answers:
    answers?.map(({ message, finishReason, tokenIds, logprobs, reward }, i) => ({
      index: i,
      message,
      finish_reason: finishReason,
      token_ids: [...tokenIds],
      logprobs: [...logprobs],
      reward: reward?.reward ?? null,
      metrics: { ...reward?.metrics },
      reward_metadata: { ...reward?.notes?.metadata },
    })) ?? null,
});
