// What must survive a restart: rows, never bodies (those are blobs). Services see only these interfaces; sql/ implements
// them and passes test/support/contract/storage.ts. Every method is one transaction. The caller must refuse reads of other
// entities' rows; ids are globally unique.
import type { ApiKey } from '#domain/api-key';
import type { Checkpoint } from '#domain/checkpoint';
import type { Episode } from '#domain/episode';
import type { Account } from '#domain/limits';
import type { Model } from '#domain/model';
import type { ModelLabels, ModelProject } from '#domain/model-labels';
import type { Listing, Order, Page } from '#domain/page';
import type {
  EventType,
  JobStatus,
  JobType,
  Skipped,
  TrainingEvent,
  TrainingJob,
  WaitingFor,
} from '#domain/training-job';
import type { SavePolicy } from '#domain/save-policy';
import type { KlReference } from '#domain/trajectory';
import type { UsageAmounts, UsageEntry, UsagePart, UsageRow, UsageSum } from '#domain/usage';
import type { AccountStore } from './account-store.ts';
import type { ArtifactStore } from './artifact-store.ts';
import type { OnlineTrainingStore } from './online-training-store.ts';
import type { EpisodeStore } from './episode-store.ts';
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
  readonly episodes: EpisodeStore;
  readonly onlineTraining: OnlineTrainingStore;
  readonly responses: ResponseStore;
  readonly tinker: TinkerStore;
  readonly runs: RunStore;
  readonly inventory: Inventory;
  /** A cheap round trip for health checks. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface ApiKeyStore {
  create(key: ApiKey): Promise<void>;
  findByHash(secretHash: string): Promise<ApiKey | null>;
  /** Oldest first. Null: keys of all entities. */
  list(entity: string | null): Promise<readonly ApiKey[]>;
  /** Only a later time replaces the stored one. */
  touch(id: string, usedAtMs: number): Promise<void>;
  revoke(id: string, nowMs: number): Promise<'revoked' | 'already_revoked' | 'not_found'>;
}

export interface ModelFilter {
  readonly entity: string;
  readonly project?: string;
  readonly name?: string;
  readonly baseModel?: string;
  /** Models over one of these. */
  readonly baseModels?: readonly string[];
  /** A substring of `project/name`; ASCII letters match in either case. */
  readonly search?: string;
  /** The whole tag. */
  readonly tag?: string;
  /** Default: archived models are listed with the others. */
  readonly archived?: 'exclude' | 'only';
}

export interface ModelStore {
  /** Creates the model and its step-0 checkpoint together; returns the existing model if the name is taken. */
  create(
    model: Model,
    stepZero: Checkpoint,
    savePolicy?: SavePolicy | null,
  ): Promise<{ outcome: 'created' | 'exists'; model: Model }>;
  find(id: string): Promise<Model | null>;
  /** Null: all checkpoints are kept, or the model was deleted. */
  findSavePolicy(id: string): Promise<SavePolicy | null>;
  setSavePolicy(id: string, policy: SavePolicy | null): Promise<void>;
  /** By id; a model that was deleted is missing. */
  listLabels(ids: readonly string[]): Promise<ReadonlyMap<string, ModelLabels>>;
  /** What is left out stays as it is. */
  setLabels(id: string, change: Partial<ModelLabels>): Promise<void>;
  /** By name, strictly after the cursor, which is the name of a project. */
  listProjects(entity: string, page: Page): Promise<Listing<ModelProject>>;
  findByName(entity: string, project: string, name: string): Promise<Model | null>;
  /** In order of creation or newest first; or by latest activity: the model was created, or a job of it was created or ended. */
  list(filter: ModelFilter, page: Page, order?: Order | 'latest'): Promise<Listing<Model>>;
  /** Deletes the model, its checkpoints, jobs and events. Returns the blob names and prefixes that nothing refers to any more. */
  delete(id: string): Promise<{ checkpoints: readonly Checkpoint[]; bodyBlobs: readonly string[] } | null>;
}

export interface CheckpointStore {
  find(modelId: string, step: number): Promise<Checkpoint | null>;
  /** `before`: of the steps below this one. */
  findLatest(modelId: string, before?: number): Promise<Checkpoint | null>;
  /** By step. `after` follows the order: in descending order, after means smaller steps. */
  list(modelId: string, page: Page, order: Order): Promise<Listing<Checkpoint>>;
  /**
   * For each of these models: the existing checkpoints among its last so many steps, by model and step. Older steps have no metrics here
   * if those of all models together would be too many for a page.
   */
  listLatest(modelIds: readonly string[], stepsMax: number): Promise<readonly Checkpoint[]>;
  /** Those of these steps that exist, in any order. */
  listAt(modelId: string, steps: readonly number[]): Promise<readonly Checkpoint[]>;
  findById(id: string): Promise<Checkpoint | null>;
  count(modelId: string): Promise<number>;
  /** Creates it as the step after the highest that its model ever had or a running job makes, or a later one. Null: the model was deleted. */
  add(checkpoint: Omit<Checkpoint, 'step'>, atLeastStep?: number): Promise<Checkpoint | null>;
  /** The owner's metadata, separate from the server's own; replaces the previous metadata. */
  setMetadata(id: string, metadata: Readonly<Record<string, unknown>>): Promise<void>;
  findMetadata(id: string): Promise<Readonly<Record<string, unknown>>>;
  /** Its files are about to be read. Only a later time replaces the stored one. */
  noteUse(id: string, usedAtMs: number): Promise<void>;
  /**
   * Steps of a model that are still needed, whatever its policy: used since `usedSinceMs`, or used by an evaluation that
   * has not ended, or named by Tinker clients.
   */
  listNeeded(modelId: string, usedSinceMs: number): Promise<readonly number[]>;
  /** As `mergedMetrics` says and throws. */
  mergeMetrics(id: string, metrics: Readonly<Record<string, number>>): Promise<void>;
  /** Idempotent. */
  delete(
    modelId: string,
    steps: readonly number[],
  ): Promise<{ deleted: readonly Checkpoint[]; notFoundSteps: readonly number[] }>;
}

/** `rewardedAtMs` differs with every reward of an episode. */
export type ReadEpisode = Pick<Episode, 'id' | 'rewardedAtMs'>;

export interface NewJob {
  readonly id: string;
  readonly type: JobType;
  readonly modelId: string;
  readonly entity: string;
  /** The key that submitted it. */
  readonly keyId: string;
  readonly bodyBlob: string;
  readonly createdAtMs: number;
  /** The checkpoint against which its KL is measured. */
  readonly klReference?: KlReference;
  /** Created together with the job. */
  readonly evaluation?: NewEvaluation;
  /** Rewarded episodes of the model, which become trained by this job: with the rewards that it has read. */
  readonly episodes?: readonly ReadEpisode[];
}

export interface NewEvent {
  readonly id: string;
  readonly jobId: string;
  readonly ordinal: number;
  readonly type: EventType;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
}

export interface QueuedJob {
  readonly id: string;
  readonly entity: string;
  readonly baseModel: string;
  readonly waitingFor: WaitingFor | null;
  /** Null: nothing is before it. */
  readonly behind: { readonly id: string; readonly entity: string } | null;
}

export interface JobFilter {
  readonly entity: string;
  readonly modelId?: string;
  readonly status?: JobStatus;
  readonly type?: JobType;
  /** A substring of the model's `project/name`; ASCII letters match in either case. */
  readonly search?: string;
}

/** What a list shows of a job beside its own row. */
export interface JobFacts {
  readonly jobId: string;
  readonly project: string;
  readonly model: string;
  /** Of the checkpoint that it made; null: it made none, or the checkpoint was deleted. */
  readonly metrics: Readonly<Record<string, number>> | null;
}

export interface JobStore {
  /** Throws if the model was deleted, and `episode_conflict` if one of the episodes is not (or no longer) rewarded. */
  create(job: NewJob): Promise<TrainingJob>;
  find(id: string): Promise<TrainingJob | null>;
  /** Newest last, or newest first. */
  list(filter: JobFilter, page: Page, order?: Order): Promise<Listing<TrainingJob>>;
  /** In any order; a job whose model was deleted meanwhile is missing. */
  listFacts(ids: readonly string[]): Promise<readonly JobFacts[]>;
  /** Whatever their status: the filter's own status does not count. A status without jobs is missing. */
  countByStatus(filter: JobFilter): Promise<Readonly<Partial<Record<JobStatus, number>>>>;
  /** The newest job of each of these models that has one. */
  listLatest(modelIds: readonly string[]): Promise<readonly TrainingJob[]>;
  /** The entity's jobs that have not ended. */
  listReferences(entity: string): Promise<readonly { readonly modelId: string; readonly reference: KlReference }[]>;
  /** Null: of all entities. */
  count(status: JobStatus, account: Account | null): Promise<number>;
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
  /** The oldest queued jobs, each with what it waits behind: the job of its model before it, else a running one over the same base model. */
  listQueued(limit: number): Promise<readonly QueuedJob[]>;
  /**
   * Sets what the job waits for if it still is `was`, and with it stores the event, if there is one. `attempt` null: only while it is queued.
   * False: nothing changed.
   */
  noteWaiting(
    id: string,
    attempt: number | null,
    change: { readonly was: WaitingFor | null; readonly now: WaitingFor | null },
    event: Omit<NewEvent, 'ordinal'> | null,
  ): Promise<boolean>;
  /** False: another attempt has taken over the lease. */
  renewLease(id: string, attempt: number, leaseUntilMs: number): Promise<boolean>;
  /** Makes every running job of a stopped worker claimable at once (a single server calls this when it starts). */
  releaseLeases(worker: string | null): Promise<void>;
  /**
   * The step that the job creates: the one after the highest that its model ever had, or the one that an earlier attempt was given.
   * Null: the job no longer belongs to this attempt.
   */
  assignStep(id: string, attempt: number): Promise<number | null>;
  updateProgress(
    id: string,
    attempt: number,
    update: { progress?: number; skipped?: Skipped; startedAtMs?: number; savedAttempt?: number },
  ): Promise<boolean>;
  /**
   * In one transaction: the status (per NEXT_STATUS), the closing event if that ordinal is new, the checkpoint if
   * there is one (otherwise its evaluation is cancelled), and the webhook deliveries. `surplus` are checkpoints to delete, except those
   * that were used since then; the event lists the deleted steps as `deleted_checkpoints`. False: the job no longer belongs to this
   * attempt, and nothing changed.
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
  /** RL jobs that ended before then and whose body is still stored, in the order in which they ended. */
  listWithOldBody(endedBeforeMs: number, limit: number): Promise<readonly TrainingJob[]>;
  /** For a job that has ended: removes the reference to its body. Idempotent. */
  forgetBody(id: string): Promise<void>;
  /** Queued: cancelled at once, with its closing event, its evaluation and webhook deliveries. Running: asks the worker to stop. */
  requestCancel(
    id: string,
    nowMs: number,
    event: NewEvent,
  ): Promise<'cancelled' | 'cancelling' | 'already_finished' | 'not_found'>;
}

export interface EventStore {
  /** Stored once per (jobId, ordinal); false if it already existed. Throws if there is a gap, or the job was deleted. */
  append(event: NewEvent): Promise<boolean>;
  /** By ordinal, strictly after the cursor. */
  list(jobId: string, page: Page): Promise<Listing<TrainingEvent>>;
  /** The first so many with an ordinal of their own. */
  first(jobId: string, count: number): Promise<readonly TrainingEvent[]>;
  /** Of several jobs together, by job and then as `list`: at most so many. */
  listOfJobs(jobIds: readonly string[], rowsMax: number): Promise<Listing<TrainingEvent>>;
  /** Those with an ordinal of their own. */
  count(jobId: string): Promise<number>;
  /** The event with the highest ordinal. */
  findLatest(jobId: string): Promise<TrainingEvent | null>;
}

/** Remembers the answer to a creating POST, per entity, route and Idempotency-Key, for 24 h. */
export interface IdempotencyStore {
  /**
   * `new`: the caller now owns the key and must call `complete`, `release` or `abandon`. `resourceId` is the one that it offered, or the one
   * of an earlier request with this key that ended without an answer: the caller must look for what that request created.
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
  /** Nothing was created: the key is forgotten. */
  release(key: string): Promise<void>;
  /**
   * Something may have been created: the next request with the key starts at once, with the same resource id. `heldSinceMs` is
   * when the caller started; if another request has taken the key since, it keeps it.
   */
  abandon(key: string, heldSinceMs: number): Promise<void>;
  /** Releases every key without an answer: the servers that held them are gone. */
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

/** Totals of all rows that match the filter, whatever the page shows. */
export interface UsageListing extends Listing<UsageRow> {
  readonly totals: UsageAmounts;
}

export interface UsageSums extends Listing<UsageSum> {
  /** Of everything that matches the filter. */
  readonly totals: UsageAmounts;
}

export interface UsageStore {
  /** Sums into one row per key. If it throws, nothing was added and the same entries may be passed again. */
  add(entries: readonly UsageEntry[]): Promise<void>;
  /** By day, then in order of first use, so that new rows appear after the pages already read. */
  list(filter: UsageFilter, page: Page): Promise<UsageListing>;
  /** Most tokens first. */
  sums(filter: UsageFilter, by: readonly UsagePart[], limit: number): Promise<UsageSums>;
}
