// Rows for the contract's tests: valid, and each different from the last.
import { createId } from '#base/ids';
import type { Checkpoint } from '#domain/checkpoint';
import type { Model } from '#domain/model';
import type { NewEvent, NewJob, Storage } from '#storage/storage';

export const NOW = 1_700_000_000_000;
export const FIRST = { after: null, limit: 100 };

export const aModel = (change: Partial<Model> = {}): Model => ({
  id: createId(),
  entity: 'team',
  project: 'p',
  name: `m-${createId()}`,
  baseModel: 'base',
  runId: null,
  createdAtMs: NOW,
  ...change,
});
export const aCheckpoint = (modelId: string, step: number): Checkpoint => {
  const id = createId();
  return {
    id,
    modelId,
    step,
    metrics: {},
    blobPrefix: `checkpoints/${modelId}/${id}`,
    fresh: step === 0,
    createdAtMs: NOW,
  };
};
export const aJob = (modelId: string, entity = 'team'): NewJob => {
  const id = createId();
  return { id, type: 'rl', modelId, entity, keyId: 'k', bodyBlob: `jobs/${id}/body.json`, createdAtMs: NOW };
};
export const anEvent = (jobId: string, ordinal: number, change: Partial<NewEvent> = {}): NewEvent => ({
  id: createId(),
  jobId,
  ordinal,
  type: 'gradient_step',
  data: { loss: ordinal / 3, note: "it's ü" },
  createdAtMs: NOW,
  ...change,
});

export async function addModel(storage: Storage, change: Partial<Model> = {}): Promise<Model> {
  const model = aModel(change);
  await storage.models.create(model, aCheckpoint(model.id, 0));
  return model;
}

export const closing = (jobId: string, ordinal: number) => ({
  status: 'succeeded' as const,
  errorMessage: null,
  endedAtMs: NOW,
  event: anEvent(jobId, ordinal, { type: 'training_ended' }),
  checkpoint: null,
});

export const failing = (jobId: string, ordinal: number) => ({
  ...closing(jobId, ordinal),
  status: 'failed' as const,
  errorMessage: 'no',
});

export async function finishJob(storage: Storage, modelId: string, step: number): Promise<void> {
  const job = aJob(modelId);
  await storage.jobs.create(job);
  const claimed = await storage.jobs.claim('w', NOW, 1000, null);
  await storage.jobs.finish(job.id, claimed!.attempt, {
    ...closing(job.id, 0),
    checkpoint: aCheckpoint(modelId, step),
  });
}
