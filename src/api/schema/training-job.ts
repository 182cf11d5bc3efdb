// Training jobs, their events and logged trajectories: wire ↔ domain.
import { z } from 'zod';
import { EVENT_TYPES, JOB_TYPES, type TrainingEvent, type TrainingJob } from '#domain/training-job';
import type { RlJobBody } from '#domain/trajectory';
import type { RequestedEvaluation } from '#services/evaluations/accept-evaluation';
import { evaluation, readEvaluation } from './evaluation.ts';
import { evaluationResponse } from './evaluation-answers.ts';
import { rlConfig } from './rl-config.ts';
import { isoOrNull } from './time.ts';
import { integer } from './lax.ts';
import { trajectoryGroup } from './trajectory.ts';
import { unknownFields, warnings } from './unknown-fields.ts';
import { parse } from './validation.ts';

export const createRlJob = z.looseObject({
  model_id: z.guid(),
  trajectory_groups: z.array(trajectoryGroup),
  experimental_config: rlConfig.nullish(),
  evaluation,
});

export interface RlJob {
  readonly modelId: string;
  readonly body: RlJobBody;
  readonly evaluation: RequestedEvaluation | null;
}

/** Throws ValidationError. */
export function readRlJob(raw: unknown): RlJob {
  const wire = parse(createRlJob, raw, 'body');
  const { config = {}, warnings = [] } = wire.experimental_config ?? {};
  const asked = readEvaluation(wire.evaluation);
  const all = [...unknownFields(createRlJob, wire), ...warnings, ...asked.warnings];
  const body = { groups: wire.trajectory_groups, config, warnings: all };
  return { modelId: wire.model_id, body, evaluation: asked.evaluation };
}

export const logRequest = z.looseObject({
  model_id: z.guid().nullish().meta({ description: 'The same as in the path.' }),
  split: z.string().min(1).max(100).meta({ description: 'Metrics are stored as `split/name`.' }),
  step: integer({ ge: 0 }).nullish().meta({ description: 'Of the checkpoint that they are of. Default: the latest.' }),
  evaluation_job_id: z.guid().nullish().meta({
    description:
      "They give rewards to the answers of this job's evaluation: a group per prompt, a trajectory per answer, both in order; a group may be empty. Messages may be left empty: the answers are stored. Metrics go to the checkpoint that answered.",
  }),
  trajectory_groups: z.array(trajectoryGroup),
});

export const createdJob = z.object({ id: z.guid(), warnings });

const timestamp = z.iso.datetime().nullable();

export const jobResponse = z.object({
  id: z.guid(),
  type: z.enum(JOB_TYPES),
  model_id: z.guid(),
  status: z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled']),
  created_at: z.iso.datetime(),
  training_start: timestamp,
  training_end: timestamp,
  error_message: z.string().nullable(),
  progress: z.number().meta({ description: '0 to 1' }),
  step: z.int().nullable().meta({ description: 'The checkpoint this job makes; null until it runs.' }),
  skipped: z.record(z.string(), z.number()).meta({ description: 'Why data was not trained on, with counts.' }),
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
  skipped: { ...job.skipped },
});

export const jobDetailResponse = jobResponse.extend({
  warnings: z.array(z.string()).meta({
    description: 'What was not used of the request, not done as sent, or is worth a look. Empty before the job begins.',
  }),
  evaluation: evaluationResponse.nullable().meta({ description: 'Null: the request named no prompts.' }),
});

export const eventResponse = z.object({
  id: z.guid(),
  type: z.enum(EVENT_TYPES),
  data: z.record(z.string(), z.unknown()),
});

export const toEventResponse = ({ id, type, data }: TrainingEvent): z.input<typeof eventResponse> => ({
  id,
  type,
  data: { ...data },
});
