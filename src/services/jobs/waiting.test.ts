import { expect, test, vi } from 'vitest';
import { systemClock } from '#base/clock';
import { silentLog } from '#base/log';
import type { TrainingJob } from '#domain/training-job';
import { aJob, addModel, NOW } from '../../../test/support/contract/stored-rows.ts';
import { openStorageInMemory } from '../../../test/support/storage-in-memory.ts';
import { createJobEvents } from './job-events.ts';
import { noteQueue, watchWaits } from './waiting.ts';

async function openWorld() {
  const storage = await openStorageInMemory();
  const deps = { storage, jobEvents: createJobEvents(), clock: systemClock, log: silentLog };
  const add = async (modelId: string, entity?: string) => storage.jobs.create(aJob(modelId, entity));
  const said = async ({ id }: Pick<TrainingJob, 'id'>) => {
    const { rows } = await storage.events.list(id, { after: null, limit: 100 });
    return rows.map(({ type, data }) => [type, (data['waiting_for'] as { message: string }).message]);
  };
  return { storage, deps, add, said };
}

test('queued jobs say behind what they wait, once, and other entities see no ids', async () => {
  const { storage, deps, add, said } = await openWorld();
  const [mine, theirs] = [await addModel(storage), await addModel(storage, { entity: 'other' })];
  const [first, second, other] = [await add(mine.id), await add(mine.id), await add(theirs.id, 'other')];
  await storage.jobs.claim('w', NOW, 1_000_000, null);
  for (let look = 0; look < 2; look++) await noteQueue(deps, () => true);
  expect(await storage.jobs.find(second.id)).toMatchObject({ waitingFor: { kind: 'job', id: first.id } });
  expect(await said(second)).toEqual([
    ['training_waiting', `It waits for its turn behind the training job ${first.id}.`],
  ]);
  expect(await storage.jobs.find(other.id)).toMatchObject({ waitingFor: { kind: 'job', id: null } });
  expect(await said(other)).toEqual([
    ['training_waiting', 'It waits for its turn behind a training job of another account.'],
  ]);
  expect(await said(first)).toEqual([]);
});

test('a queued job without a ready trainer says so, and no longer once there is one', async () => {
  const { storage, deps, add, said } = await openWorld();
  const job = await add((await addModel(storage)).id);
  await noteQueue(deps, () => false);
  expect(await said(job)).toEqual([['training_waiting', 'It waits for a trainer: none is ready.']]);
  await noteQueue(deps, () => true);
  expect(await storage.jobs.find(job.id)).toMatchObject({ waitingFor: null });
});

test('a running job says behind what it waits if that lasts, and each only once in its events', async () => {
  vi.useFakeTimers();
  try {
    const { storage, deps, add, said } = await openWorld();
    await add((await addModel(storage)).id);
    const job = (await storage.jobs.claim('w', NOW, 1_000_000, null))!;
    const waits = watchWaits(deps, job);
    const { holder } = waits;
    const client = { name: { kind: 'training_client', id: 'c1', entity: job.entity }, onWaiting() {} } as const;
    holder.onWaiting(client);
    holder.onWaiting(null); // its turn came at once
    for (let turn = 0; turn < 2; turn++) {
      holder.onWaiting(client);
      await vi.advanceTimersByTimeAsync(1_000);
      await vi.waitFor(async () => expect((await storage.jobs.find(job.id))?.waitingFor?.id).toBe('c1'));
      holder.onWaiting(null);
      await vi.waitFor(async () => expect((await storage.jobs.find(job.id))?.waitingFor).toBeNull());
    }
    holder.onWaiting(client);
    waits.end();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await said(job)).toEqual([['training_waiting', 'It waits for its turn behind the training client c1.']]);
  } finally {
    vi.useRealTimers();
  }
});
