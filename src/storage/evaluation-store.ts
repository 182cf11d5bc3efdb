// The progress of evaluations, and the right to run them. Part of storage.ts. Rows are created with their job (jobs.create), end if
// the job produces no checkpoint, and are deleted with it.
import type { Evaluation } from '#domain/evaluation';
import type { Listing, Order, Page } from '#domain/page';

export interface EvaluationStore {
  find(jobId: string): Promise<Evaluation | null>;
  /** In order of submission; the id of a row is its job's. Throws `unknownCursor`. */
  list(modelId: string, page: Page, order: Order): Promise<Listing<EvaluationOfStep>>;
  /**
   * Claims the oldest evaluation whose job has produced its checkpoint and that is queued, or running under a lapsed lease, like
   * jobs.claim: round robin by entity, and later writes name the attempt. `baseModels`: only models over one of these.
   */
  claim(worker: string, nowMs: number, leaseMs: number, baseModels: readonly string[]): Promise<Evaluation | null>;
  /** `cancelled`: on the owner's request. `lost`: it belongs to another attempt, has ended, or was deleted. */
  renewLease(jobId: string, attempt: number, leaseUntilMs: number): Promise<'kept' | 'cancelled' | 'lost'>;
  /** Makes every running evaluation claimable at once (a single server calls this when it starts). */
  releaseLeases(): Promise<void>;
  /** Any server may continue at once, and the attempt does not count as unsettled. */
  release(jobId: string, attempt: number): Promise<void>;
  /** False: lost, as above. `settles`: a new answer was stored, so the attempts before do not count any more. */
  updateProgress(jobId: string, attempt: number, counts: EvaluationCounts, settles: boolean): Promise<boolean>;
  /** False: lost, as above. */
  finish(jobId: string, attempt: number, end: EvaluationEnd): Promise<boolean>;
  /** Queued: cancelled at once. Running: asks its worker to stop. */
  requestCancel(jobId: string, nowMs: number): Promise<'cancelled' | 'cancelling' | 'already_finished' | 'not_found'>;
  /** Those that ended before then and whose answers are still stored, in the order in which they ended. */
  listWithOldAnswers(endedBeforeMs: number, limit: number): Promise<readonly Evaluation[]>;
  /** For an evaluation that has ended: removes the references to its prompts and answers. Idempotent. */
  forgetAnswers(jobId: string): Promise<void>;
}

export interface EvaluationOfStep {
  readonly evaluation: Evaluation;
  /** Step of the checkpoint that answers; null until its job runs. */
  readonly step: number | null;
}

/** The evaluation that is created with a job. */
export interface NewEvaluation {
  readonly promptCount: number;
  readonly sampleCount: number;
}

export interface EvaluationCounts {
  readonly answeredCount: number;
  readonly failedCount: number;
}

export interface EvaluationEnd {
  readonly status: 'succeeded' | 'failed' | 'cancelled';
  readonly errorMessage: string | null;
  readonly endedAtMs: number;
}
