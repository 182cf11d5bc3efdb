// Saved weights of training runs: named ones are steps of the run's Whetstone model, callable like any checkpoint; unnamed weights for
// sampling belong to a sampler, and the newest of a session are kept.
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import { tinkerCheckpointBlob, tinkerSamplerBlob } from '#domain/blob-names';
import type { Checkpoint } from '#domain/checkpoint';
import { AppError } from '#domain/errors';
import {
  parseTinkerPath,
  tinkerPath,
  type TinkerCheckpoint,
  type TinkerLora,
  type TinkerOperation,
  type TinkerRun,
} from '#domain/tinker';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import type { Slice, Sliced } from '#storage/tinker-store';
import type { BaseModels } from '../models/base-models.ts';
import { PEFT_FILES } from '../artifacts/checkpoint-artifact.ts';
import { getCheckpointFiles } from '../models/checkpoint-files.ts';
import { findCheckpointLora } from '../models/checkpoint-lora.ts';
import type { SaveBody } from './operation-bodies.ts';
import type { RunSession } from './run-session.ts';

export interface Saves {
  /** Returns the operation's result. Finds what an earlier attempt at the operation saved. */
  save(
    run: TinkerRun,
    operation: Pick<TinkerOperation, 'seq' | 'kind'>,
    body: SaveBody,
    session: Pick<RunSession, 'save'>,
  ): Promise<string>;
  /** Weights that the run's entity may read, of the same base model and rank. Throws as `startingPoint`, and `model_conflict`. */
  filesOf(run: Pick<TinkerRun, 'entity' | 'baseModel' | 'lora'>, path: string, optimizer: boolean): Promise<string>;
  /** What training goes on from. Throws `checkpoint_not_found`; `invalid_request` for an optimizer state that was not saved. */
  startingPoint(entity: string, path: string, optimizer: boolean): Promise<SavedWeights>;
  /** Returns null if there is none, or it belongs to another entity and is not published. */
  find(entity: string, path: string): Promise<SavedWeights | null>;
  /** Which layers they train: a run may have loaded weights with other layers than it was created with. */
  describe(saved: SavedWeights): Promise<TrainedParts>;
  /** For changes: returns null also if another entity published it. */
  findOwn(entity: string, path: string): Promise<TinkerCheckpoint | null>;
  /** Names of the files of saved weights. Throws `checkpoint_not_found`, as `readFile` does. */
  listFiles(entity: string, path: string): Promise<readonly string[]>;
  readFile(entity: string, path: string, file: string): Promise<Uint8Array>;
  /** Newest first: all of the entity's own (null), or those of one run that the entity may read. */
  list(entity: string, run: TinkerRun | null, slice: Slice): Promise<Sliced<TinkerCheckpoint>>;
  /** Of each of these runs the newest of each kind that the entity may read, by the run's id. */
  newest(entity: string, runs: readonly TinkerRun[]): Promise<ReadonlyMap<string, readonly TinkerCheckpoint[]>>;
  /** Sets whether every entity may read them. Saving again under the same name makes them private. Idempotent. */
  publish(checkpoint: TinkerCheckpoint, isPublic: boolean): Promise<void>;
  delete(checkpoint: TinkerCheckpoint): Promise<void>;
  /** Null: never. */
  expire(checkpoint: TinkerCheckpoint, afterSeconds: number | null): Promise<void>;
  /** Deletes named checkpoints that have expired. */
  deleteExpired(): Promise<void>;
}

export interface SavedWeights {
  readonly named: TinkerCheckpoint;
  readonly checkpoint: Checkpoint;
  /** The run that they were saved from. */
  readonly run: TinkerRun;
}

export type TrainedParts = Required<Omit<TinkerLora, 'seed'>>;

export interface SavesDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly baseModels: BaseModels;
  readonly clock: Clock;
}

/** Maximum unnamed weights per session: recipes save once per step, and use the last two. */
const UNNAMED_MAX = 32;
const EXPIRED_AT_ONCE = 100;

/** Operations that save under a name: what they make, and the protocol's name for it. */
const SAVED_AS = {
  save_weights: { kind: 'weights', type: 'save_weights' },
  save_sampler: { kind: 'sampler_weights', type: 'save_weights_for_sampler' },
  save_external: { kind: 'external_weights', type: 'save_weights_external' },
} as const;

export function createSaves({ storage, blobs, baseModels, clock }: SavesDeps): Saves {
  const { tinker } = storage;

  async function findNamed(path: string): Promise<TinkerCheckpoint | null> {
    const parsed = parseTinkerPath(path);
    const named = parsed && (await tinker.findCheckpoint(parsed.runId, parsed.kind, parsed.name));
    return named && (named.expiresAtMs ?? Infinity) > clock.now() ? named : null; // it is deleted some time later
  }

  async function find(entity: string, path: string): Promise<SavedWeights | null> {
    const named = await findNamed(path);
    if (!named || (named.entity !== entity && named.publishedAtMs === null)) return null;
    const checkpoint = await storage.checkpoints.find(named.modelId, named.step);
    const run = await tinker.findRun(named.runId);
    return checkpoint && run && { named, checkpoint, run };
  }

  async function dropStep({ modelId, step }: Pick<TinkerCheckpoint, 'modelId' | 'step'>): Promise<void> {
    const model = await storage.models.find(modelId);
    const { deleted } = await storage.checkpoints.delete(modelId, [step]);
    for (const { id, blobPrefix } of deleted) {
      if (model) await baseModels.find(model.baseModel)?.inference.unloadAdapter(id);
      await blobs.delete(blobPrefix);
    }
  }

  async function saveNamed(
    run: TinkerRun,
    { seq, kind: operation }: Pick<TinkerOperation, 'seq' | 'kind'>,
    { name, overwrite, ttlSeconds, metadata }: SaveBody & { name: string },
    session: Pick<RunSession, 'save'>,
  ): Promise<string> {
    const { kind, type } = SAVED_AS[operation as keyof typeof SAVED_AS];
    const path = tinkerPath({ runId: run.id, kind, name });
    const result = JSON.stringify({ path, type });
    const existing = await find(run.entity, path);
    if (existing?.checkpoint.blobPrefix.startsWith(tinkerCheckpointBlob(run.modelId, seq, 0).slice(0, -1)))
      return result;
    if (existing && !overwrite)
      throw new AppError('invalid_request', `${path} exists already. Choose another name, or send overwrite.`);
    const blobPrefix = tinkerCheckpointBlob(run.modelId, seq, run.attempt);
    const { sizeBytes } = await session.save(blobPrefix, kind === 'weights');
    await storage.accounts.addBlob({ blob: blobPrefix, entity: run.entity, keyId: run.keyId, sizeBytes });
    const createdAtMs = clock.now();
    const about = { id: createId(), modelId: run.modelId, metrics: {}, blobPrefix, fresh: false, createdAtMs };
    const checkpoint = await storage.checkpoints.add(about);
    if (!checkpoint) throw new AppError('not_found', `The model of ${run.id} was deleted.`);
    const old = await tinker.putCheckpoint({
      runId: run.id,
      kind,
      name,
      entity: run.entity,
      modelId: run.modelId,
      step: checkpoint.step,
      sizeBytes,
      metadata,
      createdAtMs,
      expiresAtMs: ttlSeconds === null ? null : createdAtMs + ttlSeconds * 1000,
      publishedAtMs: null,
    });
    if (old) await dropStep(old);
    return result;
  }

  async function saveUnnamed(
    run: TinkerRun,
    seq: number,
    ordinal: number | null,
    session: Pick<RunSession, 'save'>,
  ): Promise<string> {
    const { sessionId, modelId, entity } = run;
    if (ordinal === null) throw noSampler();
    const id = `${sessionId}:sampler:${ordinal}`;
    const existing = await tinker.findSampler(id);
    if (existing && !existing.blob?.startsWith(tinkerSamplerBlob(modelId, `${seq}.`)))
      throw new AppError('invalid_request', `${id} is another sampling session. Send another sampling_session_seq_id.`);
    if (!existing) {
      const blob = tinkerSamplerBlob(modelId, `${seq}.${run.attempt}`);
      const stored = await session.save(blob, false);
      await storage.accounts.addBlob({ blob, entity, keyId: run.keyId, ...stored });
      await tinker.createSampler({
        id,
        sessionId,
        ordinal,
        entity,
        baseModel: run.baseModel,
        servedAs: run.servedAs,
        modelPath: null,
        modelId,
        step: null,
        blob,
        createdAtMs: clock.now(),
      });
      await dropOldest(run);
    }
    return JSON.stringify({ path: null, sampling_session_id: id, type: 'save_weights_for_sampler' });
  }

  async function dropOldest({ sessionId, baseModel }: TinkerRun): Promise<void> {
    const unnamed = (await tinker.listSamplersOf(sessionId)).filter(({ blob }) => blob !== null);
    for (const { id, blob } of unnamed.slice(0, -UNNAMED_MAX)) {
      await tinker.deleteSampler(id);
      await baseModels.find(baseModel)?.inference.unloadAdapter(id);
      await blobs.delete(blob!);
    }
  }

  async function deleteNamed(checkpoint: TinkerCheckpoint): Promise<void> {
    await tinker.deleteCheckpoint(checkpoint);
    await dropStep(checkpoint);
  }

  async function get(entity: string, path: string) {
    const found = await find(entity, path);
    if (found) return found;
    throw new AppError('checkpoint_not_found', `There are no saved weights ${path.slice(0, 300)}.`);
  }

  async function startingPoint(entity: string, path: string, optimizer: boolean): Promise<SavedWeights> {
    const found = await get(entity, path);
    if (!optimizer || found.named.kind === 'weights') return found;
    throw new AppError(
      'invalid_request',
      `${path} has no optimizer state, because it was not saved with save_state. Load such weights, or these without the optimizer.`,
    );
  }

  async function describe({ named, checkpoint }: SavedWeights): Promise<TrainedParts> {
    const adapter = await findCheckpointLora(blobs, checkpoint);
    if (!adapter) throw new AppError('damaged_data', `The files of ${named.name} are gone from the blob store.`);
    const parts = new Set(adapter.target_modules.map(partOf));
    return {
      rank: adapter.r,
      attention: parts.has('attention'),
      mlp: parts.has('mlp'),
      unembed: parts.has('unembed'),
    };
  }

  return {
    async save(run, operation, body, session) {
      if (body.name !== null) return saveNamed(run, operation, { ...body, name: body.name }, session);
      return saveUnnamed(run, operation.seq, body.samplerOrdinal, session);
    },
    startingPoint,
    async filesOf({ entity, baseModel, lora }, path, optimizer) {
      const found = await startingPoint(entity, path, optimizer);
      if (found.run.baseModel !== baseModel)
        throw new AppError('model_conflict', `${path} is of ${found.run.baseModel}, not of ${baseModel}.`);
      const { rank } = await describe(found);
      if (rank !== lora.rank)
        throw new AppError(
          'model_conflict',
          `${path} has the rank ${rank}, and this run ${lora.rank}. Start a run from the weights: create_training_client_from_state.`,
        );
      return getCheckpointFiles(blobs, found.checkpoint);
    },
    find,
    describe,
    async findOwn(entity, path) {
      const named = await findNamed(path);
      return named?.entity === entity ? named : null;
    },
    async listFiles(entity, path) {
      await get(entity, path);
      return PEFT_FILES;
    },
    async readFile(entity, path, file) {
      const { blobPrefix } = (await get(entity, path)).checkpoint;
      const content = PEFT_FILES.includes(file) ? await blobs.find(`${blobPrefix}/${file}`) : null;
      if (!content)
        throw new AppError('checkpoint_not_found', `${path.slice(0, 300)} has no file ${file.slice(0, 100)}.`);
      return content;
    },
    list(entity, run, slice) {
      if (run === null) return tinker.listCheckpoints({ entity }, slice);
      const readable = run.entity === entity ? {} : { isPublished: true as const };
      return tinker.listCheckpoints({ runId: run.id, ...readable }, slice);
    },
    async newest(entity, runs) {
      const found = await tinker.listNewestCheckpoints(
        entity,
        runs.map(({ id }) => id),
      );
      return new Map(runs.map(({ id }) => [id, found.filter(({ runId }) => runId === id)]));
    },
    async publish(checkpoint, isPublic) {
      if (isPublic === (checkpoint.publishedAtMs !== null)) return;
      await tinker.setPublished(checkpoint, isPublic ? clock.now() : null);
    },
    delete: deleteNamed,
    expire: (checkpoint, afterSeconds) =>
      tinker.setExpiry(checkpoint, afterSeconds === null ? null : clock.now() + afterSeconds * 1000),
    async deleteExpired() {
      for (;;) {
        const expired = await tinker.listExpired(clock.now(), EXPIRED_AT_ONCE);
        for (const each of expired) await deleteNamed(each);
        if (expired.length < EXPIRED_AT_ONCE) return;
      }
    },
  };
}

/** Two runs of one session would have the same default. */
export const noSampler = (): AppError =>
  new AppError('invalid_request', 'Unnamed weights need the number of their sampling session.', {
    param: 'sampling_session_seq_id',
  });

function partOf(target: string): 'attention' | 'mlp' | 'unembed' {
  if (target === 'lm_head') return 'unembed';
  return /^(gate|up|gate_up|down)_proj$/.test(target) ? 'mlp' : 'attention';
}
