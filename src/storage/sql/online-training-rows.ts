// The table of online training as a TypeScript type, and the conversion of rows. Part of rows.ts.
import type { Selectable } from 'kysely';
import type { NewOnlineTraining, OnlineStatus, OnlineTraining } from '#domain/online-training';

export interface OnlineTrainingTable {
  model_id: string;
  id: string;
  entity: string;
  key_id: string;
  group_size_min: number;
  /** JSON of a Plan. */
  plan: string;
  status: OnlineStatus;
  paused_by: string | null;
  last_problem: string | null;
  job_count: number;
  last_job_id: string | null;
  created_at_ms: number;
  updated_at_ms: number;
  due_at_ms: number;
  attempt: number;
  unsettled: number;
  worker: string | null;
  lease_until_ms: number | null;
}

export type Plan = Pick<NewOnlineTraining, 'groupsPerStep' | 'maxStaleness' | 'untilStep' | 'job' | 'sent'>;

export function toOnlineTraining(row: Selectable<OnlineTrainingTable>): OnlineTraining {
  const plan = JSON.parse(row.plan) as Plan;
  return {
    ...plan,
    id: row.id,
    modelId: row.model_id,
    entity: row.entity,
    keyId: row.key_id,
    groupSizeMin: row.group_size_min,
    status: row.status,
    pausedBy: row.paused_by,
    lastProblem: row.last_problem,
    jobCount: row.job_count,
    lastJobId: row.last_job_id,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    attempt: row.attempt,
    unsettled: row.unsettled,
  };
}
