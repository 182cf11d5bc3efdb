// How far a running job has come, durably: the trainer's whole state after some gradient step, so that a new attempt goes on
// from there and ends with the same bytes. Events are appended before the state they belong to is saved: a replay then finds
// them there (each ordinal is stored once), and there is never a gap.
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { TrainingSession } from '#engine/training-engine';
import type { BlobStore } from '#storage/blobs';
import { forgetPreparation } from './job-preparation.ts';
import { openSealedJson, sealJson } from './sealed-json.ts';

export interface SavedProgress {
  /** Gradient steps that the state includes. */
  readonly stepsDone: number;
  /** PEFT directory with optimizer state. */
  readonly directory: string;
}

type Pointer = Pick<SavedProgress, 'stepsDone'>;

const stateOf = (jobId: string, stepsDone: number): string => `jobs/${jobId}/resume/state-${stepsDone}`;
const pointerOf = (jobId: string): string => `jobs/${jobId}/resume/current.json`;

/** Null: none, or it is damaged. The job then begins again, which takes longer and ends with the same bytes. */
export async function findProgress(blobs: BlobStore, jobId: string, log: Log): Promise<SavedProgress | null> {
  const pointer = await blobs.find(pointerOf(jobId));
  if (!pointer) return null;
  const opened = openSealedJson<Pointer>(pointer);
  if (!opened) {
    log.warn('job.progress_damaged', { blob: pointerOf(jobId) });
    return null;
  }
  const { stepsDone } = opened.value;
  try {
    const directory = await blobs.openDirectory(stateOf(jobId, stepsDone));
    return directory === null ? null : { stepsDone, directory };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'damaged_data') throw error;
    log.warn('job.progress_damaged', { err: error });
    return null;
  }
}

/** The state first, then the pointer to it, then the old state goes. */
export async function saveProgress(
  blobs: BlobStore,
  jobId: string,
  session: TrainingSession,
  stepsDone: number,
  workDirectory: string,
): Promise<void> {
  await saveSession(blobs, stateOf(jobId, stepsDone), session, workDirectory);
  const pointer: Pointer = { stepsDone };
  await blobs.put(pointerOf(jobId), sealJson(pointer));
  for (const { name } of await blobs.list(`jobs/${jobId}/resume`)) {
    if (name !== pointerOf(jobId) && !name.startsWith(`${stateOf(jobId, stepsDone)}/`)) await blobs.delete(name);
  }
}

/** Also makes checkpoints: they can be resumed by the next job. */
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

export async function forgetProgress(blobs: BlobStore, jobId: string): Promise<void> {
  await blobs.delete(`jobs/${jobId}/resume`);
  await forgetPreparation(blobs, jobId);
}
