// Turns an uploaded adapter into a checkpoint of the model with its name: checks it against the base model and stores it as checkpoints
// are stored, before the client hears that it is committed.
import { mkdtemp, rm } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import type { ArtifactDraft, ArtifactFile } from '#domain/artifact';
import { uploadedCheckpointBlob } from '#domain/blob-names';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import type { BlobStore } from '#storage/blobs';
import { findChecksums } from '#storage/directory-checksums';
import type { Storage } from '#storage/storage';
import type { AccountLimits } from '../accounts/account-limits.ts';
import { holdBlobs } from '../accounts/stored-bytes.ts';
import type { BaseModels } from '../models/base-models.ts';
import { OWN_METADATA, PEFT_FILES } from './checkpoint-artifact.ts';

/** Returns the checkpoint's id. Throws `artifact_conflict`. */
export type CommitAdapter = (
  caller: Caller,
  model: Model,
  draft: ArtifactDraft,
  files: readonly ArtifactFile[],
  open: (file: ArtifactFile) => Promise<AsyncIterable<Uint8Array>>,
) => Promise<string>;

export interface AdapterCommitDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly baseModels: BaseModels;
  readonly limits: Pick<AccountLimits, 'storing'>;
  readonly clock: Clock;
  readonly log: Log;
}

const STEP = /^step(\d{1,15})$/;

export function createAdapterCommit({
  storage,
  blobs,
  baseModels,
  limits,
  clock,
  log,
}: AdapterCommitDeps): CommitAdapter {
  return async (caller, model, draft, all, open) => {
    const refused = (why: string, cause?: unknown) =>
      new AppError('artifact_conflict', `${draft.name} cannot become a checkpoint of its model: ${why}`, { cause });
    const files = PEFT_FILES.map((path) => {
      const file = all.find((each) => each.path === path);
      if (file) return file;
      throw refused(`it has no ${path}. Upload the directory that PEFT's save_pretrained writes.`);
    });
    const step = stepOf(draft);
    const existing = step === null ? null : await storage.checkpoints.find(model.id, step);
    if (existing) {
      const stored = await findChecksums(blobs, existing.blobPrefix);
      if (files.every(({ path, sha256 }) => stored?.[path] === sha256)) return existing.id;
      throw refused(
        `the model already has a step ${step} with other content, and steps never change. Use another alias, or none.`,
      );
    }

    const directory = await mkdtemp(join(tmpdir(), 'whetstone-adapter-'));
    const blobPrefix = uploadedCheckpointBlob(model.id, draft.id);
    try {
      for (const file of files)
        await pipeline(Readable.from(await open(file)), createWriteStream(join(directory, file.path)));
      await check(directory);
      await limits.storing(caller, (bytes) => holdBlobs(blobs, bytes).putDirectory(blobPrefix, directory));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
    const metrics = {};
    const about = { id: draft.id, modelId: model.id, metrics, blobPrefix, fresh: false, createdAtMs: clock.now() };
    const checkpoint = await storage.checkpoints.add(about, step ?? 0);
    if (!checkpoint) throw refused('the model was deleted meanwhile.');
    const notes = Object.entries(draft.metadata).filter(([key]) => !OWN_METADATA.includes(key));
    await storage.checkpoints.setMetadata(checkpoint.id, Object.fromEntries(notes));
    log.info('checkpoint.uploaded', { modelId: model.id, step: checkpoint.step });
    return checkpoint.id;

    async function check(at: string): Promise<void> {
      try {
        await baseModels.get(model.baseModel).checkAdapter(at);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'bad_model_files') throw error;
        throw refused(error.message.replaceAll(`${at}/`, ''), error);
      }
    }
  };
}

/** The highest step among its aliases. Null: the model's next step. */
function stepOf({ aliases }: ArtifactDraft): number | null {
  const steps = aliases.flatMap((alias) => STEP.exec(alias)?.[1] ?? []).map(Number);
  return steps.length === 0 ? null : Math.max(...steps);
}
