// How far evaluations are, and who has the right to run them. Part of storage.ts; rows are made with their job (jobs.create), end
// with one that makes no checkpoint, and go with it.
import type { Evaluation } from '#domain/evaluation';
import type { Listing, Order, Page } from '#domain/page';

export interface EvaluationStore {
  find(jobId: string): Promise<Evaluation | null>;
  /** By submission; the id of a row is its job's. Throws `unknownCursor`. */
  list(modelId: string, page: Page, order: Order): Promise<Listing<EvaluationOfStep>>;
  /**
   * Takes the oldest whose job has made its checkpoint and that is queued, or running under a lapsed lease, as jobs.claim does:
   * round robin by entity, and later writes name the attempt. `baseModels`: only of models over one of these.
   */
  claim(worker: string, nowMs: number, leaseMs: number, baseModels: readonly string[]): Promise<Evaluation | null>;
  /** `cancelled`: its owner asked for that. `lost`: it is another attempt's, over, or deleted. */
  renewLease(jobId: string, attempt: number, leaseUntilMs: number): Promise<'kept' | 'cancelled' | 'lost'>;
  /** Makes every running one claimable at once (the single server does so when it starts). */
  releaseLeases(): Promise<void>;
  /** False: as `lost`. */
  updateProgress(jobId: string, attempt: number, counts: EvaluationCounts): Promise<boolean>;
  /** False: as `lost`. */
  finish(jobId: string, attempt: number, end: EvaluationEnd): Promise<boolean>;
  /** Queued: cancelled at once. Running: asks whoever runs it to stop. */
  requestCancel(jobId: string, nowMs: number): Promise<'cancelled' | 'cancelling' | 'already_finished' | 'not_found'>;
  /** That ended before then and whose answers are still there, in the order in which they ended. */
  listWithOldAnswers(endedBeforeMs: number, limit: number): Promise<readonly Evaluation[]>;
  /** Of one that has ended: nothing refers to its prompts and answers any more. Idempotent. */
  forgetAnswers(jobId: string): Promise<void>;
}

export interface EvaluationOfStep {
  readonly evaluation: Evaluation;
  /** Of the checkpoint that answers; null until its job runs. */
  readonly step: number | null;
}

/** What a job brings when it is made. */
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
