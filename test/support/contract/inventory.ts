// What every Inventory promises; part of the storage contract.
import { expect, test } from 'vitest';
import { createId } from '#base/ids';
import type { Model } from '#domain/model';
import type { EventType } from '#domain/training-job';
import type { Storage } from '#storage/storage';
import { aPayer } from '../a-caller.ts';

type AddModel = (storage: Storage, change?: Partial<Model>) => Promise<Model>;

const NOW = 1_700_000_000_000;
/** More than a page. */
const MANY = 601;

async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

const sortedBy = <T, K extends keyof T>(rows: readonly T[], key: K): T[] =>
  rows.toSorted((a, b) => (a[key] < b[key] ? -1 : 1));

export function inventoryContract(open: () => Promise<Storage>, addModel: AddModel): void {
  const anEvent = (jobId: string, ordinal: number, type: EventType) => ({
    id: createId(),
    jobId,
    ordinal,
    type,
    data: {},
    createdAtMs: NOW,
  });

  test('the inventory of an empty storage is empty', async () => {
    const { inventory } = await open();
    expect(await collect(inventory.models())).toEqual([]);
    expect(await collect(inventory.checkpoints())).toEqual([]);
    expect(await collect(inventory.jobs())).toEqual([]);
    expect(await collect(inventory.artifactContents())).toEqual([]);
    expect(await collect(inventory.storedBlobs())).toEqual([]);
  });

  test('the inventory has everyone’s models, checkpoints and jobs with their events', async () => {
    const storage = await open();
    const { inventory } = storage;
    const [one, two] = [await addModel(storage), await addModel(storage, { entity: 'others' })];
    const job = (modelId: string, entity: string) =>
      storage.jobs.create({
        id: createId(),
        type: 'rl',
        modelId,
        entity,
        keyId: 'k',
        bodyBlob: 'jobs/x/body.jsonl',
        createdAtMs: NOW,
      });
    const ended = await job(one.id, 'team');
    const { attempt } = (await storage.jobs.claim('w', NOW, 1_000, null))!;
    await storage.events.append(anEvent(ended.id, 0, 'training_started'));
    await storage.events.append(anEvent(ended.id, 1, 'gradient_step'));
    const blobPrefix = `checkpoints/${one.id}/${ended.id}`;
    await storage.jobs.finish(ended.id, attempt, {
      status: 'succeeded',
      errorMessage: null,
      endedAtMs: NOW,
      event: anEvent(ended.id, 2, 'training_ended'),
      checkpoint: {
        id: 'made',
        modelId: one.id,
        step: 1,
        metrics: { x: 1 },
        blobPrefix,
        fresh: false,
        createdAtMs: NOW,
      },
    });
    const waiting = await job(two.id, 'others');

    expect(sortedBy(await collect(inventory.models()), 'id')).toEqual(
      sortedBy([one, two], 'id').map(({ id, entity, project, name }) => ({ id, name: `${entity}/${project}/${name}` })),
    );
    const checkpoints = await collect(inventory.checkpoints());
    expect(checkpoints.filter(({ modelId }) => modelId === one.id).map(({ step }) => step)).toEqual([0, 1]);
    expect(checkpoints).toHaveLength(3);
    expect(checkpoints.find(({ id }) => id === 'made')).toEqual({
      id: 'made',
      modelId: one.id,
      entity: 'team',
      step: 1,
      blobPrefix,
    });
    const jobs = await collect(inventory.jobs());
    expect(jobs).toHaveLength(2);
    expect(jobs.find(({ id }) => id === ended.id)).toEqual({
      id: ended.id,
      type: 'rl',
      modelId: one.id,
      entity: 'team',
      keyId: 'k',
      status: 'succeeded',
      bodyBlob: 'jobs/x/body.jsonl',
      events: { count: 3, firstOrdinal: 0, lastOrdinal: 2, endedCount: 1, failedCount: 0, closingOrdinal: 2 },
    });
    expect(jobs.find(({ id }) => id === waiting.id)).toMatchObject({
      status: 'queued',
      events: { count: 0, firstOrdinal: null, lastOrdinal: null, endedCount: 0, failedCount: 0, closingOrdinal: null },
    });
  });

  test('the inventory has each row of a large table once', async () => {
    const { inventory, accounts, artifacts } = await open();
    const names = Array.from({ length: MANY }, (_, i) => `artifacts/${i}`);
    for (const [i, blob] of names.entries()) {
      await accounts.addBlob({ blob, entity: 'team', keyId: 'k', sizeBytes: i });
      await artifacts.addContent(
        { entity: i % 2 ? 'team' : 'others', sha256: `${i}`, md5: null, sizeBytes: i, blob },
        aPayer(),
        NOW,
      );
    }
    const stored = await collect(inventory.storedBlobs());
    expect(stored.map(({ blob }) => blob).sort()).toEqual(names.toSorted());
    expect(stored.find(({ blob }) => blob === 'artifacts/7')).toEqual({
      blob: 'artifacts/7',
      entity: 'team',
      keyId: 'k',
      sizeBytes: 7,
    });
    const contents = await collect(inventory.artifactContents());
    expect(contents.map(({ blob }) => blob).sort()).toEqual(names.toSorted());
    expect(contents.find(({ sha256 }) => sha256 === '7')).toEqual({
      entity: 'team',
      sha256: '7',
      md5: null,
      sizeBytes: 7,
      blob: 'artifacts/7',
    });
  });
}
