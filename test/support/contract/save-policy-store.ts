// What every store promises about policies that limit a model's checkpoints, and the checkpoints they must keep; part of the
// storage contract.
import { expect, test } from 'vitest';
import type { SavePolicy } from '#domain/save-policy';
import type { Storage } from '#storage/storage';
import { aCheckpoint, addModel, aJob, aModel, closing, FIRST, NOW } from './stored-rows.ts';

const POLICY: SavePolicy = { totalLimit: 2, bestMetric: 'val/reward', greaterIsBetter: true };

export function savePolicyContract(open: () => Promise<Storage>): void {
  test('a policy is made with its model, replaced and taken away', async () => {
    const storage = await open();
    const model = aModel();
    await storage.models.create(model, aCheckpoint(model.id, 0), POLICY);
    expect(await storage.models.findSavePolicy(model.id)).toEqual(POLICY);
    await storage.models.create({ ...aModel(), name: model.name }, aCheckpoint(model.id, 0), null);
    expect(await storage.models.findSavePolicy(model.id)).toEqual(POLICY);
    await storage.models.setSavePolicy(model.id, { ...POLICY, totalLimit: 1 });
    expect(await storage.models.findSavePolicy(model.id)).toEqual({ ...POLICY, totalLimit: 1 });
    await storage.models.setSavePolicy(model.id, null);
    expect(await storage.models.findSavePolicy(model.id)).toBeNull();
    expect(await storage.models.findSavePolicy((await addModel(storage)).id)).toBeNull();
  });

  test('the end of a job deletes surplus checkpoints that were not used; its event names their steps', async () => {
    const storage = await open();
    const { id: modelId } = await addModel(storage);
    const made = [1, 2, 3].map((step) => aCheckpoint(modelId, step));
    for (const checkpoint of made) await storage.checkpoints.add(checkpoint);
    await storage.checkpoints.noteUse(made[1]!.id, NOW);
    await storage.checkpoints.noteUse(made[1]!.id, NOW - 5); // the latest time wins
    await storage.checkpoints.noteUse(made[2]!.id, NOW - 1);
    expect(await storage.checkpoints.listNeeded(modelId, NOW)).toEqual([2]);
    const job = aJob(modelId);
    await storage.jobs.create(job);
    await storage.jobs.claim('w', NOW, 1000, null);
    const ids = [...made].reverse().map(({ id }) => id);
    const end = { ...closing(job.id, 0), checkpoint: aCheckpoint(modelId, 4), surplus: { ids, usedSinceMs: NOW } };
    expect(await storage.jobs.finish(job.id, 2, end)).toBe(false); // another attempt's: nothing is deleted
    expect(await storage.checkpoints.count(modelId)).toBe(4);
    expect(await storage.jobs.finish(job.id, 1, end)).toBe(true);
    const left = (await storage.checkpoints.list(modelId, FIRST, 'asc')).rows.map(({ step }) => step);
    expect(left).toEqual([0, 2, 4]);
    expect((await storage.events.findLatest(job.id))!.data).toEqual({ ...end.event.data, deleted_checkpoints: [1, 3] });
  });

  test('nothing is said where nothing goes', async () => {
    const storage = await open();
    const { id: modelId } = await addModel(storage);
    const job = aJob(modelId);
    await storage.jobs.create(job);
    await storage.jobs.claim('w', NOW, 1000, null);
    const end = { ...closing(job.id, 0), surplus: { ids: [], usedSinceMs: NOW } };
    await storage.jobs.finish(job.id, 1, end);
    expect((await storage.events.findLatest(job.id))!.data).toEqual(end.event.data);
  });

  test('a step is needed while its evaluation has not ended, and while Tinker clients have it', async () => {
    const storage = await open();
    const { id: modelId } = await addModel(storage);
    const job = { ...aJob(modelId), evaluation: { promptCount: 1, sampleCount: 1 } };
    await storage.jobs.create(job);
    const { attempt } = (await storage.jobs.claim('w', NOW, 1000, null))!;
    expect(await storage.jobs.assignStep(job.id, attempt)).toBe(1);
    await storage.jobs.finish(job.id, attempt, { ...closing(job.id, 0), checkpoint: aCheckpoint(modelId, 1) });
    expect(await storage.checkpoints.listNeeded(modelId, NOW)).toEqual([1]);
    await storage.evaluations.requestCancel(job.id, NOW);
    expect(await storage.checkpoints.listNeeded(modelId, NOW)).toEqual([]);
    const about = { entity: 'team', keyId: 'k', tags: [], metadata: {}, createdAtMs: NOW };
    await storage.tinker.createSession({ id: 's', ...about, seenAtMs: NOW, endedAtMs: null });
    const sampler = {
      id: 'x',
      sessionId: 's',
      ordinal: 0,
      entity: 'team',
      baseModel: 'base',
      servedAs: 'base',
      modelPath: null,
    };
    await storage.tinker.createSampler({ ...sampler, modelId, step: 0, blob: null, createdAtMs: NOW });
    expect(await storage.checkpoints.listNeeded(modelId, NOW)).toEqual([0]);
  });

  test('KL references are those of jobs that have not ended', async () => {
    const storage = await open();
    const { id: modelId } = await addModel(storage);
    const reference = { step: 3 };
    const jobs = [aJob(modelId), { ...aJob(modelId), klReference: reference }];
    for (const job of jobs) await storage.jobs.create(job);
    expect(await storage.jobs.listReferences('team')).toEqual([{ modelId, reference }]);
    expect(await storage.jobs.listReferences('others')).toEqual([]);
    for (const { id } of jobs) {
      await storage.jobs.claim('w', NOW, 1000, null);
      await storage.jobs.finish(id, 1, closing(id, 0));
    }
    expect(await storage.jobs.listReferences('team')).toEqual([]);
  });
}
