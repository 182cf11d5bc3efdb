// The checkpoints of a model, for its owner: list, delete, download.
import { createHash } from 'node:crypto';
import { pack } from 'tar-stream';
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import { createDigests } from '#base/stream-digest';
import type { Caller } from '#domain/caller';
import type { Checkpoint } from '#domain/checkpoint';
import { AppError } from '#domain/errors';
import type { BlobStore } from '#storage/blobs';
import { findChecksums } from '#storage/directory-checksums';
import type { Listing, Page } from '#domain/page';
import type { Storage } from '#storage/storage';
import type { BaseModels } from './base-models.ts';
import { createUseCheckpoint } from './kept-checkpoints.ts';
import { explainMissingStep } from './named-checkpoint.ts';
import { getOwnModel } from './own-model.ts';
import { PEFT_FILES, refuseDamage } from '../artifacts/checkpoint-artifact.ts';

export interface Checkpoints {
  /** Throws `model_not_found`, as all of these do for another entity's model. */
  list(caller: Caller, modelId: string, page: Page, order: 'asc' | 'desc'): Promise<Listing<Checkpoint>>;
  find(caller: Caller, modelId: string, step: number): Promise<Checkpoint | null>;
  /** Idempotent; running requests that use them finish. */
  delete(
    caller: Caller,
    modelId: string,
    steps: readonly number[],
  ): Promise<{ deletedCount: number; notFoundSteps: readonly number[] }>;
  /** The PEFT directory as a tar; step null is the latest. Throws `checkpoint_not_found`. */
  download(caller: Caller, modelId: string, step: number | null): Promise<CheckpointTar>;
}

/** The same bytes on every download: entries have the checkpoint's creation time. */
export interface CheckpointTar {
  readonly fileName: string;
  readonly sizeBytes: number;
  /** SHA-256 of the whole tar, in hex. */
  readonly sha256: string;
  /** The bytes from this offset on. */
  readonly from: (start: number) => AsyncIterable<Uint8Array>;
}

export interface CheckpointsDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly baseModels: BaseModels;
  readonly clock: Clock;
  readonly log: Log;
}

export function createCheckpoints({ storage, blobs, baseModels, clock, log }: CheckpointsDeps): Checkpoints {
  const useCheckpoint = createUseCheckpoint(storage, clock);
  return {
    async list(caller, modelId, page, order) {
      await getOwnModel(storage, caller, modelId);
      return storage.checkpoints.list(modelId, page, order);
    },

    async find(caller, modelId, step) {
      await getOwnModel(storage, caller, modelId);
      return storage.checkpoints.find(modelId, step);
    },

    async delete(caller, modelId, steps) {
      const model = await getOwnModel(storage, caller, modelId);
      const { deleted, notFoundSteps } = await storage.checkpoints.delete(modelId, steps);
      for (const checkpoint of deleted) {
        await baseModels.find(model.baseModel)?.inference.unloadAdapter(checkpoint.id);
        await blobs.delete(checkpoint.blobPrefix);
      }
      log.info('checkpoints.deleted', { modelId, steps: deleted.map(({ step }) => step) });
      return { deletedCount: deleted.length, notFoundSteps };
    },

    async download(caller, modelId, step) {
      const model = await getOwnModel(storage, caller, modelId);
      const checkpoint =
        step === null ? await storage.checkpoints.findLatest(modelId) : await storage.checkpoints.find(modelId, step);
      if (!checkpoint) throw new AppError('checkpoint_not_found', await explainMissingStep(storage, model, step));
      await useCheckpoint(checkpoint);
      return { fileName: `${model.name}-step${checkpoint.step}.tar`, ...(await tarOf(blobs, checkpoint)) };
    },
  };
}

/** Whole in memory: an adapter is small compared with its model, and a damaged one is refused before its first byte is sent. */
async function tarOf(
  blobs: BlobStore,
  { blobPrefix, createdAtMs }: Checkpoint,
): Promise<Omit<CheckpointTar, 'fileName'>> {
  const tar = pack();
  const checksums = await findChecksums(blobs, blobPrefix);
  for (const name of PEFT_FILES) {
    const content = await blobs.find(`${blobPrefix}/${name}`);
    if (!content)
      throw new AppError('checkpoint_not_found', `The file ${name} of this checkpoint is gone from the blob store.`);
    refuseDamage({ path: name, sha256: createHash('sha256').update(content).digest('hex') }, checksums);
    tar.entry({ name, mtime: new Date(createdAtMs), mode: 0o644 }, Buffer.from(content));
  }
  tar.finalize();
  const pieces: Uint8Array[] = [];
  const digests = createDigests();
  for await (const piece of tar as AsyncIterable<Uint8Array>) {
    digests.add(piece);
    pieces.push(piece);
  }
  return { ...digests.end(), from: (start) => withoutBeginning(pieces, start) };
}

async function* withoutBeginning(pieces: readonly Uint8Array[], bytes: number): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for (const piece of pieces) {
    if (left < piece.length) yield piece.subarray(left);
    left = Math.max(0, left - piece.length);
  }
}
