// What every store promises about models and checkpoints; part of the storage contract.
import { expect, test } from 'vitest';
import { createId } from '#base/ids';
import type { Model } from '#domain/model';
import type { Storage } from '#storage/storage';
import {
  NOW,
  FIRST,
  aModel,
  aCheckpoint,
  aJob,
  anEvent,
  addModel,
  closing,
  failing,
  finishJob,
} from './stored-rows.ts';

export function modelContract(open: () => Promise<Storage>): void {
  test('a taken name returns its model; the same name in another project is free', async () => {
    const { models, checkpoints } = await open();
    const first = aModel({ name: 'agent' });
    expect(await models.create(first, aCheckpoint(first.id, 0))).toEqual({ outcome: 'created', model: first });
    const again = aModel({ name: 'agent' });
    expect(await models.create(again, aCheckpoint(again.id, 0))).toEqual({ outcome: 'exists', model: first });
    expect(await checkpoints.findLatest(again.id)).toBeNull();
    const elsewhere = aModel({ name: 'agent', project: 'q' });
    expect((await models.create(elsewhere, aCheckpoint(elsewhere.id, 0))).outcome).toBe('created');
    expect(await models.findByName('team', 'q', 'agent')).toEqual(elsewhere);
    expect(await models.findByName('others', 'q', 'agent')).toBeNull();
  });

  test('models are listed by entity and filter, in order of creation, strictly after the cursor', async () => {
    const storage = await open();
    const made: Model[] = [];
    for (let i = 0; i < 5; i++) made.push(await addModel(storage, { project: i % 2 === 0 ? 'even' : 'odd' }));
    await addModel(storage, { entity: 'others' });
    const list: typeof storage.models.list = (filter, page) => storage.models.list(filter, page);
    expect((await list({ entity: 'team' }, FIRST)).rows).toEqual(made);
    expect(await list({ entity: 'team' }, { after: made[1]!.id, limit: 2 })).toEqual({
      rows: made.slice(2, 4),
      hasMore: true,
    });
    expect(await list({ entity: 'team' }, { after: made[4]!.id, limit: 2 })).toEqual({ rows: [], hasMore: false });
    const newestFirst = await storage.models.list({ entity: 'team' }, { after: made[4]!.id, limit: 2 }, 'desc');
    expect(newestFirst).toEqual({ rows: [made[3], made[2]], hasMore: true });
    const unknown = { code: 'invalid_request', param: 'after' };
    await expect(list({ entity: 'team' }, { after: createId(), limit: 2 })).rejects.toMatchObject(unknown);
    await expect(list({ entity: 'others' }, { after: made[1]!.id, limit: 2 })).rejects.toMatchObject(unknown);
    await storage.models.delete(made[3]!.id);
    await expect(list({ entity: 'team' }, { after: made[3]!.id, limit: 2 })).rejects.toMatchObject(unknown);
    expect((await list({ entity: 'team', project: 'even' }, { after: made[1]!.id, limit: 9 })).rows).toEqual([
      made[2],
      made[4],
    ]);
  });

  test('models are listed by their last activity: their creation, or the arrival or end of a job', async () => {
    const storage = await open();
    const made: Model[] = [];
    for (let i = 0; i < 4; i++) made.push(await addModel(storage, { createdAtMs: NOW + i }));
    await addModel(storage, { entity: 'others', createdAtMs: NOW + 99 });
    const latest = async (after: string | null = null) =>
      (await storage.models.list({ entity: 'team' }, { after, limit: 3 }, 'latest')).rows.map(({ id }) =>
        made.findIndex((model) => model.id === id),
      );
    expect(await latest()).toEqual([3, 2, 1]);
    const job = { ...aJob(made[0]!.id), createdAtMs: NOW + 10 };
    await storage.jobs.create(job);
    expect(await latest()).toEqual([0, 3, 2]);
    await storage.jobs.create({ ...aJob(made[2]!.id), createdAtMs: NOW + 11 });
    const { attempt } = (await storage.jobs.claim('w', NOW, 1000, null))!;
    await storage.jobs.finish(job.id, attempt, { ...failing(job.id, 0), endedAtMs: NOW + 12 });
    expect(await latest()).toEqual([0, 2, 3]);
    expect(await latest(made[2]!.id)).toEqual([3, 1]);
    const waiting = { ...aJob(made[1]!.id), createdAtMs: NOW };
    await storage.jobs.create(waiting);
    await storage.jobs.requestCancel(waiting.id, NOW + 13, anEvent(waiting.id, 0, { type: 'training_failed' }));
    expect(await latest()).toEqual([1, 0, 2]);
  });

  test('models are found by a part of their project and name, whatever its characters', async () => {
    const storage = await open();
    const names = ['Guesser', 'guess_er', 'other', '100%', 'back\\slash'];
    for (const name of names) await addModel(storage, { name });
    await addModel(storage, { name: 'guesser', entity: 'others' });
    const found = async (search: string) =>
      (await storage.models.list({ entity: 'team', search }, FIRST)).rows.map(({ name }) => name);
    expect(await found('GUESS')).toEqual(['Guesser', 'guess_er']);
    expect(await found('s_e')).toEqual(['guess_er']);
    expect(await found('0%')).toEqual(['100%']);
    expect(await found('k\\s')).toEqual(['back\\slash']);
    expect(await found('p/o')).toEqual(['other']);
    expect(await found("'; --")).toEqual([]);
    expect(await found('')).toEqual(names);
  });

  test('the last steps of some models are read together', async () => {
    const storage = await open();
    const [model, other] = [await addModel(storage), await addModel(storage)];
    for (const step of [1, 2, 3]) await finishJob(storage, model.id, step);
    await storage.checkpoints.delete(model.id, [2]);
    const steps = async (ids: readonly string[], max: number) =>
      (await storage.checkpoints.listLatest(ids, max)).map(({ modelId, step }) => [modelId, step]);
    expect(await steps([model.id], 2)).toEqual([[model.id, 3]]);
    expect(await steps([model.id], 9)).toEqual([0, 1, 3].map((step) => [model.id, step]));
    expect((await steps([model.id, other.id, createId()], 9)).length).toBe(4);
    expect(await steps([], 9)).toEqual([]);
    const at = async (...wanted: number[]) =>
      (await storage.checkpoints.listAt(model.id, wanted)).map(({ step }) => step).sort();
    expect(await at(3, 2, 0, 9)).toEqual([0, 3]);
    expect(await at()).toEqual([]);
  });

  test('deleting a model takes its checkpoints, jobs and events, and names their blobs', async () => {
    const storage = await open();
    const [model, other] = [await addModel(storage), await addModel(storage)];
    for (const step of [2, 1]) await finishJob(storage, model.id, step);
    await finishJob(storage, other.id, 1);
    const kept = (await storage.jobs.list({ entity: 'team', modelId: other.id }, FIRST)).rows[0]!;
    const jobs = (await storage.jobs.list({ entity: 'team', modelId: model.id }, FIRST)).rows;
    const steps = (await storage.checkpoints.list(model.id, FIRST, 'asc')).rows;
    const gone = await storage.models.delete(model.id);
    expect(gone?.checkpoints).toEqual(steps);
    expect([...gone!.bodyBlobs].sort()).toEqual(jobs.map(({ bodyBlob }) => bodyBlob).sort());
    expect(steps).toHaveLength(3);
    expect(await storage.checkpoints.findLatest(model.id)).toBeNull();
    for (const job of jobs) {
      expect(await storage.jobs.find(job.id)).toBeNull();
      expect(await storage.events.count(job.id)).toBe(0);
    }
    expect(await storage.models.delete(model.id)).toBeNull();
    expect(await storage.jobs.find(kept.id)).toEqual(kept);
    expect(await storage.events.count(kept.id)).toBe(1);
    expect((await storage.checkpoints.findLatest(other.id))?.step).toBe(1);
    const again = await addModel(storage, { name: model.name });
    expect((await storage.models.findByName('team', 'p', model.name))?.id).toBe(again.id);
  });

  test('a worker for a deleted model writes nothing', async () => {
    const storage = await open();
    const model = await addModel(storage);
    const job = aJob(model.id);
    await storage.jobs.create(job);
    await storage.jobs.claim('w', NOW, 1000, null);
    await storage.models.delete(model.id);
    expect(await storage.jobs.updateProgress(job.id, 1, { progress: 0.5 })).toBe(false);
    expect(await storage.jobs.renewLease(job.id, 1, NOW + 9000)).toBe(false);
    const checkpoint = aCheckpoint(model.id, 1);
    expect(await storage.jobs.finish(job.id, 1, { ...closing(job.id, 0), checkpoint })).toBe(false);
    expect(await storage.checkpoints.find(model.id, 1)).toBeNull();
    await expect(storage.events.append(anEvent(job.id, 0))).rejects.toThrow();
    await expect(storage.jobs.create(aJob(model.id))).rejects.toThrow();
    expect(await storage.events.count(job.id)).toBe(0);
    expect(await storage.jobs.count('queued', null)).toBe(0);
  });

  test('a cursor of another list, or of none, is refused', async () => {
    const storage = await open();
    const [a, b] = [await addModel(storage), await addModel(storage)];
    const jobs = [aJob(a.id), aJob(b.id)] as const;
    for (const job of jobs) await storage.jobs.create(job);
    const event = anEvent(jobs[0].id, 0);
    await storage.events.append(event);
    for (const ordinal of [0, 1]) await storage.events.append(anEvent(jobs[1].id, ordinal));
    await storage.jobs.claim('w', NOW, 1000, null);
    await storage.jobs.claim('w', NOW, 1000, null);
    await storage.jobs.finish(jobs[1].id, 1, { ...closing(jobs[1].id, 2), checkpoint: aCheckpoint(b.id, 1) });
    const zero = (await storage.checkpoints.find(a.id, 0))!;
    const unknown = { code: 'invalid_request', param: 'after' };
    for (const after of [event.id, 'unknown']) {
      await expect(storage.events.list(jobs[1].id, { after, limit: 9 })).rejects.toMatchObject(unknown);
    }
    for (const after of [zero.id, 'unknown']) {
      for (const order of ['asc', 'desc'] as const) {
        const page = storage.checkpoints.list(b.id, { after, limit: 9 }, order);
        await expect(page).rejects.toMatchObject(unknown);
      }
    }
    for (const [entity, after] of [
      ['team', 'unknown'],
      ['others', jobs[0].id],
    ] as const)
      await expect(storage.jobs.list({ entity }, { after, limit: 9 })).rejects.toMatchObject(unknown);
  });

  test('checkpoints are listed by step, both ways, and deleted once', async () => {
    const storage = await open();
    const model = await addModel(storage);
    for (const step of [1, 2, 3]) await finishJob(storage, model.id, step);
    const { checkpoints } = storage;
    const all = (await checkpoints.list(model.id, FIRST, 'asc')).rows;
    expect(all.map(({ step }) => step)).toEqual([0, 1, 2, 3]);
    const descending = await checkpoints.list(model.id, { after: all[2]!.id, limit: 1 }, 'desc');
    expect([descending.rows.map(({ step }) => step), descending.hasMore]).toEqual([[1], true]);
    expect((await checkpoints.findLatest(model.id))?.step).toBe(3);
    const { deleted, notFoundSteps } = await checkpoints.delete(model.id, [3, 1, 9, 3]);
    expect([deleted.map(({ step }) => step), notFoundSteps]).toEqual([[1, 3], [9]]);
    expect(await checkpoints.delete(model.id, [3, 1])).toEqual({ deleted: [], notFoundSteps: [3, 1] });
    expect((await checkpoints.findLatest(model.id))?.step).toBe(2);
    expect(await checkpoints.delete(model.id, [])).toEqual({ deleted: [], notFoundSteps: [] });
    const deletedCursor = checkpoints.list(model.id, { after: all[3]!.id, limit: 9 }, 'desc');
    await expect(deletedCursor).rejects.toMatchObject({ code: 'invalid_request', param: 'after' });
  });

  test('a step is numbered after the highest that its model ever had, whatever was deleted', async () => {
    const storage = await open();
    const [model, other] = [await addModel(storage), await addModel(storage)];
    const begin = async (modelId: string) => {
      const job = aJob(modelId);
      await storage.jobs.create(job);
      const { attempt } = (await storage.jobs.claim('w', NOW, 1000, null))!;
      return { id: job.id, attempt, step: await storage.jobs.assignStep(job.id, attempt) };
    };
    const end = ({ id, attempt, step }: Awaited<ReturnType<typeof begin>>, modelId: string) =>
      storage.jobs.finish(id, attempt, { ...closing(id, 0), checkpoint: aCheckpoint(modelId, step!) });
    for (const expected of [1, 2]) {
      const job = await begin(model.id);
      expect(job.step).toBe(expected);
      await end(job, model.id);
    }
    await storage.checkpoints.delete(model.id, [1, 2]);
    const failed = await begin(model.id);
    expect(failed.step).toBe(3);
    await storage.jobs.finish(failed.id, failed.attempt, failing(failed.id, 0));
    await storage.checkpoints.delete(model.id, [0]);
    const third = await begin(model.id);
    expect(third.step).toBe(3); // the failed one made nothing
    await storage.jobs.releaseLeases('w');
    await storage.jobs.claim('w', NOW, 1000, null);
    await storage.checkpoints.delete(model.id, [3]);
    expect(await storage.jobs.assignStep(third.id, 1)).toBeNull();
    expect(await storage.jobs.assignStep(third.id, 2)).toBe(3);
    await end({ ...third, attempt: 2 }, model.id);
    expect((await storage.checkpoints.list(model.id, FIRST, 'asc')).rows.map(({ step }) => step)).toEqual([3]);
    expect((await begin(other.id)).step).toBe(1);
    expect(await storage.jobs.assignStep('unknown', 1)).toBeNull();
  });

  test('a checkpoint that is added while a job runs gets another step than the job', async () => {
    const storage = await open();
    const model = await addModel(storage);
    const job = aJob(model.id);
    await storage.jobs.create(job);
    const { attempt } = (await storage.jobs.claim('w', NOW, 1000, null))!;
    expect(await storage.jobs.assignStep(job.id, attempt)).toBe(1);
    const add = async (atLeast?: number) => (await storage.checkpoints.add(aCheckpoint(model.id, 0), atLeast))?.step;
    expect(await add()).toBe(2);
    const checkpoint = aCheckpoint(model.id, 1);
    expect(await storage.jobs.finish(job.id, attempt, { ...closing(job.id, 0), checkpoint })).toBe(true);
    expect((await storage.checkpoints.findLatest(model.id))?.step).toBe(2);
    expect((await storage.checkpoints.findLatest(model.id, 2))?.step).toBe(1);
    expect(await storage.checkpoints.findLatest(model.id, 0)).toBeNull();
    expect([await add(3), await add(2)]).toEqual([3, 4]);
  });

  test('metrics are merged, the later value wins', async () => {
    const storage = await open();
    const model = await addModel(storage);
    const zero = (await storage.checkpoints.find(model.id, 0))!;
    await storage.checkpoints.mergeMetrics(zero.id, { 'val/reward': 0.25, 'val/x': 1 });
    await storage.checkpoints.mergeMetrics(zero.id, { 'val/reward': 0.5 });
    expect((await storage.checkpoints.find(model.id, 0))?.metrics).toEqual({ 'val/reward': 0.5, 'val/x': 1 });
    await storage.checkpoints.mergeMetrics('gone', { x: 1 });
  });
}
