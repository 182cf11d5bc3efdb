// What every store promises about jobs, their leases and their events; part of the storage contract.
import { expect, test } from 'vitest';
import { createId } from '#base/ids';
import type { NewJob, Storage } from '#storage/storage';
import { NOW, FIRST, aCheckpoint, aJob, anEvent, addModel, closing, failing } from './stored-rows.ts';

export function jobContract(open: () => Promise<Storage>): void {
  test('an event is stored once per ordinal, in order, and a gap is a bug', async () => {
    const storage = await open();
    const job = aJob((await addModel(storage)).id);
    await storage.jobs.create(job);
    const events = [0, 1, 2].map((ordinal) => anEvent(job.id, ordinal));
    for (const event of events) expect(await storage.events.append(event)).toBe(true);
    expect(await storage.events.append(anEvent(job.id, 1, { data: { loss: 99 } }))).toBe(false);
    await expect(storage.events.append(anEvent(job.id, 4))).rejects.toThrow('gap');
    expect((await storage.events.list(job.id, FIRST)).rows).toEqual(events);
    expect(await storage.events.findLatest(job.id)).toEqual(events[2]);
    expect(await storage.events.findLatest(createId())).toBeNull();
    expect(await storage.events.list(job.id, { after: events[0]!.id, limit: 1 })).toEqual({
      rows: [events[1]],
      hasMore: true,
    });
    expect(await storage.events.list(job.id, { after: events[2]!.id, limit: 1 })).toEqual({
      rows: [],
      hasMore: false,
    });
  });

  test('jobs of one model are claimed in order, one at a time; models side by side', async () => {
    const storage = await open();
    const [a, b] = [await addModel(storage), await addModel(storage)];
    const jobs = [aJob(a.id), aJob(a.id), aJob(b.id)];
    for (const job of jobs) await storage.jobs.create(job);
    expect(await storage.jobs.count('queued', null)).toBe(3);
    expect((await storage.jobs.claim('w', NOW, 1000, null))?.id).toBe(jobs[0]!.id);
    expect((await storage.jobs.claim('w', NOW, 1000, null))?.id).toBe(jobs[2]!.id);
    expect(await storage.jobs.claim('w', NOW, 1000, null)).toBeNull();
    await storage.jobs.finish(jobs[0]!.id, 1, closing(jobs[0]!.id, 0));
    expect((await storage.jobs.claim('w', NOW, 1000, null))?.id).toBe(jobs[1]!.id);
    expect(await storage.jobs.count('queued', null)).toBe(0);
  });

  test('a queued job waits behind the one before it of its model, or a running one over its base model', async () => {
    const storage = await open();
    const [a, b] = [await addModel(storage), await addModel(storage, { entity: 'other' })];
    const elsewhere = await addModel(storage, { baseModel: 'another-base' });
    const jobs = [aJob(a.id), aJob(a.id), aJob(a.id), aJob(b.id, 'other'), aJob(elsewhere.id)];
    for (const job of jobs) await storage.jobs.create(job);
    expect((await storage.jobs.listQueued(100)).map(({ behind }) => behind?.id ?? null)).toEqual([
      ...[null, jobs[0]!.id, jobs[1]!.id, null, null],
    ]);
    await storage.jobs.claim('w', NOW, 1000, null);
    const queued = await storage.jobs.listQueued(100);
    expect(queued.map(({ id, behind }) => [id, behind?.id ?? null])).toEqual([
      ...[
        [jobs[1]!.id, jobs[0]!.id],
        [jobs[2]!.id, jobs[1]!.id],
        [jobs[3]!.id, jobs[0]!.id],
        [jobs[4]!.id, null],
      ],
    ]);
    expect(queued[2]).toMatchObject({ entity: 'other', behind: { entity: jobs[0]!.entity }, waitingFor: null });
    expect(await storage.jobs.listQueued(1)).toEqual(queued.slice(0, 1));
  });

  test('what a job waits for is noted once, stands between its events, and ends with the wait', async () => {
    const storage = await open();
    const job = aJob((await addModel(storage)).id);
    await storage.jobs.create(job);
    const behind = { kind: 'job', id: 'another' } as const;
    const waits = () => {
      const { ordinal: _, ...event } = anEvent(job.id, 0, { type: 'training_waiting' });
      return event;
    };
    const [first, second] = [waits(), waits()];
    expect(await storage.jobs.noteWaiting(job.id, 1, { was: null, now: behind }, waits())).toBe(false);
    expect(await storage.jobs.noteWaiting(job.id, null, { was: null, now: behind }, first)).toBe(true);
    expect(await storage.jobs.noteWaiting(job.id, null, { was: null, now: behind }, waits())).toBe(false);
    expect(await storage.jobs.find(job.id)).toMatchObject({ waitingFor: behind });
    expect(await storage.jobs.claim('w', NOW, 1000, null)).toMatchObject({ waitingFor: null });
    const started = anEvent(job.id, 0);
    expect(await storage.events.append(started)).toBe(true);
    expect(await storage.jobs.noteWaiting(job.id, 1, { was: null, now: behind }, second)).toBe(true);
    const closed = closing(job.id, 1);
    expect(await storage.jobs.finish(job.id, 1, closed)).toBe(true);
    expect(await storage.jobs.find(job.id)).toMatchObject({ waitingFor: null });
    expect(await storage.jobs.noteWaiting(job.id, 1, { was: null, now: behind }, waits())).toBe(false);
    const { rows } = await storage.events.list(job.id, FIRST);
    expect(rows.map(({ id }) => id)).toEqual([first.id, started.id, second.id, closed.event.id]);
    expect((await storage.events.list(job.id, { after: started.id, limit: 1 })).rows).toEqual([rows[2]]);
    expect(await storage.events.first(job.id, 2)).toEqual([started, rows[3]]);
    expect(await storage.events.count(job.id)).toBe(2);
    expect(await storage.events.listOfJobs([job.id, 'none'], 4)).toEqual({ rows, hasMore: false });
    expect(await storage.events.listOfJobs([job.id], 3)).toEqual({ rows: rows.slice(0, 3), hasMore: true });
    expect(await storage.events.findLatest(job.id)).toEqual(rows[3]);
  });

  test('a lapsed older job goes before the queued ones of its model', async () => {
    const storage = await open();
    const model = await addModel(storage);
    const jobs = [aJob(model.id), aJob(model.id)] as const;
    for (const job of jobs) await storage.jobs.create(job);
    await storage.jobs.claim('a', NOW, 1000, null);
    expect(await storage.jobs.claim('b', NOW + 1000, 1000, null)).toMatchObject({ id: jobs[0].id, attempt: 2 });
    await storage.jobs.finish(jobs[0].id, 2, failing(jobs[0].id, 0));
    expect(await storage.jobs.claim('b', NOW + 1000, 1000, null)).toMatchObject({ id: jobs[1].id, attempt: 1 });
  });

  test('only the leases of the worker that stopped are released, or all', async () => {
    const storage = await open();
    const jobs: NewJob[] = [];
    for (const worker of ['a', 'b']) {
      const job = aJob((await addModel(storage)).id);
      jobs.push(job);
      await storage.jobs.create(job);
      await storage.jobs.claim(worker, NOW, 1000, null);
    }
    await storage.jobs.releaseLeases('b');
    expect(await storage.jobs.claim('c', NOW, 1000, null)).toMatchObject({ id: jobs[1]!.id, attempt: 2 });
    expect(await storage.jobs.claim('c', NOW, 1000, null)).toBeNull();
    await storage.jobs.releaseLeases(null);
    const claimed = [await storage.jobs.claim('d', NOW, 1000, null), await storage.jobs.claim('d', NOW, 1000, null)];
    expect(claimed.map((job) => job?.id).sort()).toEqual(jobs.map(({ id }) => id).sort());
  });

  test('entities are served round robin', async () => {
    const storage = await open();
    const [many, few] = ['many', 'few'];
    const jobs: NewJob[] = [];
    for (const entity of [many, many, many, few]) {
      jobs.push(aJob((await addModel(storage, { entity })).id, entity));
      await storage.jobs.create(jobs.at(-1)!);
    }
    const order: (string | undefined)[] = [];
    for (let i = 0; i < 4; i++) order.push((await storage.jobs.claim('w', NOW + i, 1_000_000, null))?.entity);
    expect(order).toEqual(['many', 'few', 'many', 'many']);
  });

  test('a lapsed lease lets another worker take the job, and the first one writes nothing more', async () => {
    const storage = await open();
    const job = aJob((await addModel(storage)).id);
    await storage.jobs.create(job);
    expect(await storage.jobs.claim('a', NOW, 1000, null)).toMatchObject({ id: job.id, attempt: 1, status: 'running' });
    expect(await storage.jobs.renewLease(job.id, 1, NOW + 2000)).toBe(true);
    expect(await storage.jobs.claim('b', NOW + 1500, 1000, null)).toBeNull();
    expect(await storage.jobs.claim('b', NOW + 2000, 1000, null)).toMatchObject({ id: job.id, attempt: 2 });
    expect(await storage.jobs.renewLease(job.id, 1, NOW + 9000)).toBe(false);
    expect(await storage.jobs.updateProgress(job.id, 1, { progress: 0.5 })).toBe(false);
    expect(await storage.jobs.finish(job.id, 1, closing(job.id, 0))).toBe(false);
    expect(await storage.jobs.assignStep(job.id, 1)).toBeNull();
    expect(await storage.jobs.assignStep(job.id, 2)).toBe(1);
    expect(
      await storage.jobs.updateProgress(job.id, 2, {
        progress: 0.25,
        skipped: { too_long: 2 },
        startedAtMs: NOW,
      }),
    ).toBe(true);
    expect(await storage.jobs.find(job.id)).toMatchObject({
      status: 'running',
      progress: 0.25,
      step: 1,
      skipped: { too_long: 2 },
      startedAtMs: NOW,
    });
    await storage.jobs.releaseLeases('b');
    expect(await storage.jobs.claim('c', NOW + 2000, 1000, null)).toMatchObject({ attempt: 3 });
  });

  test('finishing stores status, checkpoint and closing event together, or nothing', async () => {
    const storage = await open();
    const model = await addModel(storage);
    const job = aJob(model.id);
    await storage.jobs.create(job);
    await storage.jobs.claim('w', NOW, 1000, null);
    const result = closing(job.id, 0);
    await expect(storage.jobs.finish(job.id, 1, { ...result, checkpoint: aCheckpoint(model.id, 0) })).rejects.toThrow();
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
    expect(await storage.jobs.finish(job.id, 0, closing(job.id, 0))).toBe(false); // queued, without an owner
    await storage.jobs.claim('w', NOW, 1000, null);
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
    await storage.jobs.claim('w', NOW, 1000, null);
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
    expect(await storage.jobs.claim('w', NOW + 9000, 1000, null)).toBeNull();
    const failed = aJob(model.id);
    await storage.jobs.create(failed);
    await storage.jobs.claim('w', NOW, 1000, null);
    await storage.jobs.finish(failed.id, 1, failing(failed.id, 0));
    expect(await cancel(failed.id)).toBe('already_finished');
    expect(await storage.jobs.find(failed.id)).toMatchObject({ status: 'failed', cancelRequested: false });
  });

  test('a running job that was asked to stop can still be taken over, and says so', async () => {
    const storage = await open();
    const job = aJob((await addModel(storage)).id);
    await storage.jobs.create(job);
    await storage.jobs.claim('a', NOW, 1000, null);
    await storage.jobs.requestCancel(job.id, NOW, anEvent(job.id, 0));
    expect(await storage.jobs.claim('b', NOW + 1000, 1000, null)).toMatchObject({ attempt: 2, cancelRequested: true });
  });

  test('a worker claims only jobs of the base models that it has', async () => {
    const storage = await open();
    const [small, large] = [
      await addModel(storage, { baseModel: 'small' }),
      await addModel(storage, { baseModel: 'large' }),
    ];
    const jobs = [aJob(large.id), aJob(small.id), aJob(large.id)];
    for (const job of jobs) await storage.jobs.create(job);
    const claim = async (baseModels: string[] | null) => (await storage.jobs.claim('w', NOW, 1000, baseModels))?.id;
    expect(await claim(['none', 'small'])).toBe(jobs[1]!.id);
    expect(await claim(['small'])).toBeUndefined();
    expect(await claim(['large', 'small'])).toBe(jobs[0]!.id);
    expect(await claim(null)).toBeUndefined(); // the third waits for the first
  });

  test('a worker can leave out the base models whose trainers have a job', async () => {
    const storage = await open();
    const [small, large] = [
      await addModel(storage, { baseModel: 'small' }),
      await addModel(storage, { baseModel: 'large' }),
    ];
    const jobs = [aJob(large.id), aJob(small.id)];
    for (const job of jobs) await storage.jobs.create(job);
    const claim = async (except: string[]) => (await storage.jobs.claim('w', NOW, 1000, { except }))?.id;
    expect(await claim(['large', 'small'])).toBeUndefined();
    expect(await storage.jobs.claim('w', NOW, 1000, [])).toBeNull();
    expect(await claim(['large', 'none'])).toBe(jobs[1]!.id);
    expect(await claim([])).toBe(jobs[0]!.id);
  });

  test('a lease further in the future than any clock allows is ignored; the last saved state is kept', async () => {
    const storage = await open();
    const job = aJob((await addModel(storage)).id);
    await storage.jobs.create(job);
    expect(await storage.jobs.claim('a', NOW, 1000, null)).toMatchObject({ attempt: 1, savedAttempt: 0 });
    await storage.jobs.updateProgress(job.id, 1, { savedAttempt: 1 });
    expect(await storage.jobs.claim('b', NOW - 2_000, 1000, null)).toBeNull(); // clocks differ a little
    const setBack = await storage.jobs.claim('b', NOW - 3_600_000, 1000, null);
    expect(setBack).toMatchObject({ id: job.id, attempt: 2, savedAttempt: 1 });
  });

  test('jobs are listed by entity, model and status', async () => {
    const storage = await open();
    const [a, b] = [await addModel(storage), await addModel(storage)];
    const jobs = [aJob(a.id), aJob(b.id), aJob(a.id)];
    for (const job of jobs) await storage.jobs.create(job);
    await storage.jobs.claim('w', NOW, 1000, null);
    const ids = async (filter: object, after: string | null = null) =>
      (await storage.jobs.list({ entity: 'team', ...filter }, { after, limit: 9 })).rows.map(({ id }) => id);
    expect(await ids({})).toEqual(jobs.map(({ id }) => id));
    expect(await ids({ modelId: a.id }, jobs[0]!.id)).toEqual([jobs[2]!.id]);
    expect(await ids({ status: 'running' })).toEqual([jobs[0]!.id]);
    expect(await ids({ entity: 'others' })).toEqual([]);
    const newestFirst = await storage.jobs.list({ entity: 'team' }, { after: jobs[2]!.id, limit: 1 }, 'desc');
    expect(newestFirst).toMatchObject({ rows: [{ id: jobs[1]!.id }], hasMore: true });
    const latest = await storage.jobs.listLatest([a.id, b.id, createId()]);
    expect(latest.map(({ id }) => id).sort()).toEqual([jobs[1]!.id, jobs[2]!.id].sort());
    expect(await storage.jobs.listLatest([])).toEqual([]);
  });

  test('jobs that ended long ago lose their body; running jobs and those with examples keep it', async () => {
    const storage = await open();
    const made: NewJob[] = [];
    for (const age of [30, 20, 10, 0]) {
      const job = aJob((await addModel(storage)).id);
      made.push(job);
      await storage.jobs.create(job);
      await storage.jobs.claim('w', NOW, 1000, null);
      await storage.jobs.finish(job.id, 1, { ...failing(job.id, 0), endedAtMs: NOW - age });
    }
    const model = await addModel(storage);
    const examples: NewJob = { ...aJob(model.id), type: 'sft' };
    await storage.jobs.create(examples);
    await storage.jobs.claim('w', NOW, 1000, null);
    await storage.jobs.finish(examples.id, 1, { ...failing(examples.id, 0), endedAtMs: NOW - 99 });
    const queued = aJob(model.id);
    await storage.jobs.create(queued);
    const old = async (limit: number) => (await storage.jobs.listWithOldBody(NOW, limit)).map(({ id }) => id);
    expect(await old(9)).toEqual(made.slice(0, 3).map(({ id }) => id));
    expect(await old(2)).toEqual(made.slice(0, 2).map(({ id }) => id));
    for (const { id } of [made[0]!, made[0]!, queued]) await storage.jobs.forgetBody(id);
    expect(await old(9)).toEqual([made[1]!.id, made[2]!.id]);
    expect(await storage.jobs.find(made[0]!.id)).toMatchObject({ status: 'failed', bodyBlob: '' });
    expect(await storage.jobs.find(queued.id)).toMatchObject({ bodyBlob: queued.bodyBlob });
    await storage.jobs.forgetBody(createId());
    expect((await storage.models.delete(made[0]!.modelId))!.bodyBlobs).toEqual([]);
    expect((await storage.models.delete(model.id))!.bodyBlobs.toSorted()).toEqual(
      [examples.bodyBlob, queued.bodyBlob].toSorted(),
    );
  });
}
