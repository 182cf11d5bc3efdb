// What every Storage promises. Signed by memory.ts and sql/open-sqlite.ts; a factory gives a fresh, empty store.
import { describe, expect, test } from 'vitest';
import { createId } from '#base/ids';
import type { Checkpoint } from '#domain/checkpoint';
import type { Model } from '#domain/model';
import type { NewEvent, NewJob, Storage } from '#storage/storage';

const NOW = 1_700_000_000_000;
const FIRST = { after: null, limit: 100 };

const aModel = (change: Partial<Model> = {}): Model => ({
  id: createId(),
  entity: 'team',
  project: 'p',
  name: `m-${createId()}`,
  baseModel: 'base',
  runId: null,
  createdAtMs: NOW,
  ...change,
});
const aCheckpoint = (modelId: string, step: number): Checkpoint => {
  const id = createId();
  return { id, modelId, step, metrics: {}, blobPrefix: `checkpoints/${modelId}/${id}`, createdAtMs: NOW };
};
const aJob = (modelId: string, entity = 'team'): NewJob => {
  const id = createId();
  return { id, type: 'rl', modelId, entity, bodyBlob: `jobs/${id}/body.json`, createdAtMs: NOW };
};
const anEvent = (jobId: string, ordinal: number, change: Partial<NewEvent> = {}): NewEvent => ({
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

export function storageContract(name: string, open: () => Promise<Storage>): void {
  describe(`${name} keeps the storage contract`, () => {
    test('a key is found by its hash and revoked once', async () => {
      const { apiKeys } = await open();
      const key = {
        id: createId(),
        entity: 'team',
        name: "o'key",
        secretHash: 'abc',
        createdAtMs: NOW,
        revokedAtMs: null,
      };
      await apiKeys.create(key);
      expect(await apiKeys.findByHash('abc')).toEqual(key);
      expect(await apiKeys.findByHash('abd')).toBeNull();
      expect(await apiKeys.revoke(key.id, NOW + 1)).toBe('revoked');
      expect(await apiKeys.revoke(key.id, NOW + 2)).toBe('already_revoked');
      expect(await apiKeys.revoke(createId(), NOW)).toBe('not_found');
      expect(await apiKeys.list()).toEqual([{ ...key, revokedAtMs: NOW + 1 }]);
    });

    test('a taken name gives the model that has it; the same name in another project is free', async () => {
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
      expect(await list({ entity: 'team' }, { after: createId(), limit: 2 })).toEqual({ rows: [], hasMore: false });
      expect((await list({ entity: 'team', project: 'even' }, { after: made[1]!.id, limit: 9 })).rows).toEqual([
        made[2],
        made[4],
      ]);
    });

    test('deleting a model takes its checkpoints, jobs and events, and names their blobs', async () => {
      const storage = await open();
      const model = await addModel(storage);
      const job = aJob(model.id);
      await storage.jobs.create(job);
      await storage.events.append(anEvent(job.id, 0));
      const gone = await storage.models.delete(model.id);
      expect(gone?.checkpoints.map(({ step }) => step)).toEqual([0]);
      expect(gone?.bodyBlobs).toEqual([job.bodyBlob]);
      expect(await storage.jobs.find(job.id)).toBeNull();
      expect(await storage.events.count(job.id)).toBe(0);
      expect(await storage.models.delete(model.id)).toBeNull();
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
    });

    test('metrics are merged, the later value wins', async () => {
      const storage = await open();
      const model = await addModel(storage);
      const zero = (await storage.checkpoints.find(model.id, 0))!;
      await storage.checkpoints.mergeMetrics(zero.id, { 'val/reward': 0.25, 'val/x': 1 });
      await storage.checkpoints.mergeMetrics(zero.id, { 'val/reward': 0.5 });
      expect((await storage.checkpoints.find(model.id, 0))?.metrics).toEqual({ 'val/reward': 0.5, 'val/x': 1 });
    });

    test('an event is stored once per ordinal, in order, and a gap is a bug', async () => {
      const storage = await open();
      const job = aJob((await addModel(storage)).id);
      await storage.jobs.create(job);
      const events = [0, 1, 2].map((ordinal) => anEvent(job.id, ordinal));
      for (const event of events) expect(await storage.events.append(event)).toBe(true);
      expect(await storage.events.append(anEvent(job.id, 1, { data: { loss: 99 } }))).toBe(false);
      await expect(storage.events.append(anEvent(job.id, 4))).rejects.toThrow('gap');
      expect((await storage.events.list(job.id, FIRST)).rows).toEqual(events);
      expect(await storage.events.list(job.id, { after: events[0]!.id, limit: 1 })).toEqual({
        rows: [events[1]],
        hasMore: true,
      });
      expect(await storage.events.list(job.id, { after: events[2]!.id, limit: 1 })).toEqual({
        rows: [],
        hasMore: false,
      });
      expect(await storage.events.list(job.id, { after: 'unknown', limit: 1 })).toEqual({ rows: [], hasMore: false });
    });

    test('jobs of one model are claimed in order, one at a time; models side by side', async () => {
      const storage = await open();
      const [a, b] = [await addModel(storage), await addModel(storage)];
      const jobs = [aJob(a.id), aJob(a.id), aJob(b.id)];
      for (const job of jobs) await storage.jobs.create(job);
      expect(await storage.jobs.countQueued()).toBe(3);
      expect((await storage.jobs.claim('w', NOW, 1000))?.id).toBe(jobs[0]!.id);
      expect((await storage.jobs.claim('w', NOW, 1000))?.id).toBe(jobs[2]!.id);
      expect(await storage.jobs.claim('w', NOW, 1000)).toBeNull();
      await storage.jobs.finish(jobs[0]!.id, 1, closing(jobs[0]!.id, 0));
      expect((await storage.jobs.claim('w', NOW, 1000))?.id).toBe(jobs[1]!.id);
    });

    test('entities take turns', async () => {
      const storage = await open();
      const [many, few] = ['many', 'few'];
      const jobs: NewJob[] = [];
      for (const entity of [many, many, many, few]) {
        jobs.push(aJob((await addModel(storage, { entity })).id, entity));
        await storage.jobs.create(jobs.at(-1)!);
      }
      const order: (string | undefined)[] = [];
      for (let i = 0; i < 4; i++) order.push((await storage.jobs.claim('w', NOW + i, 1_000_000))?.entity);
      expect(order).toEqual(['many', 'few', 'many', 'many']);
    });

    test('a lapsed lease lets another worker take the job, and the first one writes nothing more', async () => {
      const storage = await open();
      const job = aJob((await addModel(storage)).id);
      await storage.jobs.create(job);
      expect(await storage.jobs.claim('a', NOW, 1000)).toMatchObject({ id: job.id, attempt: 1, status: 'running' });
      expect(await storage.jobs.renewLease(job.id, 1, NOW + 2000)).toBe(true);
      expect(await storage.jobs.claim('b', NOW + 1500, 1000)).toBeNull();
      expect(await storage.jobs.claim('b', NOW + 2000, 1000)).toMatchObject({ id: job.id, attempt: 2 });
      expect(await storage.jobs.renewLease(job.id, 1, NOW + 9000)).toBe(false);
      expect(await storage.jobs.updateProgress(job.id, 1, { progress: 0.5 })).toBe(false);
      expect(await storage.jobs.finish(job.id, 1, closing(job.id, 0))).toBe(false);
      expect(
        await storage.jobs.updateProgress(job.id, 2, {
          progress: 0.25,
          step: 7,
          skipped: { too_long: 2 },
          startedAtMs: NOW,
        }),
      ).toBe(true);
      expect(await storage.jobs.find(job.id)).toMatchObject({
        status: 'running',
        progress: 0.25,
        step: 7,
        skipped: { too_long: 2 },
        startedAtMs: NOW,
      });
      await storage.jobs.releaseLeases('b');
      expect(await storage.jobs.claim('c', NOW + 2000, 1000)).toMatchObject({ attempt: 3 });
    });

    test('finishing stores status, checkpoint and closing event together, or nothing', async () => {
      const storage = await open();
      const model = await addModel(storage);
      const job = aJob(model.id);
      await storage.jobs.create(job);
      await storage.jobs.claim('w', NOW, 1000);
      const result = closing(job.id, 0);
      await expect(
        storage.jobs.finish(job.id, 1, { ...result, checkpoint: aCheckpoint(model.id, 0) }),
      ).rejects.toThrow();
      expect(await storage.jobs.find(job.id)).toMatchObject({ status: 'running' });
      expect(await storage.events.count(job.id)).toBe(0);
      expect(await storage.jobs.finish(job.id, 1, { ...result, checkpoint: aCheckpoint(model.id, 1) })).toBe(true);
      expect(await storage.jobs.find(job.id)).toMatchObject({ status: 'succeeded', progress: 1, endedAtMs: NOW });
      expect((await storage.checkpoints.findLatest(model.id))?.step).toBe(1);
      expect(await storage.jobs.finish(job.id, 1, result)).toBe(false);
    });

    test('a queued job is cancelled at once, a running one is asked, a finished one is left alone', async () => {
      const storage = await open();
      const model = await addModel(storage);
      const [running, queued] = [aJob(model.id), aJob(model.id)];
      for (const job of [running, queued]) await storage.jobs.create(job);
      await storage.jobs.claim('w', NOW, 1000);
      const cancel = (id: string) => storage.jobs.requestCancel(id, NOW, anEvent(id, 0, { type: 'training_failed' }));
      expect(await cancel(queued.id)).toBe('cancelled');
      expect(await storage.jobs.find(queued.id)).toMatchObject({ status: 'cancelled', endedAtMs: NOW });
      expect(await storage.events.count(queued.id)).toBe(1);
      expect(await cancel(running.id)).toBe('cancelling');
      expect(await storage.jobs.find(running.id)).toMatchObject({ status: 'running', cancelRequested: true });
      expect(await cancel(queued.id)).toBe('already_finished');
      expect(await cancel(createId())).toBe('not_found');
    });

    test('jobs are listed by entity, model and status', async () => {
      const storage = await open();
      const [a, b] = [await addModel(storage), await addModel(storage)];
      const jobs = [aJob(a.id), aJob(b.id), aJob(a.id)];
      for (const job of jobs) await storage.jobs.create(job);
      await storage.jobs.claim('w', NOW, 1000);
      const ids = async (filter: object, after: string | null = null) =>
        (await storage.jobs.list({ entity: 'team', ...filter }, { after, limit: 9 })).rows.map(({ id }) => id);
      expect(await ids({})).toEqual(jobs.map(({ id }) => id));
      expect(await ids({ modelId: a.id }, jobs[0]!.id)).toEqual([jobs[2]!.id]);
      expect(await ids({ status: 'running' })).toEqual([jobs[0]!.id]);
      expect(await ids({ entity: 'others' })).toEqual([]);
    });

    test('an idempotency key answers again, refuses another body, and is free after a day', async () => {
      const { idempotency } = await open();
      expect(await idempotency.begin('k', 'body', NOW)).toEqual({ outcome: 'new' });
      expect(await idempotency.begin('k', 'body', NOW)).toEqual({ outcome: 'in_progress' });
      await idempotency.complete('k', '{"id":1}');
      expect(await idempotency.begin('k', 'body', NOW + 1)).toEqual({ outcome: 'done', response: '{"id":1}' });
      expect(await idempotency.begin('k', 'other', NOW + 1)).toEqual({ outcome: 'mismatch' });
      await idempotency.release('k'); // has an answer: stays
      expect((await idempotency.begin('k', 'body', NOW + 1)).outcome).toBe('done');
      expect(await idempotency.begin('k', 'other', NOW + 86_400_000)).toEqual({ outcome: 'new' });
      await idempotency.release('k');
      expect(await idempotency.begin('k', 'third', NOW + 86_400_001)).toEqual({ outcome: 'new' });
      expect(await idempotency.begin('k', 'third', NOW + 86_400_001 + 600_000)).toEqual({ outcome: 'new' });
    });
  });
}

const closing = (jobId: string, ordinal: number) => ({
  status: 'succeeded' as const,
  errorMessage: null,
  endedAtMs: NOW,
  event: anEvent(jobId, ordinal, { type: 'training_ended' }),
  checkpoint: null,
});

async function finishJob(storage: Storage, modelId: string, step: number): Promise<void> {
  const job = aJob(modelId);
  await storage.jobs.create(job);
  const claimed = await storage.jobs.claim('w', NOW, 1000);
  await storage.jobs.finish(job.id, claimed!.attempt, {
    ...closing(job.id, 0),
    checkpoint: aCheckpoint(modelId, step),
  });
}
