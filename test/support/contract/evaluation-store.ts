// What every store promises about evaluations and the right to run them; part of the storage contract.
import { expect, test } from 'vitest';
import { createId } from '#base/ids';
import type { Model } from '#domain/model';
import type { NewJob, Storage } from '#storage/storage';
import { NOW, aCheckpoint, aJob, anEvent, closing, failing } from './stored-rows.ts';

const LEASE = 1_000;
const BASES = ['base'];

export function evaluationContract(
  open: () => Promise<Storage>,
  addModel: (storage: Storage, about?: Partial<Model>) => Promise<Model>,
): void {
  async function addJob(storage: Storage, about: Partial<NewJob> = {}, model: Partial<Model> = {}): Promise<NewJob> {
    const { id: modelId, entity } = await addModel(storage, { entity: about.entity ?? 'team', ...model });
    const job = { ...aJob(modelId, entity), evaluation: { promptCount: 3, sampleCount: 2 }, ...about };
    await storage.jobs.create(job);
    return job;
  }

  /** With its checkpoint. */
  async function endJob(storage: Storage, { id, modelId }: NewJob): Promise<void> {
    const { attempt } = (await storage.jobs.claim('w', NOW, LEASE, null))!;
    await storage.jobs.finish(id, attempt, { ...closing(id, 0), checkpoint: aCheckpoint(modelId, 1) });
  }

  async function addEnded(storage: Storage, about: Partial<NewJob> = {}, model: Partial<Model> = {}): Promise<NewJob> {
    const job = await addJob(storage, about, model);
    await endJob(storage, job);
    return job;
  }

  test('an evaluation is made with its job, and gone with its model', async () => {
    const storage = await open();
    const job = await addJob(storage);
    expect(await storage.evaluations.find(job.id)).toEqual({
      jobId: job.id,
      modelId: job.modelId,
      entity: 'team',
      keyId: 'k',
      status: 'queued',
      attempt: 0,
      unsettled: 0,
      cancelRequested: false,
      promptCount: 3,
      sampleCount: 2,
      answeredCount: 0,
      failedCount: 0,
      isKept: true,
      errorMessage: null,
      createdAtMs: NOW,
      startedAtMs: null,
      endedAtMs: null,
    });
    expect(await storage.evaluations.find(createId())).toBeNull();
    await storage.models.delete(job.modelId);
    expect(await storage.evaluations.find(job.id)).toBeNull();
  });

  test('those of a model are listed by submission from either end, with the step that answers', async () => {
    const storage = await open();
    const first = await addEnded(storage);
    const { modelId } = first;
    const second = { ...aJob(modelId), evaluation: { promptCount: 1, sampleCount: 1 }, createdAtMs: NOW + 1 };
    await storage.jobs.create({ ...aJob(modelId), createdAtMs: NOW + 1 }); // without an evaluation
    await storage.jobs.create(second);
    const elsewhere = await addJob(storage);
    const listed = async (order: 'asc' | 'desc', after: string | null = null, limit = 9) => {
      const { rows, hasMore } = await storage.evaluations.list(modelId, { after, limit }, order);
      return [rows.map(({ evaluation, step }) => [evaluation.jobId, step]), hasMore];
    };
    const rows = [first, second].map(({ id }) => [id, null]);
    expect(await listed('asc')).toEqual([rows, false]);
    expect(await listed('desc')).toEqual([rows.toReversed(), false]);
    expect(await listed('asc', null, 1)).toEqual([rows.slice(0, 1), true]);
    expect(await listed('asc', first.id)).toEqual([rows.slice(1), false]);
    expect(await listed('desc', first.id)).toEqual([[], false]);
    await expect(listed('asc', elsewhere.id)).rejects.toMatchObject({ code: 'invalid_request', param: 'after' });
    const { id, attempt } = (await storage.jobs.claim('w', NOW, LEASE, null))!; // the one without an evaluation
    await storage.jobs.finish(id, attempt, failing(id, 0));
    const running = (await storage.jobs.claim('w', NOW, LEASE, null))!;
    expect(running.id).toBe(second.id);
    const step = await storage.jobs.assignStep(second.id, running.attempt);
    expect(await listed('asc', first.id)).toEqual([[[second.id, step]], false]);
  });

  test('it is claimed when the job has made its checkpoint, by a server that samples its base model', async () => {
    const storage = await open();
    const { evaluations } = storage;
    const job = await addJob(storage);
    const claim = (bases: readonly string[]) => evaluations.claim('w', NOW + 5, LEASE, bases);
    expect(await claim(BASES)).toBeNull();
    await endJob(storage, job);
    expect(await claim([])).toBeNull();
    expect(await claim(['other'])).toBeNull();
    const claimed = { jobId: job.id, status: 'running', attempt: 1, startedAtMs: NOW + 5 };
    expect(await claim(['other', ...BASES])).toMatchObject(claimed);
    expect(await claim(BASES)).toBeNull();
  });

  test('a lapsed lease lets another worker continue, and the previous one writes nothing', async () => {
    const storage = await open();
    const { evaluations } = storage;
    const { id } = await addEnded(storage);
    await evaluations.claim('a', NOW, LEASE, BASES);
    expect(await evaluations.renewLease(id, 1, NOW + 2 * LEASE)).toBe('kept');
    expect(await evaluations.claim('b', NOW + LEASE, LEASE, BASES)).toBeNull();
    const taken = { jobId: id, attempt: 2, startedAtMs: NOW };
    expect(await evaluations.claim('b', NOW + 2 * LEASE, LEASE, BASES)).toMatchObject(taken);
    const end = { status: 'succeeded' as const, errorMessage: null, endedAtMs: NOW + 9 };
    expect(await evaluations.renewLease(id, 1, NOW)).toBe('lost');
    expect(await evaluations.updateProgress(id, 1, { answeredCount: 1, failedCount: 0 }, true)).toBe(false);
    expect(await evaluations.finish(id, 1, end)).toBe(false);
    expect(await evaluations.updateProgress(id, 2, { answeredCount: 3, failedCount: 1 }, true)).toBe(true);
    expect(await evaluations.finish(id, 2, end)).toBe(true);
    expect(await evaluations.finish(id, 2, end)).toBe(false);
    expect(await evaluations.find(id)).toMatchObject({ ...end, answeredCount: 3, failedCount: 1 });
    expect(await evaluations.claim('c', NOW + 99 * LEASE, LEASE, BASES)).toBeNull();
  });

  test('attempts count until an answer is stored, but not those that stop in order', async () => {
    const storage = await open();
    const { evaluations } = storage;
    const { id } = await addEnded(storage);
    const claim = async () => {
      await evaluations.releaseLeases();
      return (await evaluations.claim('w', NOW, LEASE, BASES))!;
    };
    expect(await claim()).toMatchObject({ attempt: 1, unsettled: 1 });
    const second = await claim();
    expect(second).toMatchObject({ attempt: 2, unsettled: 2 });
    await evaluations.updateProgress(id, 2, { answeredCount: 1, failedCount: 0 }, false); // it was stored before
    await evaluations.release(id, 1); // another attempt has it
    await evaluations.release(id, 2);
    const third = await evaluations.claim('w', NOW, LEASE, BASES);
    expect(third).toMatchObject({ attempt: 3, unsettled: 2 });
    await evaluations.updateProgress(id, 3, { answeredCount: 2, failedCount: 0 }, true);
    expect(await claim()).toMatchObject({ attempt: 4, unsettled: 2 });
  });

  test('a clock that is set back holds up nothing, and a server that starts alone frees all', async () => {
    const storage = await open();
    const { evaluations } = storage;
    await addEnded(storage);
    await evaluations.claim('a', NOW + 100 * LEASE, LEASE, BASES);
    expect(await evaluations.claim('b', NOW, LEASE, BASES)).toMatchObject({ attempt: 2 });
    await evaluations.releaseLeases();
    expect(await evaluations.claim('c', NOW, LEASE, BASES)).toMatchObject({ attempt: 3 });
  });

  test('entities are served round robin', async () => {
    const storage = await open();
    const jobs: NewJob[] = [];
    for (const entity of ['many', 'many', 'few'])
      jobs.push(await addEnded(storage, { entity, createdAtMs: NOW + jobs.length }));
    const order: (string | undefined)[] = [];
    for (let i = 0; i < 3; i++) order.push((await storage.evaluations.claim('w', NOW + i, 1e6, BASES))?.jobId);
    expect(order).toEqual([jobs[0]!.id, jobs[2]!.id, jobs[1]!.id]);
  });

  test('it is cancelled with a job that makes no checkpoint, and by its owner', async () => {
    const storage = await open();
    const { evaluations, jobs } = storage;
    const failed = await addJob(storage);
    const { attempt } = (await jobs.claim('w', NOW, LEASE, null))!;
    await jobs.finish(failed.id, attempt, failing(failed.id, 0));
    const cancelled = await addJob(storage);
    await jobs.requestCancel(cancelled.id, NOW, anEvent(cancelled.id, 0, { type: 'training_failed' }));
    const asked = await addJob(storage);
    expect(await evaluations.requestCancel(asked.id, NOW)).toBe('cancelled');
    for (const { id } of [failed, cancelled, asked])
      expect(await evaluations.find(id)).toMatchObject({ status: 'cancelled', endedAtMs: NOW });
    expect(await evaluations.requestCancel(asked.id, NOW)).toBe('already_finished');
    expect(await evaluations.requestCancel(createId(), NOW)).toBe('not_found');
    await endJob(storage, asked);
    expect(await evaluations.claim('w', NOW, LEASE, BASES)).toBeNull();
    const running = await addEnded(storage);
    await evaluations.claim('w', NOW, LEASE, BASES);
    expect(await evaluations.requestCancel(running.id, NOW)).toBe('cancelling');
    expect(await evaluations.renewLease(running.id, 1, NOW)).toBe('cancelled');
    await evaluations.finish(running.id, 1, { status: 'cancelled', errorMessage: 'cancelled', endedAtMs: NOW });
    expect((await evaluations.find(running.id))?.status).toBe('cancelled');
  });

  test('old answers are found in the order in which they ended, and forgotten once', async () => {
    const storage = await open();
    const { evaluations } = storage;
    const made: string[] = [];
    for (let age = 0; age < 3; age++) {
      const { id } = await addEnded(storage);
      const { attempt } = (await evaluations.claim('w', NOW, LEASE, BASES))!;
      await evaluations.finish(id, attempt, { status: 'succeeded', errorMessage: null, endedAtMs: NOW + age });
      made.push(id);
    }
    const waiting = await addJob(storage);
    const old = async (before: number, limit: number) =>
      (await evaluations.listWithOldAnswers(before, limit)).map(({ jobId }) => jobId);
    expect(await old(NOW + 2, 9)).toEqual(made.slice(0, 2));
    expect(await old(NOW + 9, 1)).toEqual(made.slice(0, 1));
    await evaluations.forgetAnswers(made[0]!);
    await evaluations.forgetAnswers(waiting.id);
    expect(await old(NOW + 9, 9)).toEqual(made.slice(1));
    expect(await evaluations.find(made[0]!)).toMatchObject({ isKept: false });
    expect(await evaluations.find(waiting.id)).toMatchObject({ isKept: true });
  });
}
