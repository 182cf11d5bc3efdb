// The table of evaluations as TypeScript types, and its rows as domain objects. All other tables are in rows.ts.
import type { Selectable } from 'kysely';
import type { Evaluation, EvaluationStatus } from '#domain/evaluation';

export interface EvaluationTable {
  job_id: string;
  model_id: string;
  entity: string;
  key_id: string;
  status: EvaluationStatus;
  attempt: number;
  unsettled: number;
  worker: string | null;
  lease_until_ms: number | null;
  claimed_at_ms: number | null;
  cancel_requested: number;
  prompt_count: number;
  sample_count: number;
  answered_count: number;
  failed_count: number;
  is_kept: number;
  error_message: string | null;
  created_at_ms: number;
  started_at_ms: number | null;
  ended_at_ms: number | null;
}

export const toEvaluation = (row: Selectable<EvaluationTable>): Evaluation => ({
  jobId: row.job_id,
  modelId: row.model_id,
  entity: row.entity,
  keyId: row.key_id,
  status: row.status,
  attempt: row.attempt,
  unsettled: row.unsettled,
  cancelRequested: row.cancel_requested !== 0,
  promptCount: row.prompt_count,
  sampleCount: row.sample_count,
  answeredCount: row.answered_count,
  failedCount: row.failed_count,
  isKept: row.is_kept !== 0,
  errorMessage: row.error_message,
  createdAtMs: row.created_at_ms,
  startedAtMs: row.started_at_ms,
  endedAtMs: row.ended_at_ms,
});
