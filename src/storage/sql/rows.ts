// The tables as TypeScript types, and the one place where rows (snake_case, JSON as text) become domain objects and back.
import type { ColumnType, Insertable, Selectable } from 'kysely';
import type { ApiKey, Scope } from '#domain/api-key';
import type { Checkpoint } from '#domain/checkpoint';
import type { Limits } from '#domain/limits';
import type { Model } from '#domain/model';
import type { ModelLabels } from '#domain/model-labels';
import type {
  EventType,
  JobStatus,
  JobType,
  Skipped,
  TrainingEvent,
  TrainingJob,
  WaitingFor,
} from '#domain/training-job';
import type { UsageEntry, UsageRow } from '#domain/usage';
import type { Webhook, WebhookDelivery, WebhookEvent } from '#domain/webhook';
import type { NewEvent } from '../storage.ts';
import type { EpisodeCallTable, EpisodeTable } from './episode-rows.ts';
import type { OnlineTrainingTable } from './online-training-rows.ts';
import type { EvaluationTable } from './evaluation-rows.ts';
import type { ResponseTable } from './response-rows.ts';
import type { TinkerTables } from './tinker-rows.ts';
import type {
  ArtifactAliasTable,
  ArtifactContentTable,
  ArtifactDraftTable,
  ArtifactFileTable,
  ArtifactTable,
  RunArtifactTable,
} from './artifact-rows.ts';
import type { RunHistoryTable, RunTable } from './run-rows.ts';

export interface Tables extends TinkerTables {
  api_keys: ApiKeyTable;
  models: ModelTable;
  checkpoints: CheckpointTable;
  training_jobs: TrainingJobTable;
  training_events: TrainingEventTable;
  idempotency_keys: IdempotencyKeyTable;
  usage: UsageTable;
  artifact_contents: ArtifactContentTable;
  artifacts: ArtifactTable;
  artifact_files: ArtifactFileTable;
  artifact_aliases: ArtifactAliasTable;
  artifact_drafts: ArtifactDraftTable;
  entity_limits: EntityLimitsTable;
  stored_blobs: StoredBlobTable;
  webhooks: WebhookTable;
  webhook_deliveries: WebhookDeliveryTable;
  trajectory_logs: TrajectoryLogTable;
  evaluations: EvaluationTable;
  responses: ResponseTable;
  runs: RunTable;
  run_history: RunHistoryTable;
  run_artifacts: RunArtifactTable;
  episodes: EpisodeTable;
  episode_calls: EpisodeCallTable;
  online_training: OnlineTrainingTable;
}

export interface ApiKeyTable {
  id: string;
  entity: string;
  name: string;
  secret_hash: string;
  scopes: string;
  limits: string;
  created_at_ms: number;
  last_used_at_ms: number | null;
  revoked_at_ms: number | null;
}

export interface EntityLimitsTable {
  entity: string;
  limits: string;
}

export interface StoredBlobTable {
  blob: string;
  entity: string;
  key_id: string;
  size_bytes: number;
}

export interface ModelTable {
  id: string;
  /** Order of creation. */
  ordinal: number;
  entity: string;
  project: string;
  name: string;
  base_model: string;
  run_id: string | null;
  created_at_ms: number;
  /** The highest step that it ever had, deleted or not. */
  last_step: number;
  /** When it was created, or when a job of it was created or ended. */
  active_at_ms: number;
  /** JSON of a SavePolicy; null: all checkpoints are kept. */
  save_policy: ColumnType<string | null, string | null, string | null>;
  /** A JSON array of texts. */
  tags: ColumnType<string, never, string>;
  note: ColumnType<string | null, never, string | null>;
  archived_at_ms: ColumnType<number | null, never, number | null>;
}

export interface CheckpointTable {
  id: string;
  model_id: string;
  step: number;
  metrics: string;
  blob_prefix: string;
  created_at_ms: number;
  fresh: number;
  /** JSON; null: no metadata. */
  metadata: ColumnType<string | null, never, string>;
  /** When its files were last about to be read; 0: unknown. */
  used_at_ms: ColumnType<number, never, number>;
}

export interface TrajectoryLogTable {
  id: string;
  model_id: string;
  split: string;
  step: number;
  blob: string;
  group_count: number;
  trajectory_count: number;
  size_bytes: number;
  created_at_ms: number;
  /** The job whose evaluation these rewards belong to. */
  evaluation_job_id: string | null;
}

export interface TrainingJobTable {
  id: string;
  /** Order of submission. */
  ordinal: number;
  type: JobType;
  model_id: string;
  entity: string;
  key_id: string;
  status: JobStatus;
  body_blob: string;
  attempt: number;
  saved_attempt: number;
  worker: string | null;
  lease_until_ms: number | null;
  claimed_at_ms: number | null;
  cancel_requested: number;
  step: number | null;
  progress: number;
  skipped: string;
  error_message: string | null;
  /** JSON of a WaitingFor. */
  waiting_for: ColumnType<string | null, never, string | null>;
  created_at_ms: number;
  started_at_ms: number | null;
  ended_at_ms: number | null;
  /** JSON of a KlReference; null: the base model, or none. */
  kl_reference: string | null;
}

export interface TrainingEventTable {
  id: string;
  job_id: string;
  ordinal: number;
  /** 0; 1, 2, … for `training_waiting`, which follow the event with this ordinal. */
  part: number;
  type: EventType;
  data: string;
  created_at_ms: number;
}

export interface IdempotencyKeyTable {
  key: string;
  body_hash: string;
  /** Of the resource that the request creates. */
  resource_id: string;
  /** Null while the first request is still running. */
  response: string | null;
  created_at_ms: number;
  /** When the request that currently holds the key started. */
  held_since_ms: number;
}

export interface UsageTable {
  id: string;
  /** Order of first use. */
  ordinal: number;
  entity: string;
  key_id: string;
  project: string;
  model: string;
  day_utc: string;
  requests: number;
  prompt_tokens: number;
  cached_tokens: number;
  completion_tokens: number;
}

export interface WebhookTable {
  id: string;
  entity: string;
  url: string;
  events: string;
  secret: string;
  created_at_ms: number;
  disabled_at_ms: number | null;
}

export interface WebhookDeliveryTable {
  id: string;
  webhook_id: string;
  job_id: string;
  event: WebhookEvent;
  payload: string;
  created_at_ms: number;
  attempts: number;
  next_attempt_at_ms: number | null;
  last_status: number | null;
  last_error: string | null;
  delivered_at_ms: number | null;
}

export const toApiKey = (row: Selectable<ApiKeyTable>): ApiKey => ({
  id: row.id,
  entity: row.entity,
  name: row.name,
  secretHash: row.secret_hash,
  scopes: JSON.parse(row.scopes) as Scope[],
  limits: JSON.parse(row.limits) as Limits,
  createdAtMs: row.created_at_ms,
  lastUsedAtMs: row.last_used_at_ms,
  revokedAtMs: row.revoked_at_ms,
});

export const toModel = (row: Selectable<ModelTable>): Model => ({
  id: row.id,
  entity: row.entity,
  project: row.project,
  name: row.name,
  baseModel: row.base_model,
  runId: row.run_id,
  createdAtMs: row.created_at_ms,
});

export const toLabels = (row: Pick<Selectable<ModelTable>, 'tags' | 'note' | 'archived_at_ms'>): ModelLabels => ({
  tags: JSON.parse(row.tags) as string[],
  note: row.note,
  archivedAtMs: row.archived_at_ms,
});

export const toCheckpoint = (row: Omit<Selectable<CheckpointTable>, 'metadata' | 'used_at_ms'>): Checkpoint => ({
  id: row.id,
  modelId: row.model_id,
  step: row.step,
  metrics: JSON.parse(row.metrics) as Record<string, number>,
  blobPrefix: row.blob_prefix,
  fresh: row.fresh !== 0,
  createdAtMs: row.created_at_ms,
});

export const fromCheckpoint = (checkpoint: Checkpoint): Insertable<CheckpointTable> => ({
  id: checkpoint.id,
  model_id: checkpoint.modelId,
  step: checkpoint.step,
  metrics: JSON.stringify(checkpoint.metrics),
  blob_prefix: checkpoint.blobPrefix,
  created_at_ms: checkpoint.createdAtMs,
  fresh: Number(checkpoint.fresh),
});

export const toTrainingJob = (row: Selectable<TrainingJobTable>): TrainingJob => ({
  id: row.id,
  type: row.type,
  modelId: row.model_id,
  entity: row.entity,
  keyId: row.key_id,
  status: row.status,
  bodyBlob: row.body_blob,
  attempt: row.attempt,
  savedAttempt: row.saved_attempt,
  cancelRequested: row.cancel_requested !== 0,
  step: row.step,
  progress: row.progress,
  skipped: JSON.parse(row.skipped) as Skipped,
  errorMessage: row.error_message,
  waitingFor: row.waiting_for === null ? null : (JSON.parse(row.waiting_for) as WaitingFor),
  createdAtMs: row.created_at_ms,
  startedAtMs: row.started_at_ms,
  endedAtMs: row.ended_at_ms,
});

export const toTrainingEvent = (row: Selectable<TrainingEventTable>): TrainingEvent => ({
  id: row.id,
  jobId: row.job_id,
  ordinal: row.ordinal,
  type: row.type,
  data: JSON.parse(row.data) as Record<string, unknown>,
  createdAtMs: row.created_at_ms,
});

export const fromEvent = (event: NewEvent, part = 0): TrainingEventTable => ({
  id: event.id,
  job_id: event.jobId,
  ordinal: event.ordinal,
  part,
  type: event.type,
  data: JSON.stringify(event.data),
  created_at_ms: event.createdAtMs,
});

export const toUsageRow = (row: Selectable<UsageTable>): UsageRow => ({
  id: row.id,
  entity: row.entity,
  keyId: row.key_id,
  project: row.project,
  model: row.model,
  dayUtc: row.day_utc,
  requests: row.requests,
  promptTokens: row.prompt_tokens,
  cachedTokens: row.cached_tokens,
  completionTokens: row.completion_tokens,
});

export const fromUsage = (id: string, ordinal: number, entry: UsageEntry): UsageTable => ({
  id,
  ordinal,
  entity: entry.entity,
  key_id: entry.keyId,
  project: entry.project,
  model: entry.model,
  day_utc: entry.dayUtc,
  requests: entry.requests,
  prompt_tokens: entry.promptTokens,
  cached_tokens: entry.cachedTokens,
  completion_tokens: entry.completionTokens,
});

export const toWebhook = (row: Selectable<WebhookTable>): Webhook => ({
  id: row.id,
  entity: row.entity,
  url: row.url,
  events: JSON.parse(row.events) as WebhookEvent[],
  secret: row.secret,
  createdAtMs: row.created_at_ms,
  disabledAtMs: row.disabled_at_ms,
});

export const fromWebhook = (webhook: Webhook): WebhookTable => ({
  id: webhook.id,
  entity: webhook.entity,
  url: webhook.url,
  events: JSON.stringify(webhook.events),
  secret: webhook.secret,
  created_at_ms: webhook.createdAtMs,
  disabled_at_ms: webhook.disabledAtMs,
});

export const toWebhookDelivery = (row: Selectable<WebhookDeliveryTable>): WebhookDelivery => ({
  id: row.id,
  webhookId: row.webhook_id,
  jobId: row.job_id,
  event: row.event,
  payload: row.payload,
  createdAtMs: row.created_at_ms,
  attempts: row.attempts,
  nextAttemptAtMs: row.next_attempt_at_ms,
  lastStatus: row.last_status,
  lastError: row.last_error,
  deliveredAtMs: row.delivered_at_ms,
});

export const fromWebhookDelivery = (delivery: WebhookDelivery): WebhookDeliveryTable => ({
  id: delivery.id,
  webhook_id: delivery.webhookId,
  job_id: delivery.jobId,
  event: delivery.event,
  payload: delivery.payload,
  created_at_ms: delivery.createdAtMs,
  attempts: delivery.attempts,
  next_attempt_at_ms: delivery.nextAttemptAtMs,
  last_status: delivery.lastStatus,
  last_error: delivery.lastError,
  delivered_at_ms: delivery.deliveredAtMs,
});
