// The tables of the Tinker protocol as TypeScript types, and their rows as domain objects. All other tables are in rows.ts.
import type { Selectable } from 'kysely';
import type {
  CheckpointKind,
  ErrorCategory,
  OperationKind,
  TinkerCheckpoint,
  TinkerLora,
  TinkerOperation,
  TinkerRun,
  TinkerSampler,
  TinkerSession,
} from '#domain/tinker';
import type { WaitingFor } from '#domain/training-job';

export interface TinkerTables {
  tinker_sessions: TinkerSessionTable;
  tinker_runs: TinkerRunTable;
  tinker_operations: TinkerOperationTable;
  tinker_samplers: TinkerSamplerTable;
  tinker_checkpoints: TinkerCheckpointTable;
}

interface TinkerSessionTable {
  id: string;
  entity: string;
  key_id: string;
  tags: string;
  metadata: string;
  created_at_ms: number;
  seen_at_ms: number;
  ended_at_ms: number | null;
}

interface TinkerRunTable {
  id: string;
  session_id: string;
  entity: string;
  key_id: string;
  model_id: string;
  base_model: string;
  served_as: string;
  lora: string;
  resets_optimizer: number;
  metadata: string;
  attempt: number;
  done_seq: number;
  state_seq: number;
  state_blob: string | null;
  worker: string | null;
  lease_until_ms: number;
  claimed_at_ms: number;
  created_at_ms: number;
  used_at_ms: number;
  waiting_for: string | null;
}

interface TinkerOperationTable {
  run_id: string;
  seq: number;
  kind: OperationKind;
  body_hash: string;
  body: string;
  status: TinkerOperation['status'];
  result: string | null;
  error: string | null;
  category: ErrorCategory | null;
  created_at_ms: number;
  readings: number;
}

interface TinkerSamplerTable {
  id: string;
  session_id: string;
  ordinal: number;
  entity: string;
  base_model: string;
  served_as: string;
  model_path: string | null;
  model_id: string | null;
  step: number | null;
  blob: string | null;
  created_at_ms: number;
}

interface TinkerCheckpointTable {
  run_id: string;
  kind: CheckpointKind;
  name: string;
  entity: string;
  model_id: string;
  step: number;
  size_bytes: number;
  metadata: string;
  created_at_ms: number;
  expires_at_ms: number | null;
  published_at_ms: number | null;
}

const readObject = (json: string) => JSON.parse(json) as Record<string, unknown>;

export const toSession = (row: Selectable<TinkerSessionTable>): TinkerSession => ({
  id: row.id,
  entity: row.entity,
  keyId: row.key_id,
  tags: JSON.parse(row.tags) as string[],
  metadata: readObject(row.metadata),
  createdAtMs: row.created_at_ms,
  seenAtMs: row.seen_at_ms,
  endedAtMs: row.ended_at_ms,
});

export const fromSession = (session: TinkerSession): TinkerSessionTable => ({
  id: session.id,
  entity: session.entity,
  key_id: session.keyId,
  tags: JSON.stringify(session.tags),
  metadata: JSON.stringify(session.metadata),
  created_at_ms: session.createdAtMs,
  seen_at_ms: session.seenAtMs,
  ended_at_ms: session.endedAtMs,
});

export const toRun = (row: Selectable<TinkerRunTable>): TinkerRun => ({
  id: row.id,
  sessionId: row.session_id,
  entity: row.entity,
  keyId: row.key_id,
  modelId: row.model_id,
  baseModel: row.base_model,
  servedAs: row.served_as,
  lora: JSON.parse(row.lora) as TinkerLora,
  resetsOptimizer: row.resets_optimizer !== 0,
  metadata: readObject(row.metadata),
  attempt: row.attempt,
  doneSeq: row.done_seq,
  stateSeq: row.state_seq,
  stateBlob: row.state_blob,
  createdAtMs: row.created_at_ms,
  usedAtMs: row.used_at_ms,
  waitingFor: row.waiting_for === null ? null : (JSON.parse(row.waiting_for) as WaitingFor),
});

export const fromRun = (run: TinkerRun): TinkerRunTable => ({
  id: run.id,
  session_id: run.sessionId,
  entity: run.entity,
  key_id: run.keyId,
  model_id: run.modelId,
  base_model: run.baseModel,
  served_as: run.servedAs,
  lora: JSON.stringify(run.lora),
  resets_optimizer: Number(run.resetsOptimizer),
  metadata: JSON.stringify(run.metadata),
  attempt: run.attempt,
  done_seq: run.doneSeq,
  state_seq: run.stateSeq,
  state_blob: run.stateBlob,
  worker: null,
  lease_until_ms: 0,
  claimed_at_ms: 0,
  created_at_ms: run.createdAtMs,
  used_at_ms: run.usedAtMs,
  waiting_for: null,
});

export const toOperation = (row: Selectable<TinkerOperationTable>): TinkerOperation => ({
  runId: row.run_id,
  seq: row.seq,
  kind: row.kind,
  bodyHash: row.body_hash,
  body: row.body,
  status: row.status,
  result: row.result,
  error: row.error,
  category: row.category,
  createdAtMs: row.created_at_ms,
});

export const fromOperation = (operation: TinkerOperation): TinkerOperationTable => ({
  run_id: operation.runId,
  seq: operation.seq,
  kind: operation.kind,
  body_hash: operation.bodyHash,
  body: operation.body,
  status: operation.status,
  result: operation.result,
  error: operation.error,
  category: operation.category,
  created_at_ms: operation.createdAtMs,
  readings: 0,
});

export const toSampler = (row: Selectable<TinkerSamplerTable>): TinkerSampler => ({
  id: row.id,
  sessionId: row.session_id,
  ordinal: row.ordinal,
  entity: row.entity,
  baseModel: row.base_model,
  servedAs: row.served_as,
  modelPath: row.model_path,
  modelId: row.model_id,
  step: row.step,
  blob: row.blob,
  createdAtMs: row.created_at_ms,
});

export const fromSampler = (sampler: TinkerSampler): TinkerSamplerTable => ({
  id: sampler.id,
  session_id: sampler.sessionId,
  ordinal: sampler.ordinal,
  entity: sampler.entity,
  base_model: sampler.baseModel,
  served_as: sampler.servedAs,
  model_path: sampler.modelPath,
  model_id: sampler.modelId,
  step: sampler.step,
  blob: sampler.blob,
  created_at_ms: sampler.createdAtMs,
});

export const toNamedCheckpoint = (row: Selectable<TinkerCheckpointTable>): TinkerCheckpoint => ({
  runId: row.run_id,
  kind: row.kind,
  name: row.name,
  entity: row.entity,
  modelId: row.model_id,
  step: row.step,
  sizeBytes: row.size_bytes,
  metadata: readObject(row.metadata),
  createdAtMs: row.created_at_ms,
  expiresAtMs: row.expires_at_ms,
  publishedAtMs: row.published_at_ms,
});

export const fromNamedCheckpoint = (checkpoint: TinkerCheckpoint): TinkerCheckpointTable => ({
  run_id: checkpoint.runId,
  kind: checkpoint.kind,
  name: checkpoint.name,
  entity: checkpoint.entity,
  model_id: checkpoint.modelId,
  step: checkpoint.step,
  size_bytes: checkpoint.sizeBytes,
  metadata: JSON.stringify(checkpoint.metadata),
  created_at_ms: checkpoint.createdAtMs,
  expires_at_ms: checkpoint.expiresAtMs,
  published_at_ms: checkpoint.publishedAtMs,
});
