// What every store promises about logged trajectories; part of the storage contract.
import { expect, test } from 'vitest';
import { createId } from '#base/ids';
import type { Model } from '#domain/model';
import type { TrajectoryLog } from '#domain/trajectory-log';
import type { Storage } from '#storage/storage';
import { FIRST, NOW } from './stored-rows.ts';

export function trajectoryLogContract(
  open: () => Promise<Storage>,
  addModel: (storage: Storage, about?: Partial<Model>) => Promise<Model>,
): void {
  const aLog = (modelId: string, about: Partial<TrajectoryLog> = {}): TrajectoryLog => ({
    id: createId(),
    modelId,
    split: 'val',
    step: 3,
    blob: `logs/${modelId}/x.jsonl`,
    groupCount: 2,
    trajectoryCount: 8,
    sizeBytes: 5_000_000_000,
    createdAtMs: NOW,
    evaluationJobId: null,
    ...about,
  });

  test('a log is kept once, and gone with its model', async () => {
    const storage = await open();
    const { trajectoryLogs: logs } = storage;
    const model = await addModel(storage);
    const log = aLog(model.id, { split: "it's 🙂 %" });
    await logs.create(log);
    await logs.create({ ...log, split: 'other' });
    expect(await logs.find(log.id)).toEqual(log);
    expect(await logs.find(createId())).toBeNull();
    await storage.models.delete(model.id);
    expect(await logs.find(log.id)).toBeNull();
    await expect(logs.create(aLog(model.id))).rejects.toThrow();
  });

  test('logs are listed by model, split and step, oldest first, strictly after the cursor', async () => {
    const storage = await open();
    const { trajectoryLogs: logs } = storage;
    const [model, other] = [await addModel(storage), await addModel(storage)];
    const made = [5, 1, 3, 2, 4].map((age) =>
      aLog(model.id, { createdAtMs: NOW + age, step: age, split: age % 2 === 0 ? 'even' : 'odd' }),
    );
    for (const log of [...made, aLog(other.id, { createdAtMs: NOW })]) await logs.create(log);
    const byTime = made.toSorted((a, b) => a.createdAtMs - b.createdAtMs);
    const modelId = model.id;
    expect(await logs.list({ modelId }, FIRST)).toEqual({ rows: byTime, hasMore: false });
    const odd = await logs.list({ modelId, split: 'odd' }, { after: null, limit: 2 });
    expect(odd).toEqual({ rows: [byTime[0], byTime[2]], hasMore: true });
    // The cursor may point at a row that the filter excludes.
    expect(await logs.list({ modelId, split: 'odd' }, { after: byTime[1]!.id, limit: 9 })).toEqual({
      rows: [byTime[2], byTime[4]],
      hasMore: false,
    });
    expect((await logs.list({ modelId, step: 2 }, FIRST)).rows).toEqual([byTime[1]]);
    expect((await logs.list({ modelId, step: 2, split: 'odd' }, FIRST)).rows).toEqual([]);
    await expect(logs.list({ modelId: other.id }, { after: byTime[0]!.id, limit: 2 })).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'after',
    });
  });

  test('the latest log of an evaluation is found', async () => {
    const storage = await open();
    const { trajectoryLogs: logs } = storage;
    const { id: modelId } = await addModel(storage);
    const made = [2, 3, 1].map((age) => aLog(modelId, { createdAtMs: NOW + age, evaluationJobId: 'job' }));
    for (const log of [...made, aLog(modelId, { createdAtMs: NOW + 9, evaluationJobId: 'other' })])
      await logs.create(log);
    expect(await logs.findOfEvaluation('job')).toEqual(made[1]);
    expect(await logs.findOfEvaluation('none')).toBeNull();
  });

  test('old logs are found across all owners, and deleted one by one', async () => {
    const storage = await open();
    const { trajectoryLogs: logs } = storage;
    const made = [];
    for (let age = 0; age < 4; age++) made.push(aLog((await addModel(storage)).id, { createdAtMs: NOW + age }));
    for (const log of made.toReversed()) await logs.create(log);
    expect(await logs.listBefore(NOW + 3, 2)).toEqual(made.slice(0, 2));
    await logs.delete(made[0]!.id);
    await logs.delete(made[0]!.id);
    expect(await logs.listBefore(NOW + 3, 9)).toEqual(made.slice(1, 3));
    expect(await logs.listBefore(NOW, 9)).toEqual([]);
  });
}
