// Training jobs, their events and logged trajectories: wire ↔ domain.
import { z } from 'zod';
import {
  EVENT_TYPES,
  JOB_TYPES,
  sayWaiting,
  type TrainingEvent,
  type TrainingJob,
  type WaitingFor,
} from '#domain/training-job';
import type { EpisodeJobBody, RlJobBody, TrajectoryGroup } from '#domain/trajectory';
import type { DescribedJob } from '#services/jobs/describe-jobs';
import type { RequestedEvaluation } from '#domain/evaluation';
import { evaluation, readEvaluation } from './evaluation-request.ts';
import { evaluationResponse } from './evaluation-answers.ts';
import { rlConfig } from './rl-config.ts';
import { envelope } from '../http/listing.ts';
import { isoOrNull } from '../http/time.ts';
import { integer } from '#validation/lax';
import { trajectoryGroup, unreadFields } from '#rows/trajectory';
import { sayUnknown, unknownFields, warnings } from '#validation/unknown-fields';
import { parse, ValidationError } from '#validation/parse';

export const createRlJob = z
  .looseObject({
    model_id: z.guid(),
    trajectory_groups: z.array(trajectoryGroup).nullish(),
    episode_groups: z
      .array(z.array(z.string().min(1).max(128)).max(1_000))
      .min(1)
      .max(1_000)
      .nullish()
      .describe(
        'Instead of `trajectory_groups`: ids or names of rewarded episodes of the model, in groups at the same task. Their calls are trained with the tokens that were sampled.',
      ),
    experimental_config: rlConfig.nullish(),
    evaluation,
  })
  .meta({ title: 'RlJobRequest' });

export interface RlJob {
  readonly modelId: string;
  readonly body: RlJobBody | EpisodeJobBody;
  readonly evaluation: RequestedEvaluation | null;
}

/** Throws ValidationError. */
export function readRlJob(raw: unknown): RlJob {
  const wire = parse(createRlJob, raw, 'body');
  const { config = {}, warnings = [] } = wire.experimental_config ?? {};
  const asked = readEvaluation(wire.evaluation);
  const { model_id: modelId, trajectory_groups: groups, episode_groups: episodeGroups } = wire;
  const all = [...unknownFields(createRlJob, wire), ...unreadOf(groups ?? []), ...warnings, ...asked.warnings];
  const { evaluation } = asked;
  if (groups && episodeGroups) {
    const msg = 'Send trajectory_groups or episode_groups, not both';
    throw new ValidationError([{ type: 'value_error', loc: ['body', 'episode_groups'], msg, input: episodeGroups }]);
  }
  if (episodeGroups) return { modelId, body: { episodeGroups, config, warnings: all }, evaluation };
  if (groups) return { modelId, body: { groups, config, warnings: all }, evaluation };
  throw new ValidationError([
    { type: 'missing', loc: ['body', 'trajectory_groups'], msg: 'Field required', input: raw },
  ]);
}

export const logRequest = z
  .looseObject({
    model_id: z.guid().nullish().describe('The same id as in the path.'),
    split: z.string().min(1).max(100).describe('Metrics are stored as `split/name`.'),
    step: integer({ ge: 0 })
      .nullish()
      .describe('Step of the checkpoint that sampled the trajectories. Default: the latest.'),
    evaluation_job_id: z
      .guid()
      .nullish()
      .describe(
        "The trajectories are rewards for the answers of this job's evaluation: one group per prompt and one trajectory per answer, both in order; a group may be empty. Messages may be empty, because the answers are stored. Metrics are added to the checkpoint that answered.",
      ),
    trajectory_groups: z.array(trajectoryGroup),
  })
  .meta({ title: 'LogTrajectoriesRequest' });

/** Throws ValidationError. */
export function readLog(raw: unknown) {
  const body = parse(logRequest, raw, 'body');
  return { ...body, warnings: [...unknownFields(logRequest, body), ...unreadOf(body.trajectory_groups)] };
}

const unreadOf = (groups: readonly TrajectoryGroup[]): string[] =>
  sayUnknown(unreadFields(groups), 'trajectory_groups[].');

export const createdJob = z.object({ id: z.guid(), warnings }).meta({ title: 'CreatedJob' });

const timestamp = z.iso.datetime().nullable();

export const waitingFor = z
  .object({
    type: z
      .enum(['trainer', 'job', 'training_client'])
      .describe(
        '`job` or `training_client`: it waits for its turn at the trainer behind that one; `trainer`: no trainer is ready.',
      ),
    id: z.string().nullable().describe("Null for another account's, and for a trainer."),
    message: z.string(),
  })
  .meta({ title: 'WaitingFor' });

export const jobResponse = z
  .object({
    id: z.guid(),
    type: z.enum(JOB_TYPES),
    model_id: z.guid(),
    status: z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled']),
    created_at: z.iso.datetime(),
    training_start: timestamp,
    training_end: timestamp,
    error_message: z.string().nullable(),
    progress: z.number().describe('Progress from 0 to 1.'),
    step: z.int().nullable().describe('Step of the checkpoint that this job creates; null until it runs.'),
    waiting_for: waitingFor
      .nullable()
      .describe('What the job waits behind, queued or running; null: it does not wait, or has only just begun to.'),
    skipped: z.record(z.string(), z.number()).describe('Number of data items that were not trained on, by reason.'),
  })
  .meta({ title: 'TrainingJob' });

const toWaitingFor = ({ kind, id }: WaitingFor): z.input<typeof waitingFor> => ({
  type: kind,
  id,
  message: sayWaiting({ kind, id }),
});

export const toJobResponse = (job: TrainingJob): z.input<typeof jobResponse> => ({
  id: job.id,
  type: job.type,
  model_id: job.modelId,
  status: job.status,
  created_at: new Date(job.createdAtMs).toISOString(),
  training_start: isoOrNull(job.startedAtMs),
  training_end: isoOrNull(job.endedAtMs),
  error_message: job.errorMessage,
  progress: job.progress,
  step: job.step,
  waiting_for: job.waitingFor && toWaitingFor(job.waitingFor),
  skipped: { ...job.skipped },
});

/** In lists of jobs, and when one is read. */
export const describedJobResponse = jobResponse
  .extend({
    model_name: z.string().nullable().describe('The model that the job trains: `project/name`.'),
    reward: z
      .number()
      .nullable()
      .describe('Mean reward that the job trained on (`train/reward` of its checkpoint); null: none.'),
    loss: z
      .number()
      .nullable()
      .describe(
        'Loss of the gradient step whose weights the checkpoint of an SFT or DPO job has (its `train/loss`); null: none.',
      ),
    seconds: z.number().nullable().describe('From start to end; null: the job has not ended.'),
  })
  .meta({ title: 'DescribedTrainingJob' });

export const toDescribedJobResponse = ({
  job,
  modelName,
  metrics,
}: DescribedJob): z.input<typeof describedJobResponse> => ({
  ...toJobResponse(job),
  model_name: modelName,
  reward: metrics?.['train/reward'] ?? null,
  loss: metrics?.['train/loss'] ?? null,
  seconds: job.startedAtMs === null || job.endedAtMs === null ? null : (job.endedAtMs - job.startedAtMs) / 1000,
});

const jobCount = z.int().describe('Number of jobs with this status.');

export const jobListResponse = envelope(describedJobResponse)
  .extend({
    counts: z
      .object({ queued: jobCount, running: jobCount, succeeded: jobCount, failed: jobCount, cancelled: jobCount })
      .describe('Of all jobs that the other filters find, by status: of every page, and whatever `status` asks for.'),
  })
  .meta({ title: 'TrainingJobList' });

export const jobDetailResponse = describedJobResponse.extend({
  warnings: z
    .array(z.string())
    .describe(
      'Warnings: parts of the request that were not used or not used as sent, and anything else worth checking. Empty before the job starts.',
    ),
  evaluation: evaluationResponse.nullable().describe('Null: the request had no evaluation prompts.'),
});

export const eventResponse = z
  .object({
    id: z.guid(),
    type: z.enum(EVENT_TYPES),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ title: 'TrainingJobEvent' });

export const toEventResponse = ({ id, type, data }: TrainingEvent): z.input<typeof eventResponse> => ({
  id,
  type,
  data: { ...data },
});
