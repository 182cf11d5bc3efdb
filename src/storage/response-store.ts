// Answers of Responses that are kept, and who has the right to answer those of the background. Part of storage.ts.
import type { Account } from '#domain/limits';
import type { StoredResponse } from '#domain/stored-response';

export interface ResponseStore {
  /** Queued, or ended. Once per id; what is there stays. */
  create(response: StoredResponse): Promise<void>;
  find(id: string): Promise<StoredResponse | null>;
  /**
   * Takes the oldest that is queued, or in progress under a lapsed lease, as jobs.claim does: round robin by entity, and later writes
   * name the attempt. `baseModels`: only of these.
   */
  claim(worker: string, nowMs: number, leaseMs: number, baseModels: readonly string[]): Promise<StoredResponse | null>;
  /** False: it is another attempt's, over, cancelled or deleted. */
  renewLease(id: string, attempt: number, leaseUntilMs: number): Promise<boolean>;
  /** Queued again, as if this attempt had not been. Nothing where it is another's. */
  release(id: string, attempt: number): Promise<void>;
  /** Makes each that is in progress claimable at once (the single server does so when it starts). */
  releaseLeases(): Promise<void>;
  /** False: as renewLease. `blob`: instead of the one that was named before. */
  finish(id: string, attempt: number, end: ResponseEnd): Promise<boolean>;
  /** Queued or in progress: cancelled at once; whoever answers it finds out by its lease. */
  cancel(id: string, nowMs: number): Promise<'cancelled' | 'already_finished' | 'not_found'>;
  /** In whatever state. Null: it was not there. */
  delete(id: string): Promise<StoredResponse | null>;
  /** Queued or in progress. Null: of everyone. */
  countUnfinished(account: Account | null): Promise<number>;
  /** That have ended, and were made before then, oldest first. */
  listBefore(createdBeforeMs: number, limit: number): Promise<readonly StoredResponse[]>;
}

export interface ResponseEnd extends Pick<StoredResponse, 'blob' | 'error'> {
  readonly status: 'completed' | 'incomplete' | 'failed';
  readonly endedAtMs: number;
}
