// What must survive: rows, never bodies (those are blobs). Services see these interfaces only; memory/ and sql/
// implement them and sign test/contract/storage.ts. Every method is one transaction. Reads of other entities' rows are
// the caller's to refuse; ids are globally unique.
import type { ApiKey } from '#domain/api-key';
import type { Checkpoint } from '#domain/checkpoint';
import type { Account } from '#domain/limits';
import type { Model } from '#domain/model';
import type { Listing, Order, Page } from '#domain/page';
import type { EventType, JobStatus, JobType, Skipped, TrainingEvent, TrainingJob } from '#domain/training-job';
import type { SavePolicy } from '#domain/save-policy';
import type { KlReference } from '#domain/trajectory';
import type { UsageAmounts, UsageEntry, UsageRow } from '#domain/usage';
import type { AccountStore } from './account-store.ts';
import type { ArtifactStore } from './artifact-store.ts';
import type { EvaluationStore, NewEvaluation } from './evaluation-store.ts';
import type { Inventory } from './inventory.ts';
import type { ResponseStore } from './response-store.ts';
import type { TinkerStore } from './tinker-store.ts';
import type { RunStore } from './run-store.ts';
import type { TrajectoryLogStore } from './trajectory-log-store.ts';
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
  readonly trajectoryLogs: TrajectoryLogStore;
  readonly evaluations: EvaluationStore;
  readonly responses: ResponseStore;
  readonly tinker: TinkerStore;
  readonly runs: RunStore;
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
  /** Stands somewhere in `project/name`; ASCII letters in either case. */
  readonly search?: string;
}

export interface ModelStore {
  /** Creates the model and its step-0 checkpoint together; gives back the existing model if the name is taken. */
  create(
    model: Model,
    stepZero: Checkpoint,
    savePolicy?: SavePolicy | null,
  ): Promise<{ outcome: 'created' | 'exists'; model: Model }>;
  find(id: string): Promise<Model | null>;
  /** Null: all its checkpoints stay, or it is gone. */
  findSavePolicy(id: string): Promise<SavePolicy | null>;
  setSavePolicy(id: string, policy: SavePolicy | null): Promise<void>;
  findByName(entity: string, project: string, name: string): Promise<Model | null>;
  /** In order of creation, or from the newest on; or from the one on that was made, or had a job that came or ended, last. */
  list(filter: ModelFilter, page: Page, order?: Order | 'latest'): Promise<Listing<Model>>;
  /** Removes the model, its checkpoints, jobs and events. Gives the blob names and prefixes that nothing refers to any more. */
  delete(id: string): Promise<{ checkpoints: readonly Checkpoint[]; bodyBlobs: readonly string[] } | null>;
}

export interface CheckpointStore {
  find(modelId: string, step: number): Promise<Checkpoint | null>;
  findLatest(modelId: string): Promise<Checkpoint | null>;
  /** By step. `after` combines with the order: descending, after means smaller steps. */
  list(modelId: string, page: Page, order: Order): Promise<Listing<Checkpoint>>;
  /** Of each of these models: those among its last so many steps that are there, by model and step. */
  listLatest(modelIds: readonly string[], stepsMax: number): Promise<readonly Checkpoint[]>;
  findById(id: string): Promise<Checkpoint | null>;
  count(modelId: string): Promise<number>;
  /** As the step after the highest that its model ever had, or a later one. Null: the model is gone. */
  add(checkpoint: Omit<Checkpoint, 'step'>, atLeastStep?: number): Promise<Checkpoint | null>;
  /** What its owner noted beside the server's own; in the place of what was noted. */
  setMetadata(id: string, metadata: Readonly<Record<string, unknown>>): Promise<void>;
  findMetadata(id: string): Promise<Readonly<Record<string, unknown>>>;
  /** Somebody is about to read its files. Later times win. */
  noteUse(id: string, usedAtMs: number): Promise<void>;
  /**
   * Steps of a model that something still needs, whatever its policy: they were used since `usedSinceMs`, an evaluation that
   * has not ended asks there, or Tinker clients have a name for them.
   */
  listNeeded(modelId: string, usedSinceMs: number): Promise<readonly number[]>;
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
  /** What its KL is measured against. */
  readonly klReference?: KlReference;
  /** Made with it. */
  readonly evaluation?: NewEvaluation;
}

export interface NewEvent {
  readonly id: string;
  readonly jobId: string;
  readonly ordinal: number;
  readonly type: EventType;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
}

export interface JobFilter {
  readonly entity: string;
  readonly modelId?: string;
  readonly status?: JobStatus;
}

export interface JobStore {
  /** Throws when the model is gone. */
  create(job: NewJob): Promise<TrainingJob>;
  find(id: string): Promise<TrainingJob | null>;
  /** Newest last, or first. */
  list(filter: JobFilter, page: Page, order?: Order): Promise<Listing<TrainingJob>>;
  /** The newest of each of these models that has one. */
  listLatest(modelIds: readonly string[]): Promise<readonly TrainingJob[]>;
  /** Of the entity's jobs that have not ended. */
  listReferences(entity: string): Promise<readonly { readonly modelId: string; readonly reference: KlReference }[]>;
  /** Null: of everyone. */
  countQueued(account: Account | null): Promise<number>;
  /**
   * Takes the oldest job that is queued, or running under a lapsed lease (or one that ends later than three leases from now:
   * the clock was set back), and whose model has no older unfinished job.
   * Increments `attempt`; later writes name the attempt, so a stale worker's match no row. Round robin by entity: among
   * entities with such jobs, the one whose last claim is oldest goes first. `baseModels`: only jobs of models over one of
   * these, or over none of those; null: over any.
   */
  claim(
    worker: string,
    nowMs: number,
    leaseMs: number,
    baseModels: readonly string[] | { readonly except: readonly string[] } | null,
  ): Promise<TrainingJob | null>;
  /** False: the lease was lost to another attempt. */
  renewLease(id: string, attempt: number, leaseUntilMs: number): Promise<boolean>;
  /** Makes every running job of a stopped worker claimable at once (the single server does so when it starts). */
  releaseLeases(worker: string | null): Promise<void>;
  /**
   * The step that the job makes: the one after the highest that its model ever had, or what an earlier attempt was given.
   * Null: not this attempt's job any more.
   */
  assignStep(id: string, attempt: number): Promise<number | null>;
  updateProgress(
    id: string,
    attempt: number,
    update: { progress?: number; skipped?: Skipped; startedAtMs?: number; savedAttempt?: number },
  ): Promise<boolean>;
  /**
   * In one transaction: the status (per NEXT_STATUS), the closing event if that ordinal is new, the checkpoint if
   * there is one (else its evaluation is cancelled), and what webhooks will get. `surplus` are checkpoints that go, but for those
   * that were used since then; the event names the steps that went, as `deleted_checkpoints`. False: not this attempt's job any more,
   * nothing changed.
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
      surplus?: { readonly ids: readonly string[]; readonly usedSinceMs: number };
    },
  ): Promise<boolean>;
  /** RL jobs that ended before then and whose body is still there, in the order in which they ended. */
  listWithOldBody(endedBeforeMs: number, limit: number): Promise<readonly TrainingJob[]>;
  /** Of a job that has ended: nothing refers to its body any more. Idempotent. */
  forgetBody(id: string): Promise<void>;
  /** Queued: cancelled at once, with its closing event and its evaluation, and webhooks hear of it. Running: asks the worker to stop. */
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
  /** The one with the highest ordinal. */
  findLatest(jobId: string): Promise<TrainingEvent | null>;
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
  /**
   * Something may have been made: the next request with the key begins at once, with the same resource id. `heldSinceMs` is
   * when the caller began; what somebody else has begun since stays theirs.
   */
  letGo(key: string, heldSinceMs: number): Promise<void>;
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
