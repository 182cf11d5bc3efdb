// Saved progress of a running job: the trainer's whole state after some gradient step, so that a new attempt continues from there and
// ends with the same bytes. Events are appended before the state they belong to is saved: a replay then finds them there (each ordinal
// is stored once), and there is never a gap.
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '#base/log';
import {
  jobCheckpointBlob,
  jobProgressBlobs,
  jobRecordBlob,
  progressPointerBlob,
  progressRecordBlob,
  progressStateBlob,
} from '#domain/blob-names';
import { AppError } from '#domain/errors';
import { isFinished, type TrainingJob } from '#domain/training-job';
import type { TrainingSession } from '#engine/training-engine';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import type { Standing } from '#training/early-stopping';
import { forgetPreparation } from './job-preparation.ts';
import { parseSealedJson, sealJson } from '../data/sealed-json.ts';

export interface SavedProgress {
  /** Gradient steps that the state includes. */
  readonly stepsDone: number;
  /** PEFT directory with optimizer state. */
  readonly directory: string;
  /** The evaluations so far; null: there was none. */
  readonly standing: Standing | null;
  /** The token record so far. Null: none was saved, or an older version saved the state. Damage is detected when it is read. */
  readonly record: Uint8Array | null;
}

interface Pointer extends Pick<SavedProgress, 'stepsDone'> {
  readonly standing?: Standing;
  readonly keptStep?: number;
  /** Digest of the rows that the steps trained (JobWork). Absent: an older version saved it. */
  readonly rowsDigest?: string;
  /** Whether a token record was saved with the state. Absent: an older version saved it. */
  readonly hasRecord?: boolean;
}

/** Which job, and the digest of the rows that are planned now. */
interface Planned {
  readonly jobId: string;
  readonly rowsDigest: string;
}

/** An attempt that has lost its job may save once more before it notices. It then deletes what the pointer named before. */
const LOOKS_MAX = 3;

/**
 * Null: nothing was saved, or the state is damaged or incomplete, or its steps trained other rows than are planned now; such a state is
 * deleted. The job then starts again, which takes longer and ends as if it had never been interrupted.
 */
export async function findProgress(blobs: BlobStore, planned: Planned, log: Log): Promise<SavedProgress | null> {
  for (let look = 1; ; look++) {
    const pointer = await blobs.find(progressPointerBlob(planned.jobId));
    if (!pointer) return null;
    const found = await readProgress(blobs, planned, pointer, log);
    if (found?.record || look === LOOKS_MAX) return found;
    const now = await blobs.find(progressPointerBlob(planned.jobId));
    if (now && Buffer.compare(now, pointer) === 0) return found;
  }
}

async function readProgress(
  blobs: BlobStore,
  { jobId, rowsDigest }: Planned,
  pointer: Uint8Array,
  log: Log,
): Promise<SavedProgress | null> {
  const opened = parseSealedJson<Pointer>(pointer);
  if (!opened) {
    log.warn('job.progress_damaged', { blob: progressPointerBlob(jobId) });
    return null;
  }
  const { stepsDone, standing = null, keptStep = stepsDone, hasRecord = false } = opened.value;
  if (opened.value.rowsDigest !== rowsDigest) {
    log.warn('job.begins_again', { stepsDone, reason: 'the planned rows differ from those that were trained' });
    await blobs.delete(progressPointerBlob(jobId)); // first, so that nothing points to what is deleted next
    await blobs.delete(jobProgressBlobs(jobId));
    return null;
  }
  try {
    const directory = await blobs.findDirectory(progressStateBlob(jobId, stepsDone));
    if (directory === null || !(await blobs.findDirectory(progressStateBlob(jobId, keptStep)))) return null;
    const record = await blobs.find(progressRecordBlob(jobId, stepsDone));
    return hasRecord && !record ? null : { stepsDone, directory, standing, record };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'damaged_data') throw error;
    log.warn('job.progress_damaged', { err: error });
    return null;
  }
}

/** What is saved after a gradient step. */
export interface Progress {
  readonly session: TrainingSession;
  readonly stepsDone: number;
  readonly rowsDigest: string;
  /** The evaluations so far; null: there was none. */
  readonly standing: Standing | null;
  /** The step of an earlier state that is kept too; null: none is. */
  readonly keptStep: number | null;
  /** The token record so far (token-recorder.ts); null: none. */
  readonly record: Uint8Array | null;
}

/** Writes the state first, then the pointer to it, then deletes the old state. */
export async function saveProgress(
  blobs: BlobStore,
  jobId: string,
  { session, stepsDone, rowsDigest, standing, keptStep, record }: Progress,
  workDirectory: string,
): Promise<void> {
  if (record) await blobs.put(progressRecordBlob(jobId, stepsDone), record);
  await saveSession(blobs, progressStateBlob(jobId, stepsDone), session, workDirectory);
  const pointer: Pointer = {
    stepsDone,
    rowsDigest,
    hasRecord: record !== null,
    ...(standing ? { standing } : {}),
    ...(keptStep === null ? {} : { keptStep }),
  };
  await blobs.put(progressPointerBlob(jobId), sealJson(pointer));
  const states = [stepsDone, keptStep ?? stepsDone].map((step) => progressStateBlob(jobId, step));
  for (const { name } of await blobs.list(jobProgressBlobs(jobId))) {
    const isCurrent =
      name === progressPointerBlob(jobId) ||
      name === progressRecordBlob(jobId, stepsDone) ||
      states.some((state) => name.startsWith(`${state}/`));
    if (!isCurrent) await blobs.delete(name);
  }
}

/** Also used for checkpoints, so that the next job can resume from them. */
export async function saveSession(
  blobs: BlobStore,
  prefix: string,
  session: TrainingSession,
  workDirectory: string,
): Promise<{ sizeBytes: number }> {
  const directory = await mkdtemp(join(workDirectory, 'save-'));
  try {
    await session.save(directory, { resumable: true });
    return await blobs.putDirectory(prefix, directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Cleans up after an attempt that ends: its files, and everything that the job kept for itself if the job is over. Its final
 * checkpoint stays, and so does everything of a job that a later attempt is running.
 */
export async function forgetAttempt(
  { storage, blobs }: { readonly storage: Pick<Storage, 'jobs'>; readonly blobs: BlobStore },
  { id, modelId, attempt }: TrainingJob,
): Promise<void> {
  const now = await storage.jobs.find(id);
  const isOver = !now || isFinished(now.status);
  const made = now?.status === 'succeeded' ? now.attempt : null;
  const last = now?.attempt ?? attempt;
  for (let each = isOver ? 1 : attempt; each <= (isOver ? last : attempt); each++) {
    if (each !== made) await blobs.delete(jobCheckpointBlob(modelId, id, each));
  }
  if (!isOver) return;
  if (!now) await blobs.delete(jobRecordBlob(id)); // its model was deleted meanwhile
  await blobs.delete(jobProgressBlobs(id));
  await forgetPreparation(blobs, id);
}
