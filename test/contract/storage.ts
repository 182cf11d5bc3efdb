// What every Storage promises. Signed by memory.ts and sql/open-sqlite.ts; a factory gives a fresh, empty store.
import { describe, expect, test } from 'vitest';
import { createId } from '#base/ids';
import type { Checkpoint } from '#domain/checkpoint';
import type { Model } from '#domain/model';
import type { NewEvent, NewJob, Storage } from '#storage/storage';
import { accountContract } from './account-store.ts';
import { artifactContract } from './artifact-store.ts';
import { inventoryContract } from './inventory.ts';
import { usageContract } from './usage-store.ts';
import { webhookContract } from './webhook-store.ts';

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
  return { id, type: 'rl', modelId, entity, keyId: 'k', bodyBlob: `jobs/${id}/body.json`, createdAtMs: NOW };
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
        scopes: ['chat', 'read'] as const,
        limits: { queuedJobs: 3 },
        createdAtMs: NOW,
        lastUsedAtMs: null,
        revokedAtMs: null,
      };
      await apiKeys.create(key);
      expect(await apiKeys.findByHash('abc')).toEqual(key);
      expect(await apiKeys.findByHash('abd')).toBeNull();
      expect(await apiKeys.revoke(key.id, NOW + 1)).toBe('revoked');
      expect(await apiKeys.revoke(key.id, NOW + 2)).toBe('already_revoked');
      expect(await apiKeys.revoke(createId(), NOW)).toBe('not_found');
      expect(await apiKeys.list(null)).toEqual([{ ...key, revokedAtMs: NOW + 1 }]);
      expect(await apiKeys.findByHash('abc')).toEqual({ ...key, revokedAtMs: NOW + 1 });
      const older = { ...key, id: createId(), secretHash: 'older', createdAtMs: NOW - 1 };
      await apiKeys.create(older);
      expect((await apiKeys.list(null)).map(({ id }) => id)).toEqual([older.id, key.id]);
      await expect(apiKeys.create({ ...older, id: createId() })).rejects.toThrow();
      const others = { ...key, id: createId(), secretHash: 'others', entity: 'others' };
      await apiKeys.create(others);
      expect(await apiKeys.list('others')).toEqual([others]);
      for (const usedAtMs of [NOW + 5, NOW + 9, NOW + 7]) await apiKeys.touch(others.id, usedAtMs);
      expect((await apiKeys.findByHash('others'))?.lastUsedAtMs).toBe(NOW + 9);
      expect((await apiKeys.findByHash('older'))?.lastUsedAtMs).toBeNull();
    });

    test.each(["o'brien", '"; drop table models; --', 'per%cent_', 'ünï – 日本 🙂', 'back\\slash\n', ''])(
      'the text %j is kept and found as it is',
      async (text) => {
        const storage = await open();
        const odd = { id: `id-${text}`, entity: `e-${text}`, project: text, name: text, baseModel: text, runId: text };
        const model = await addModel(storage, odd);
        await addModel(storage, { entity: odd.entity });
        expect(await storage.models.find(odd.id)).toEqual(model);
        expect(await storage.models.findByName(odd.entity, text, text)).toEqual(model);
        expect((await storage.models.list({ entity: odd.entity, name: text }, FIRST)).rows).toEqual([model]);
        expect((await storage.models.list({ entity: odd.entity }, { after: odd.id, limit: 9 })).rows).toHaveLength(1);
        const job = { ...aJob(odd.id, odd.entity), id: `job-${text}` };
        await storage.jobs.create(job);
        const event = anEvent(job.id, 0, { id: `event-${text}`, data: { [text]: [text, { deep: null }] } });
        await storage.events.append(event);
        expect((await storage.events.list(job.id, FIRST)).rows).toEqual([event]);
        const claimed = (await storage.jobs.claim(text, NOW, 1000))!;
        await storage.jobs.finish(job.id, claimed.attempt, { ...failing(job.id, 1), errorMessage: text });
        expect(await storage.jobs.find(job.id)).toMatchObject({ id: job.id, entity: odd.entity, errorMessage: text });
        const zero = (await storage.checkpoints.find(odd.id, 0))!;
        await storage.checkpoints.mergeMetrics(zero.id, { [text]: 0.1 });
        expect((await storage.checkpoints.find(odd.id, 0))?.metrics).toEqual({ [text]: 0.1 });
      },
    );

    test('a number that is not finite is null when it is read', async () => {
      const storage = await open();
      const job = aJob((await addModel(storage)).id);
      await storage.jobs.create(job);
      await storage.events.append(anEvent(job.id, 0, { data: { loss: NaN, gradNorm: Infinity, tokens: 3 } }));
      expect((await storage.events.list(job.id, FIRST)).rows[0]?.data).toEqual({
        loss: null,
        gradNorm: null,
        tokens: 3,
      });
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

    test('whoever works for a model that is gone writes nothing', async () => {
      const storage = await open();
      const model = await addModel(storage);
      const job = aJob(model.id);
      await storage.jobs.create(job);
      await storage.jobs.claim('w', NOW, 1000);
      await storage.models.delete(model.id);
      expect(await storage.jobs.updateProgress(job.id, 1, { progress: 0.5 })).toBe(false);
      expect(await storage.jobs.renewLease(job.id, 1, NOW + 9000)).toBe(false);
      const checkpoint = aCheckpoint(model.id, 1);
      expect(await storage.jobs.finish(job.id, 1, { ...closing(job.id, 0), checkpoint })).toBe(false);
      expect(await storage.checkpoints.find(model.id, 1)).toBeNull();
      await expect(storage.events.append(anEvent(job.id, 0))).rejects.toThrow();
      await expect(storage.jobs.create(aJob(model.id))).rejects.toThrow();
      expect(await storage.events.count(job.id)).toBe(0);
      expect(await storage.jobs.countQueued(null)).toBe(0);
    });

    test('a cursor of another list, or of none, gives an empty page', async () => {
      const storage = await open();
      const [a, b] = [await addModel(storage), await addModel(storage)];
      const jobs = [aJob(a.id), aJob(b.id)] as const;
      for (const job of jobs) await storage.jobs.create(job);
      const event = anEvent(jobs[0].id, 0);
      await storage.events.append(event);
      for (const ordinal of [0, 1]) await storage.events.append(anEvent(jobs[1].id, ordinal));
      await storage.jobs.claim('w', NOW, 1000);
      await storage.jobs.claim('w', NOW, 1000);
      await storage.jobs.finish(jobs[1].id, 1, { ...closing(jobs[1].id, 2), checkpoint: aCheckpoint(b.id, 1) });
      const zero = (await storage.checkpoints.find(a.id, 0))!;
      const empty = { rows: [], hasMore: false };
      for (const after of [event.id, 'unknown']) {
        expect(await storage.events.list(jobs[1].id, { after, limit: 9 })).toEqual(empty);
      }
      for (const after of [zero.id, 'unknown']) {
        expect(await storage.checkpoints.list(b.id, { after, limit: 9 }, 'asc')).toEqual(empty);
        expect(await storage.checkpoints.list(b.id, { after, limit: 9 }, 'desc')).toEqual(empty);
      }
      expect(await storage.jobs.list({ entity: 'team' }, { after: 'unknown', limit: 9 })).toEqual(empty);
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
      expect(await checkpoints.list(model.id, { after: all[3]!.id, limit: 9 }, 'desc')).toEqual({
        rows: [],
        hasMore: false,
      });
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
      expect(await storage.jobs.countQueued(null)).toBe(3);
      expect((await storage.jobs.claim('w', NOW, 1000))?.id).toBe(jobs[0]!.id);
      expect((await storage.jobs.claim('w', NOW, 1000))?.id).toBe(jobs[2]!.id);
      expect(await storage.jobs.claim('w', NOW, 1000)).toBeNull();
      await storage.jobs.finish(jobs[0]!.id, 1, closing(jobs[0]!.id, 0));
      expect((await storage.jobs.claim('w', NOW, 1000))?.id).toBe(jobs[1]!.id);
      expect(await storage.jobs.countQueued(null)).toBe(0);
    });

    test('a lapsed older job goes before the queued ones of its model', async () => {
      const storage = await open();
      const model = await addModel(storage);
      const jobs = [aJob(model.id), aJob(model.id)] as const;
      for (const job of jobs) await storage.jobs.create(job);
      await storage.jobs.claim('a', NOW, 1000);
      expect(await storage.jobs.claim('b', NOW + 1000, 1000)).toMatchObject({ id: jobs[0].id, attempt: 2 });
      await storage.jobs.finish(jobs[0].id, 2, failing(jobs[0].id, 0));
      expect(await storage.jobs.claim('b', NOW + 1000, 1000)).toMatchObject({ id: jobs[1].id, attempt: 1 });
    });

    test('only the leases of the worker that stopped are released, or all', async () => {
      const storage = await open();
      const jobs: NewJob[] = [];
      for (const worker of ['a', 'b']) {
        const job = aJob((await addModel(storage)).id);
        jobs.push(job);
        await storage.jobs.create(job);
        await storage.jobs.claim(worker, NOW, 1000);
      }
      await storage.jobs.releaseLeases('b');
      expect(await storage.jobs.claim('c', NOW, 1000)).toMatchObject({ id: jobs[1]!.id, attempt: 2 });
      expect(await storage.jobs.claim('c', NOW, 1000)).toBeNull();
      await storage.jobs.releaseLeases(null);
      const claimed = [await storage.jobs.claim('d', NOW, 1000), await storage.jobs.claim('d', NOW, 1000)];
      expect(claimed.map((job) => job?.id).sort()).toEqual(jobs.map(({ id }) => id).sort());
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

    test('a closing event that would leave a gap undoes the whole finish; one that is there already is not doubled', async () => {
      const storage = await open();
      const model = await addModel(storage);
      const job = aJob(model.id);
      await storage.jobs.create(job);
      expect(await storage.jobs.finish(job.id, 0, closing(job.id, 0))).toBe(false); // queued: nobody's
      await storage.jobs.claim('w', NOW, 1000);
      await storage.jobs.updateProgress(job.id, 1, { progress: 0.5 });
      const checkpoint = aCheckpoint(model.id, 1);
      await expect(storage.jobs.finish(job.id, 1, { ...closing(job.id, 3), checkpoint })).rejects.toThrow('gap');
      expect(await storage.jobs.find(job.id)).toMatchObject({ status: 'running', progress: 0.5, endedAtMs: null });
      expect(await storage.checkpoints.find(model.id, 1)).toBeNull();
      const first = anEvent(job.id, 0, { type: 'training_failed' });
      await storage.events.append(first);
      expect(await storage.jobs.finish(job.id, 1, failing(job.id, 0))).toBe(true);
      expect((await storage.events.list(job.id, FIRST)).rows).toEqual([first]);
      expect(await storage.jobs.find(job.id)).toMatchObject({
        status: 'failed',
        errorMessage: 'no',
        progress: 0.5,
        endedAtMs: NOW,
      });
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
      expect(await storage.events.count(running.id)).toBe(0); // its worker closes it
      await storage.jobs.finish(running.id, 1, { ...failing(running.id, 0), status: 'cancelled' });
      expect(await cancel(running.id)).toBe('already_finished');
      expect(await storage.jobs.claim('w', NOW + 9000, 1000)).toBeNull();
      const failed = aJob(model.id);
      await storage.jobs.create(failed);
      await storage.jobs.claim('w', NOW, 1000);
      await storage.jobs.finish(failed.id, 1, failing(failed.id, 0));
      expect(await cancel(failed.id)).toBe('already_finished');
      expect(await storage.jobs.find(failed.id)).toMatchObject({ status: 'failed', cancelRequested: false });
    });

    test('a running job that was asked to stop can still be taken over, and says so', async () => {
      const storage = await open();
      const job = aJob((await addModel(storage)).id);
      await storage.jobs.create(job);
      await storage.jobs.claim('a', NOW, 1000);
      await storage.jobs.requestCancel(job.id, NOW, anEvent(job.id, 0));
      expect(await storage.jobs.claim('b', NOW + 1000, 1000)).toMatchObject({ attempt: 2, cancelRequested: true });
    });

    test('a worker can claim jobs of the base models that it has, and leaves the others to others', async () => {
      const storage = await open();
      const [small, large] = [
        await addModel(storage, { baseModel: 'small' }),
        await addModel(storage, { baseModel: 'large' }),
      ];
      const jobs = [aJob(large.id), aJob(small.id), aJob(large.id)];
      for (const job of jobs) await storage.jobs.create(job);
      const claim = async (baseModels?: string[]) => (await storage.jobs.claim('w', NOW, 1000, baseModels))?.id;
      expect(await claim(['none', 'small'])).toBe(jobs[1]!.id);
      expect(await claim(['small'])).toBeUndefined();
      expect(await claim(['large', 'small'])).toBe(jobs[0]!.id);
      expect(await claim()).toBeUndefined(); // the third waits for the first
    });

    test('a lease that no clock of today could have given is no lease; what was saved last is remembered', async () => {
      const storage = await open();
      const job = aJob((await addModel(storage)).id);
      await storage.jobs.create(job);
      expect(await storage.jobs.claim('a', NOW, 1000)).toMatchObject({ attempt: 1, savedAttempt: 0 });
      await storage.jobs.updateProgress(job.id, 1, { savedAttempt: 1 });
      expect(await storage.jobs.claim('b', NOW - 2_000, 1000)).toBeNull(); // clocks differ a little
      const setBack = await storage.jobs.claim('b', NOW - 3_600_000, 1000);
      expect(setBack).toMatchObject({ id: job.id, attempt: 2, savedAttempt: 1 });
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
      expect(await idempotency.begin('k', 'body', 'r1', NOW)).toEqual({ outcome: 'new', resourceId: 'r1' });
      expect(await idempotency.begin('k', 'body', 'r2', NOW)).toEqual({ outcome: 'in_progress' });
      await idempotency.complete('k', '{"id":1}');
      expect(await idempotency.begin('k', 'body', 'r', NOW + 1)).toEqual({ outcome: 'done', response: '{"id":1}' });
      expect(await idempotency.begin('k', 'other', 'r', NOW + 1)).toEqual({ outcome: 'mismatch' });
      await idempotency.release('k'); // has an answer: stays
      expect((await idempotency.begin('k', 'body', 'r', NOW + 1)).outcome).toBe('done');
      const aDayLater = NOW + 86_400_000;
      expect(await idempotency.begin('k', 'other', 'r3', aDayLater)).toEqual({ outcome: 'new', resourceId: 'r3' });
      await idempotency.release('k'); // it failed: nothing was made
      expect(await idempotency.begin('k', 'third', 'r4', aDayLater)).toEqual({ outcome: 'new', resourceId: 'r4' });
    });

    test('a request whose server died begins again, after ten minutes or a restart, with the id that it had', async () => {
      const { idempotency } = await open();
      const begin = (key: string, body: string, nowMs: number) =>
        idempotency.begin(key, body, `offered ${nowMs}`, nowMs);
      await idempotency.begin('dead', 'body', 'first', NOW);
      const again = { outcome: 'new', resourceId: 'first' };
      expect(await begin('dead', 'other', NOW + 600_000)).toEqual({ outcome: 'mismatch' });
      expect(await begin('dead', 'body', NOW + 599_999)).toEqual({ outcome: 'in_progress' });
      expect(await begin('dead', 'body', NOW + 600_000)).toEqual(again);
      expect(await begin('dead', 'body', NOW + 600_001)).toEqual({ outcome: 'in_progress' });
      await idempotency.releaseAll();
      expect(await begin('dead', 'body', NOW + 600_002)).toEqual(again);
      await idempotency.complete('dead', 'answer');
      await idempotency.releaseAll();
      expect(await begin('dead', 'body', NOW + 600_003)).toEqual({ outcome: 'done', response: 'answer' });
    });

    test('idempotency keys know nothing of each other', async () => {
      const { idempotency } = await open();
      await idempotency.begin('done', 'body', 'r', NOW);
      await idempotency.complete('done', 'answer');
      await idempotency.begin('slow', 'body', 'r', NOW + 86_300_000);
      await idempotency.begin('other', 'body', 'r', NOW + 87_400_000); // forgets `done`
      await idempotency.complete('slow', 'late answer'); // nobody has asked for it since
      expect(await idempotency.begin('slow', 'body', 'r', NOW + 87_400_000)).toEqual({
        outcome: 'done',
        response: 'late answer',
      });
      await idempotency.release('unknown');
      await idempotency.letGo('unknown');
      await idempotency.complete('unknown', 'answer');
      expect(await idempotency.begin('unknown', 'body', 'r', NOW)).toEqual({ outcome: 'new', resourceId: 'r' });
    });

    artifactContract(open);
    usageContract(open);
    accountContract(open);
    webhookContract(open, addModel);
    inventoryContract(open, addModel);

    test('answers a ping', async () => {
      await (await open()).ping();
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

const failing = (jobId: string, ordinal: number) => ({
  ...closing(jobId, ordinal),
  status: 'failed' as const,
  errorMessage: 'no',
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
