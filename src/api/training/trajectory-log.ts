// Logged trajectories as clients read them: domain → wire.
import { z } from 'zod';
import type { TrajectoryLog } from '#domain/trajectory-log';
import { integer } from '#validation/lax';
import { pageFields } from '../http/listing.ts';

export const logQuery = z.looseObject({
  ...pageFields,
  split: z.string().optional(),
  step: integer({ ge: 0 }).optional(),
});

export const logResponse = z
  .object({
    id: z.guid(),
    split: z.string(),
    step: z.int().describe('The step given in the request; otherwise the latest step at that time.'),
    num_groups: z.int().describe('Number of groups.'),
    num_trajectories: z.int(),
    size_bytes: z.int(),
    created_at: z.iso.datetime(),
    evaluation_job_id: z
      .guid()
      .nullable()
      .describe('The job whose evaluation answers it has rewards for; null: it has trajectories of its own.'),
  })
  .meta({ title: 'TrajectoryLog' });

export const toLogResponse = (log: TrajectoryLog): z.input<typeof logResponse> => ({
  id: log.id,
  split: log.split,
  step: log.step,
  num_groups: log.groupCount,
  num_trajectories: log.trajectoryCount,
  size_bytes: log.sizeBytes,
  created_at: new Date(log.createdAtMs).toISOString(),
  evaluation_job_id: log.evaluationJobId,
});
