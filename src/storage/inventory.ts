// Everything that is stored, for all entities: for consistency checks, not for serving. Nothing here is paged to
// clients. Part of storage.ts; rows come one by one, so that a large store fits in memory, ordered by the fields named below as the
// database sorts them.
import type { ArtifactContent } from '#domain/artifact';
import type { Checkpoint } from '#domain/checkpoint';
import { CALL_ROW_BYTES, episodeBytes, type Episode } from '#domain/episode';
import type { StoredResponse } from '#domain/stored-response';
import type { TrainingJob } from '#domain/training-job';
import type { StoredBlob } from './account-store.ts';

export interface InventoriedModel {
  readonly id: string;
  /** `entity/project/name` */
  readonly name: string;
}

export interface InventoriedCheckpoint extends Pick<Checkpoint, 'id' | 'modelId' | 'step' | 'blobPrefix'> {
  readonly entity: string;
}

export interface InventoriedJob extends Pick<
  TrainingJob,
  'id' | 'type' | 'modelId' | 'entity' | 'keyId' | 'status' | 'bodyBlob'
> {
  readonly events: EventSummary;
}

export type InventoriedResponse = Pick<StoredResponse, 'id' | 'entity' | 'keyId' | 'blob'>;

export interface InventoriedEpisode extends Pick<
  Episode,
  'id' | 'entity' | 'name' | 'modelId' | 'callCount' | 'callBytes'
> {
  /** What it must be on an account with. */
  readonly sizeBytes: number;
  /** False: its calls were deleted by age. */
  readonly keepsCalls: boolean;
  /** As its calls are, not as its row says. */
  readonly storedCalls: number;
  readonly storedCallBytes: number;
}

/** The events of one job. */
export interface EventSummary {
  readonly count: number;
  /** Null: there are none. */
  readonly firstOrdinal: number | null;
  readonly lastOrdinal: number | null;
  /** Number of `training_ended` and `training_failed` events; a finished job has exactly one, at its end. */
  readonly endedCount: number;
  readonly failedCount: number;
  readonly closingOrdinal: number | null;
}

export interface Inventory {
  /** By id. */
  models(): AsyncIterable<InventoriedModel>;
  /** By model and step. */
  checkpoints(): AsyncIterable<InventoriedCheckpoint>;
  /** By id. */
  jobs(): AsyncIterable<InventoriedJob>;
  /** By id. */
  responses(): AsyncIterable<InventoriedResponse>;
  /** By id. */
  episodes(): AsyncIterable<InventoriedEpisode>;
  /** By blob. */
  artifactContents(): AsyncIterable<ArtifactContent>;
  /** By blob. */
  storedBlobs(): AsyncIterable<StoredBlob>;
}

/** `bytes`: of the tokens and texts of these calls. */
export const inventoriedEpisode = (episode: Episode, calls: number, bytes: number): InventoriedEpisode => ({
  id: episode.id,
  entity: episode.entity,
  name: episode.name,
  modelId: episode.modelId,
  callCount: episode.callCount,
  callBytes: episode.callBytes,
  sizeBytes: episodeBytes(episode),
  keepsCalls: episode.status !== 'expired',
  storedCalls: calls,
  storedCallBytes: calls * CALL_ROW_BYTES + bytes,
});
