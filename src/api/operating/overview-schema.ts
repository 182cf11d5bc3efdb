// The overview, and summaries of models: domain → wire.
import { z } from 'zod';
import { SCOPES } from '#domain/api-key';
import type { JobOfModel, ModelSummary, Overview } from '#services/overview';
import { labelFields, toLabelFields } from '../models/model-labels.ts';
import { modelResponse, toModelResponse } from '../models/model.ts';
import { describedJobResponse, jobResponse, toDescribedJobResponse, toJobResponse } from '../training/training-job.ts';
import { amounts, toAmounts } from './usage-schema.ts';

const jobOfModel = describedJobResponse
  .extend({ model: modelResponse.describe('The model that the job trains.') })
  .meta({ title: 'JobOfModel' });

export const overviewResponse = z
  .object({
    object: z.literal('overview'),
    version: z.string(),
    key: z.object({ entity: z.string(), scopes: z.array(z.enum(SCOPES)) }).describe('The key of the request.'),
    base_models: z.array(z.string()).describe('Ids of the base models that this server hosts.'),
    running: z.array(jobOfModel).describe('Jobs that run; at most 50.'),
    running_count: z.int().describe('Number of running jobs.'),
    queued: z.array(jobOfModel).describe('The first jobs of the queue.'),
    queued_count: z.int().describe('Number of queued jobs.'),
    newest: z.array(jobOfModel).describe('Jobs of any status, newest first.'),
    used_today: z.object(amounts).describe('Usage since the start of the day in UTC.'),
  })
  .meta({ title: 'Overview' });

type Wire = z.input<typeof overviewResponse>;

export const toOverviewResponse = (
  { running, runningCount, queued, queuedCount, newest, usedToday }: Overview,
  about: Pick<Wire, 'version' | 'key' | 'base_models'>,
): Wire => ({
  object: 'overview',
  ...about,
  running: running.map(toJobOfModel),
  running_count: runningCount,
  queued: queued.map(toJobOfModel),
  queued_count: queuedCount,
  newest: newest.map(toJobOfModel),
  used_today: toAmounts(usedToday),
});

const toJobOfModel = ({ model, ...described }: JobOfModel) => ({
  ...toDescribedJobResponse(described),
  model: toModelResponse(model),
});

export const modelSummaryResponse = modelResponse
  .extend({
    ...labelFields,
    created_at: z.iso.datetime(),
    latest_step: z.int().nullable().describe('The latest step; null: all checkpoints were deleted.'),
    latest_job: jobResponse.nullable().describe('The most recently submitted job; null if there are no jobs.'),
    rewards: z
      .array(z.object({ step: z.int(), reward: z.number() }))
      .describe('Mean rewards (`train/reward`) of up to 50 of the last steps, oldest first.'),
  })
  .meta({ title: 'ModelSummary' });

export const toModelSummaryResponse = ({
  model,
  labels,
  latestJob,
  latestStep,
  rewards,
}: ModelSummary): z.input<typeof modelSummaryResponse> => ({
  ...toModelResponse(model),
  ...toLabelFields(labels),
  created_at: new Date(model.createdAtMs).toISOString(),
  latest_step: latestStep,
  latest_job: latestJob && toJobResponse(latestJob),
  rewards: rewards.map(({ step, reward }) => ({ step, reward })),
});
