// Stored responses, and the right to answer background responses. Part of storage.ts.
import type { Account } from '#domain/limits';
import type { StoredResponse } from '#domain/stored-response';

export interface ResponseStore {
  /** Queued, or ended. Once per id; an existing row is not changed. */
  create(response: StoredResponse): Promise<void>;
  find(id: string): Promise<StoredResponse | null>;
  /**
   * Claims the oldest response that is queued, or in progress under a lapsed lease, like jobs.claim: round robin by entity, and later
   * writes name the attempt. `baseModels`: only these.
   */
  claim(worker: string, nowMs: number, leaseMs: number, baseModels: readonly string[]): Promise<StoredResponse | null>;
  /** False: it belongs to another attempt, has ended, or was cancelled or deleted. */
  renewLease(id: string, attempt: number, leaseUntilMs: number): Promise<boolean>;
  /** Queued again, as if this attempt had not happened. No effect if it belongs to another attempt. */
  release(id: string, attempt: number): Promise<void>;
  /** Makes each response in progress claimable at once (a single server calls this when it starts). */
  releaseLeases(): Promise<void>;
  /** False: as for renewLease. `blob` replaces the previous blob. */
  finish(id: string, attempt: number, end: ResponseEnd): Promise<boolean>;
  /** Queued or in progress: cancelled at once; the worker that answers it finds out when it renews its lease. */
  cancel(id: string, nowMs: number): Promise<'cancelled' | 'already_finished' | 'not_found'>;
  /** In any state. Null: it did not exist. */
  delete(id: string): Promise<StoredResponse | null>;
  /** Those queued or in progress. Null: of all entities. */
  countUnfinished(account: Account | null): Promise<number>;
  /** Those that have ended and were created before then, oldest first. */
  listBefore(createdBeforeMs: number, limit: number): Promise<readonly StoredResponse[]>;
}

export interface ResponseEnd extends Pick<StoredResponse, 'blob' | 'error'> {
  readonly status: 'completed' | 'incomplete' | 'failed';
  readonly endedAtMs: number;
}
