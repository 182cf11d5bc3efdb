// The job that a model has queued or running, whoever submitted it: the next step is its.
import type { Model } from '#domain/model';
import type { TrainingJob } from '#domain/training-job';
import type { Storage } from '#storage/storage';

/** The oldest, or null. */
export async function findUnfinished(
  { jobs }: Pick<Storage, 'jobs'>,
  { id: modelId, entity }: Pick<Model, 'id' | 'entity'>,
): Promise<TrainingJob | null> {
  for (const status of ['running', 'queued'] as const) {
    const [job] = (await jobs.list({ entity, modelId, status }, { after: null, limit: 1 }, 'asc')).rows;
    if (job) return job;
  }
  return null;
}
