// What must survive: rows, never bodies (those are blobs). Services see these interfaces only; memory.ts and sql/
// implement them and sign test/contract/storage.ts. Every method is one transaction. Reads of other entities' rows are
// the caller's to refuse; ids are globally unique.
import type { ApiKey } from '#domain/api-key';
import type { Checkpoint } from '#domain/checkpoint';
import type { Account } from '#domain/limits';
import type { Model } from '#domain/model';
import type { Listing, Page } from '#domain/page';
import type { EventType, JobStatus, JobType, Skipped, TrainingEvent, TrainingJob } from '#domain/training-job';
import type { UsageAmounts, UsageEntry, UsageRow } from '#domain/usage';
import type { AccountStore } from './account-store.ts';
import type { ArtifactStore } from './artifact-store.ts';
import type { Inventory } from './inventory.ts';
import type { WebhookStore } from './webhook-store.ts';

export interface Storage {
  readonly apiKeys: ApiKeyStore;
  readonly models: ModelStore;
  readonly checkpoints: CheckpointStore;
  readonly jobs: JobStore;
  readonly events: EventStore;
  readonly artifacts: ArtifactStore;
  readonly idempotency: IdempotencyStore;
  readonly usage: UsageStore;
  readonly accounts: AccountStore;
  readonly webhooks: WebhookStore;
  readonly inventory: Inventory;
  /** Cheap round trip for health checks. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface ApiKeyStore {
  create(key: ApiKey): Promise<void>;
  findByHash(secretHash: string): Promise<ApiKey | null>;
  /** Oldest first. Null: of every entity. */
  list(entity: string | null): Promise<readonly ApiKey[]>;
  /** Later times win. */
  touch(id: string, usedAtMs: number): Promise<void>;
  revoke(id: string, nowMs: number): Promise<'revoked' | 'already_revoked' | 'not_found'>;
}

export interface ModelFilter {
  readonly entity: string;
  readonly project?: string;
  readonly name?: string;
  readonly baseModel?: string;
}

export interface ModelStore {
  /** Creates the model and its step-0 checkpoint together; gives back the existing model if the name is taken. */
  create(model: Model, stepZero: Checkpoint): Promise<{ outcome: 'created' | 'exists'; model: Model }>;
  find(id: string): Promise<Model | null>;
  findByName(entity: string, project: string, name: string): Promise<Model | null>;
  /** In order of creation. */
  list(filter: ModelFilter, page: Page): Promise<Listing<Model>>;
  /** Removes the model, its checkpoints, jobs and events. Gives the blob names and prefixes that nothing refers to any more. */
  delete(id: string): Promise<{ checkpoints: readonly Checkpoint[]; bodyBlobs: readonly string[] } | null>;
}

export interface CheckpointStore {
  find(modelId: string, step: number): Promise<Checkpoint | null>;
  findLatest(modelId: string): Promise<Checkpoint | null>;
  /** By step. `after` combines with the order: descending, after means smaller steps. */
  list(modelId: string, page: Page, order: 'asc' | 'desc'): Promise<Listing<Checkpoint>>;
  /** Merged over what is there: a later value of the same metric wins. */
  mergeMetrics(id: string, metrics: Readonly<Record<string, number>>): Promise<void>;
  /** Idempotent. */
  delete(
    modelId: string,
    steps: readonly number[],
  ): Promise<{ deleted: readonly Checkpoint[]; notFoundSteps: readonly number[] }>;
}

export interface NewJob {
  readonly id: string;
  readonly type: JobType;
  readonly modelId: string;
  readonly entity: string;
  /** Who submitted it. */
  readonly keyId: string;
  readonly bodyBlob: string;
  readonly createdAtMs: number;
}

export interface NewEvent {
  readonly id: string;
  readonly jobId: string;
  readonly ordinal: number;
  readonly type: EventType;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
}

export interface JobStore {
  /** Throws when the model is gone. */
  create(job: NewJob): Promise<TrainingJob>;
  find(id: string): Promise<TrainingJob | null>;
  /** Newest last. */
  list(filter: { entity: string; modelId?: string; status?: JobStatus }, page: Page): Promise<Listing<TrainingJob>>;
  /** Null: of everyone. */
  countQueued(account: Account | null): Promise<number>;
  /**
   * Takes the oldest job that is queued, or running under a lapsed lease (or one that ends later than three leases from now:
   * the clock was set back), and whose model has no older unfinished job.
   * Increments `attempt`; later writes name the attempt, so a stale worker's match no row. Entities take turns: among
   * entities with such jobs, the one whose last claim is oldest goes first. `baseModels`: only jobs of models over one of
   * these.
   */
  claim(worker: string, nowMs: number, leaseMs: number, baseModels?: readonly string[]): Promise<TrainingJob | null>;
  /** False: the lease was lost to another attempt. */
  renewLease(id: string, attempt: number, leaseUntilMs: number): Promise<boolean>;
  /** Makes every running job of a stopped worker claimable at once (the single server does so when it starts). */
  releaseLeases(worker: string | null): Promise<void>;
  updateProgress(
    id: string,
    attempt: number,
    update: { step?: number; progress?: number; skipped?: Skipped; startedAtMs?: number; savedAttempt?: number },
  ): Promise<boolean>;
  /**
   * In one transaction: the status (per NEXT_STATUS), the closing event if that ordinal is new, the checkpoint if
   * there is one, and what webhooks are to be told. False: not this attempt's job any more, nothing changed.
   */
  finish(
    id: string,
    attempt: number,
    result: {
      status: 'succeeded' | 'failed' | 'cancelled';
      errorMessage: string | null;
      endedAtMs: number;
      event: NewEvent;
      checkpoint: Checkpoint | null;
    },
  ): Promise<boolean>;
  /** Queued: cancelled at once, with its closing event, and webhooks are told. Running: asks the worker to stop. */
  requestCancel(
    id: string,
    nowMs: number,
    event: NewEvent,
  ): Promise<'cancelled' | 'cancelling' | 'already_finished' | 'not_found'>;
}

export interface EventStore {
  /** Stored once per (jobId, ordinal); false when it was there already. Throws for a gap, and when the job is gone. */
  append(event: NewEvent): Promise<boolean>;
  /** By ordinal, strictly after the cursor. */
  list(jobId: string, page: Page): Promise<Listing<TrainingEvent>>;
  count(jobId: string): Promise<number>;
}

/** Remembers what a creating POST answered, per entity, route and Idempotency-Key, for 24 h. */
export interface IdempotencyStore {
  /**
   * `new`: the caller now owns the key and must call `complete`, `release` or `letGo`. `resourceId` is what it offered, or what a
   * request with this key was given that ended without an answer: what that one made must be found, not made again.
   */
  begin(
    key: string,
    bodyHash: string,
    resourceId: string,
    nowMs: number,
  ): Promise<
    | { outcome: 'new'; resourceId: string }
    | { outcome: 'done'; response: string }
    | { outcome: 'in_progress' | 'mismatch' }
  >;
  complete(key: string, response: string): Promise<void>;
  /** Nothing was made: the key is forgotten. */
  release(key: string): Promise<void>;
  /** Something may have been made: the next request with the key begins at once, with the same resource id. */
  letGo(key: string): Promise<void>;
  /** Every key without an answer can begin again: whoever held them is gone. */
  releaseAll(): Promise<void>;
}

export interface UsageFilter {
  readonly entity: string;
  readonly keyId?: string;
  readonly project?: string;
  readonly model?: string;
  /** First and last day, both included. */
  readonly from?: string;
  readonly to?: string;
}

/** Of all rows that the filter lets through, whatever the page shows. */
export interface UsageListing extends Listing<UsageRow> {
  readonly totals: UsageAmounts;
}

export interface UsageStore {
  /** Sums into one row per key. Throws: nothing was added, the same entries may be given again. */
  add(entries: readonly UsageEntry[]): Promise<void>;
  /** By day, then in order of first use, so that rows which come while someone reads pages come behind those read. */
  list(filter: UsageFilter, page: Page): Promise<UsageListing>;
}
