// What every store promises about responses; part of the storage contract.
import { expect, test } from 'vitest';
import { createId } from '#base/ids';
import type { StoredResponse } from '#domain/stored-response';
import type { Storage } from '#storage/storage';
import { NOW } from './stored-rows.ts';

const LEASE = 1_000;
const BASES = ['base'];

const aResponse = (about: Partial<StoredResponse> = {}): StoredResponse => {
  const id = `resp_${createId()}`;
  return {
    id,
    entity: 'team',
    keyId: 'k',
    project: '',
    baseModel: 'base',
    status: 'queued',
    attempt: 0,
    blob: `responses/${id}/0.json`,
    error: null,
    createdAtMs: NOW,
    endedAtMs: null,
    ...about,
  };
};

const answered = (about: Partial<StoredResponse> = {}) => aResponse({ status: 'completed', endedAtMs: NOW, ...about });

export function responseContract(open: () => Promise<Storage>): void {
  async function add(storage: Storage, about: Partial<StoredResponse> = {}): Promise<StoredResponse> {
    const response = aResponse(about);
    await storage.responses.create(response);
    return response;
  }

  test('a response is kept once under its id, and deleted once', async () => {
    const { responses, inventory } = await open();
    const error = { code: 'server_error', message: "it's ü" };
    const failed = answered({ status: 'failed', error, project: 'p' });
    await responses.create(failed);
    await responses.create({ ...failed, entity: 'others' });
    expect(await responses.find(failed.id)).toEqual(failed);
    expect(await responses.find(createId())).toBeNull();
    const listed: unknown[] = [];
    for await (const each of inventory.responses()) listed.push(each);
    expect(listed).toEqual([{ id: failed.id, entity: 'team', keyId: 'k', blob: failed.blob }]);
    expect(await responses.delete(failed.id)).toEqual(failed);
    expect(await responses.delete(failed.id)).toBeNull();
    expect(await responses.find(failed.id)).toBeNull();
  });

  test('the oldest that is queued is claimed, by a server that samples its base model', async () => {
    const { responses } = await open();
    const storage = { responses } as Storage;
    const second = await add(storage, { createdAtMs: NOW + 1 });
    const first = await add(storage);
    await responses.create(answered());
    expect(await responses.claim('w', NOW, LEASE, [])).toBeNull();
    expect(await responses.claim('w', NOW, LEASE, ['other'])).toBeNull();
    const claimed = { ...first, status: 'in_progress', attempt: 1 };
    expect(await responses.claim('w', NOW, LEASE, ['other', ...BASES])).toEqual(claimed);
    expect(await responses.claim('w', NOW, LEASE, BASES)).toMatchObject({ id: second.id });
    expect(await responses.claim('w', NOW, LEASE, BASES)).toBeNull();
  });

  test('a lapsed lease lets another server answer, and the previous one writes nothing', async () => {
    const storage = await open();
    const { responses } = storage;
    const { id } = await add(storage);
    await responses.claim('a', NOW, LEASE, BASES);
    expect(await responses.renewLease(id, 1, NOW + 2 * LEASE)).toBe(true);
    expect(await responses.claim('b', NOW + LEASE, LEASE, BASES)).toBeNull();
    expect(await responses.claim('b', NOW + 2 * LEASE, LEASE, BASES)).toMatchObject({ id, attempt: 2 });
    const end = { status: 'completed' as const, blob: `responses/${id}/2.json`, error: null, endedAtMs: NOW + 9 };
    expect(await responses.renewLease(id, 1, NOW)).toBe(false);
    expect(await responses.finish(id, 1, end)).toBe(false);
    expect(await responses.finish(id, 2, end)).toBe(true);
    expect(await responses.finish(id, 2, end)).toBe(false);
    expect(await responses.find(id)).toMatchObject(end);
    expect(await responses.claim('c', NOW + 99 * LEASE, LEASE, BASES)).toBeNull();
  });

  test('a clock that is set back holds up no response, and a server that starts alone frees all', async () => {
    const storage = await open();
    const { responses } = storage;
    await add(storage);
    await responses.claim('a', NOW + 100 * LEASE, LEASE, BASES);
    expect(await responses.claim('b', NOW, LEASE, BASES)).toMatchObject({ attempt: 2 });
    await responses.releaseLeases();
    const { id } = (await responses.claim('c', NOW, LEASE, BASES))!;
    expect(await responses.find(id)).toMatchObject({ attempt: 3 });
    await responses.release(id, 2);
    expect(await responses.find(id)).toMatchObject({ status: 'in_progress' });
    await responses.release(id, 3);
    expect(await responses.find(id)).toMatchObject({ status: 'queued', attempt: 2 });
    expect(await responses.claim('d', NOW, LEASE, BASES)).toMatchObject({ attempt: 3 });
  });

  test('responses are claimed round robin by entity', async () => {
    const storage = await open();
    const made: StoredResponse[] = [];
    for (const entity of ['many', 'many', 'few'])
      made.push(await add(storage, { entity, createdAtMs: NOW + made.length }));
    const order: (string | undefined)[] = [];
    for (let i = 0; i < 3; i++) order.push((await storage.responses.claim('w', NOW + i, 1e6, BASES))?.id);
    expect(order).toEqual([made[0]!.id, made[2]!.id, made[1]!.id]);
  });

  test('a cancelled response is over at once, whether it was begun or not', async () => {
    const storage = await open();
    const { responses } = storage;
    const running = await add(storage);
    await responses.claim('w', NOW, LEASE, BASES);
    const queued = await add(storage);
    for (const { id } of [running, queued]) {
      expect(await responses.cancel(id, NOW + 5)).toBe('cancelled');
      expect(await responses.cancel(id, NOW + 6)).toBe('already_finished');
      expect(await responses.find(id)).toMatchObject({ status: 'cancelled', endedAtMs: NOW + 5 });
    }
    expect(await responses.cancel(createId(), NOW)).toBe('not_found');
    expect(await responses.renewLease(running.id, 1, NOW)).toBe(false);
    expect(await responses.claim('w', NOW + 9 * LEASE, LEASE, BASES)).toBeNull();
  });

  test('unfinished responses are counted by key and entity', async () => {
    const storage = await open();
    const { responses } = storage;
    await add(storage);
    await responses.claim('w', NOW, LEASE, BASES);
    for (const about of [{ keyId: 'other' }, { entity: 'others' }]) await add(storage, about);
    await responses.create(answered());
    const count = (entity: string, keyId: string | null) => responses.countUnfinished({ entity, keyId });
    expect([await count('team', 'k'), await count('team', null), await count('others', null)]).toEqual([1, 2, 1]);
    expect(await responses.countUnfinished(null)).toBe(3);
  });

  test('old responses that have ended are found in the order in which they were made', async () => {
    const storage = await open();
    const { responses } = storage;
    const made = [2, 0, 1].map((age) => answered({ createdAtMs: NOW + age }));
    for (const response of made) await responses.create(response);
    await add(storage);
    const old = async (before: number, limit: number) =>
      (await responses.listBefore(before, limit)).map(({ createdAtMs }) => createdAtMs - NOW);
    expect(await old(NOW + 2, 9)).toEqual([0, 1]);
    expect(await old(NOW + 9, 1)).toEqual([0]);
    expect(await old(NOW, 9)).toEqual([]);
  });
}
