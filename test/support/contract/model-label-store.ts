// What every store promises about the labels of models: tags, notes, archiving, and the projects; part of the storage contract.
import { expect, test } from 'vitest';
import { NO_LABELS } from '#domain/model-labels';
import type { ModelFilter, Storage } from '#storage/storage';
import { FIRST, NOW, addModel } from './stored-rows.ts';

export function modelLabelContract(open: () => Promise<Storage>): void {
  test('labels are changed one by one, and forgotten with the model', async () => {
    const storage = await open();
    const [model, other] = [await addModel(storage), await addModel(storage)];
    const read = async () => storage.models.listLabels([model.id, other.id]);
    expect(await read()).toEqual(
      new Map([
        [model.id, NO_LABELS],
        [other.id, NO_LABELS],
      ]),
    );
    await storage.models.setLabels(model.id, { tags: ['best', 'für-später'], note: 'Line\nand "line"' });
    await storage.models.setLabels(model.id, { archivedAtMs: NOW });
    await storage.models.setLabels(model.id, {});
    const labels = { tags: ['best', 'für-später'], note: 'Line\nand "line"', archivedAtMs: NOW };
    expect(await read()).toEqual(
      new Map([
        [model.id, labels],
        [other.id, NO_LABELS],
      ]),
    );
    await storage.models.setLabels(model.id, { tags: [], note: null, archivedAtMs: null });
    expect((await read()).get(model.id)).toEqual(NO_LABELS);
    await storage.models.delete(model.id);
    expect([...(await read()).keys()]).toEqual([other.id]);
    expect(await storage.models.listLabels([])).toEqual(new Map());
  });

  test('models are listed by whole tags, exactly as written, by base models, and without the archived ones', async () => {
    const storage = await open();
    const made = ['a', 'b', 'c', 'd'];
    const tags = [['rl', 'rl-2'], ['rl-2'], ['RL', 'x_y'], []];
    for (const [i, name] of made.entries()) {
      const { id } = await addModel(storage, { name, ...(name === 'd' ? { baseModel: 'other/base' } : {}) });
      await storage.models.setLabels(id, { tags: tags[i]!, archivedAtMs: name === 'b' ? NOW : null });
    }
    const names = async (filter: Omit<ModelFilter, 'entity'>) =>
      (await storage.models.list({ entity: 'team', ...filter }, FIRST)).rows.map(({ name }) => name).join('');
    expect(await names({})).toBe('abcd');
    expect(await names({ tag: 'rl' })).toBe('a');
    expect(await names({ tag: 'RL' })).toBe('c');
    expect(await names({ tag: 'rl-2' })).toBe('ab');
    expect(await names({ tag: 'rl_2' })).toBe('');
    expect(await names({ tag: 'x%' })).toBe('');
    expect(await names({ tag: 'rl-2', archived: 'exclude' })).toBe('a');
    expect(await names({ archived: 'only' })).toBe('b');
    expect(await names({ baseModels: ['other/base', 'unknown'] })).toBe('d');
    expect(await names({ baseModels: [] })).toBe('');
  });

  test('projects are listed by name with their models and the latest activity of one', async () => {
    const storage = await open();
    for (const [i, project] of ['q', 'p', 'q', 'r'].entries()) {
      const { id } = await addModel(storage, { project, createdAtMs: NOW + i });
      if (i === 0 || project === 'r') await storage.models.setLabels(id, { archivedAtMs: NOW });
    }
    await addModel(storage, { entity: 'others', project: 'secret' });
    const list = (after: string | null, limit: number) => storage.models.listProjects('team', { after, limit });
    const [p, q, r] = [
      { project: 'p', modelCount: 1, archivedCount: 0, activeAtMs: NOW + 1 },
      { project: 'q', modelCount: 1, archivedCount: 1, activeAtMs: NOW + 2 },
      { project: 'r', modelCount: 0, archivedCount: 1, activeAtMs: NOW + 3 },
    ];
    expect(await list(null, 2)).toEqual({ rows: [p, q], hasMore: true });
    expect(await list('q', 2)).toEqual({ rows: [r], hasMore: false });
    expect(await storage.models.listProjects('nobody', FIRST)).toEqual({ rows: [], hasMore: false });
  });
}
