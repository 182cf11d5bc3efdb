// Deletes data that is kept only for people after a configured time: the bodies and records of RL jobs that have ended, answers of
// evaluations, and logged trajectories. Rows, events, metrics and checkpoints stay; data that a job still needs is never touched.
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import { evaluationBlobs, jobRecordBlob } from '#domain/blob-names';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { deleteInBatches } from '../delete-in-batches.ts';

export interface DataRetentionDeps {
  readonly storage: Pick<Storage, 'jobs' | 'trajectoryLogs' | 'evaluations'>;
  readonly blobs: Pick<BlobStore, 'delete'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly keepMs: number;
}

/** Deletes expired data. */
export async function deleteOldData({ storage, blobs, clock, log, keepMs }: DataRetentionDeps): Promise<void> {
  const beforeMs = clock.now() - keepMs;
  const jobs = await deleteInBatches(
    (limit) => storage.jobs.listWithOldBody(beforeMs, limit),
    async ({ id, bodyBlob }) => {
      await storage.jobs.forgetBody(id);
      for (const blob of [bodyBlob, jobRecordBlob(id)]) await blobs.delete(blob);
    },
  );
  const logs = await deleteInBatches(
    (limit) => storage.trajectoryLogs.listBefore(beforeMs, limit),
    async ({ id, blob }) => {
      await storage.trajectoryLogs.delete(id);
      await blobs.delete(blob);
    },
  );
  const evaluations = await deleteInBatches(
    (limit) => storage.evaluations.listWithOldAnswers(beforeMs, limit),
    async ({ jobId, modelId }) => {
      await storage.evaluations.forgetAnswers(jobId);
      await blobs.delete(evaluationBlobs(modelId, jobId));
    },
  );
  if (jobs + logs + evaluations > 0) log.info('data.expired', { jobs, logs, evaluations });
}
