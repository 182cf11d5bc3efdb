// Training jobs, their events and logged trajectories: wire ↔ domain.
import { z } from 'zod';
import { EVENT_TYPES, type TrainingEvent, type TrainingJob } from '#domain/training-job';
import { rlConfig } from './rl-config.ts';
import { isoOrNull } from './time.ts';
import { trajectoryGroup } from './trajectory.ts';

export const createRlJob = z.looseObject({
  model_id: z.guid(),
  trajectory_groups: z.array(trajectoryGroup),
  experimental_config: rlConfig.nullish(),
});

export const logRequest = z.looseObject({
  split: z.string().min(1).max(100).meta({ description: 'Metrics are stored as `split/name`.' }),
  trajectory_groups: z.array(trajectoryGroup),
}); // prettier-ignore

export const createdJob = z.object({ id: z.guid() });

const timestamp = z.iso.datetime().nullable();

export const jobResponse = z.object({
  id: z.guid(),
  type: z.enum(['rl', 'sft']),
  model_id: z.guid(),
  status: z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled']),
  created_at: z.iso.datetime(),
  training_start: timestamp,
  training_end: timestamp,
  error_message: z.string().nullable(),
  progress: z.number().meta({ description: '0 to 1' }),
  step: z.int().nullable().meta({ description: 'The checkpoint this job makes; null until it runs.' }),
  skipped: z.record(z.string(), z.number()).meta({ description: 'Why data was not trained on, with counts.' }),
}); // prettier-ignore

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
