// What every store promises about Tinker's sessions, runs, operations, samplers and checkpoints; part of the storage contract.
import { expect, test } from 'vitest';
import { createId } from '#base/ids';
import { PAGE_WEIGHT_MAX } from '#domain/page';
import type { TinkerCheckpoint, TinkerOperation, TinkerRun, TinkerSampler } from '#domain/tinker';
import type { Model } from '#domain/model';
import type { Storage } from '#storage/storage';
import { NOW } from './stored-rows.ts';

const LEASE = { nowMs: NOW, leaseMs: 1_000, gapMs: 500 };
const BASES = ['base'];
const ALL = { offset: 0, limit: 10 };
const DONE = { result: '{}', error: null, category: null };

export function tinkerContract(
  open: () => Promise<Storage>,
  addModel: (storage: Storage, about?: Partial<Model>) => Promise<Model>,
): void {
  async function addRun(storage: Storage, about: Partial<TinkerRun> = {}): Promise<TinkerRun> {
    const sessionId = createId();
    const session = { id: sessionId, entity: 'team', keyId: 'k', tags: ['a'], metadata: { b: 1 }, createdAtMs: NOW };
    await storage.tinker.createSession({ ...session, seenAtMs: NOW, endedAtMs: null });
    const { id: modelId } = await addModel(storage);
    return storage.tinker.createRun({
      id: `${sessionId}:train:0`,
      sessionId,
      entity: 'team',
      keyId: 'k',
      modelId,
      baseModel: 'base',
      servedAs: 'alias',
      lora: { rank: 4, seed: 1, attention: true, mlp: false },
      resetsOptimizer: false,
      metadata: { renderer: 'x' },
      attempt: 0,
      waitingFor: null,
      doneSeq: 0,
      stateSeq: 0,
      stateBlob: null,
      createdAtMs: NOW,
      usedAtMs: NOW,
      ...about,
    });
  }

  const anOperation = (runId: string, seq: number, about: Partial<TinkerOperation> = {}): TinkerOperation => ({
    runId,
    seq,
    kind: 'optim_step',
    bodyHash: `hash-${seq}`,
    body: '{}',
    status: 'queued',
    result: null,
    error: null,
    category: null,
    createdAtMs: NOW,
    ...about,
  });

  const aCheckpoint = (run: TinkerRun, name: string, about: Partial<TinkerCheckpoint> = {}): TinkerCheckpoint => ({
    runId: run.id,
    kind: 'weights',
    name,
    entity: run.entity,
    modelId: run.modelId,
    step: 1,
    sizeBytes: 10,
    metadata: { a: 'b' },
    createdAtMs: NOW,
    expiresAtMs: null,
    publishedAtMs: null,
    ...about,
  });

  test('a session is seen, and ends once', async () => {
    const { tinker } = await open();
    const session = { id: 's', entity: 'team', keyId: 'k', tags: [], metadata: {}, createdAtMs: NOW, seenAtMs: NOW };
    await tinker.createSession({ ...session, endedAtMs: null });
    for (const seenAtMs of [NOW + 5, NOW + 3]) await tinker.touchSession('s', seenAtMs);
    for (const endedAtMs of [NOW + 7, NOW + 9]) await tinker.endSession('s', endedAtMs);
    const ended = { ...session, seenAtMs: NOW + 5, endedAtMs: NOW + 7 };
    expect(await tinker.findSession('s')).toEqual(ended);
    expect(await tinker.listSessions('team', ALL)).toEqual({ rows: ['s'], total: 1 });
    expect(await tinker.listSessions('others', ALL)).toEqual({ rows: [], total: 0 });
    expect(await tinker.findSession('t')).toBeNull();
  });

  test('a run is made once, and goes with its model', async () => {
    const storage = await open();
    const run = await addRun(storage);
    expect(await storage.tinker.createRun({ ...run, lora: { ...run.lora, seed: 2 } })).toEqual(run);
    expect(await storage.tinker.findRun(run.id)).toEqual(run);
    expect(await storage.tinker.listRunIdsOf(run.sessionId)).toEqual([run.id]);
    expect(await storage.tinker.listRuns('team', 'owned', ALL)).toEqual({ rows: [run], total: 1 });
    await storage.tinker.addOperation(anOperation(run.id, 1));
    await storage.tinker.putCheckpoint(aCheckpoint(run, 'a'));
    await storage.models.delete(run.modelId);
    expect(await storage.tinker.findRun(run.id)).toBeNull();
    expect(await storage.tinker.findOperation(run.id, 1)).toBeNull();
    expect(await storage.tinker.listCheckpoints({ entity: 'team' }, ALL)).toEqual({ rows: [], total: 0 });
  });

  test('an operation is accepted once under its number', async () => {
    const storage = await open();
    const run = await addRun(storage);
    const first = anOperation(run.id, 1, { createdAtMs: NOW + 2 });
    expect(await storage.tinker.addOperation(first)).toEqual({ outcome: 'added', operation: first });
    const again = { ...first, bodyHash: 'other' };
    expect(await storage.tinker.addOperation(again)).toEqual({ outcome: 'exists', operation: first });
    await storage.tinker.addOperation(anOperation(run.id, 3));
    expect((await storage.tinker.listOperations(run.id, 0, 10)).map(({ seq }) => seq)).toEqual([1, 3]);
    expect(await storage.tinker.countQueued(run.id)).toBe(2);
    expect((await storage.tinker.findRun(run.id))!.usedAtMs).toBe(NOW);
  });

  test('a run is claimed when its next operation is there, or the one before it does not come', async () => {
    const storage = await open();
    const { tinker } = storage;
    const run = await addRun(storage);
    expect(await tinker.claimRun('w', LEASE, BASES)).toBeNull();
    await tinker.addOperation(anOperation(run.id, 2));
    expect(await tinker.claimRun('w', LEASE, BASES)).toBeNull();
    await tinker.addOperation(anOperation(run.id, 1));
    expect(await tinker.claimRun('w', LEASE, [])).toBeNull();
    expect(await tinker.claimRun('w', LEASE, ['other'])).toBeNull();
    const claimed = (await tinker.claimRun('w', LEASE, BASES))!;
    expect(claimed).toMatchObject({ id: run.id, attempt: 1 });
    expect(await tinker.claimRun('v', LEASE, BASES)).toBeNull();
    await tinker.noteWaiting(claimed, { kind: 'job', id: 'j' });
    expect(await tinker.findRun(run.id)).toMatchObject({ waitingFor: { kind: 'job', id: 'j' } });
    expect(await tinker.finishOperation(claimed, 1, DONE)).toBe(true);
    expect(await tinker.findOperation(run.id, 1)).toMatchObject({ status: 'done', result: '{}' });
    expect(await tinker.finishOperation(claimed, 2, { result: null, error: 'no', category: 'user' })).toBe(true);
    expect(await tinker.findOperation(run.id, 2)).toMatchObject({ status: 'failed', error: 'no', category: 'user' });
    await tinker.addOperation(anOperation(run.id, 5));
    expect(await tinker.renewRun(claimed, NOW)).toBe(true);
    expect(await tinker.claimRun('v', { ...LEASE, nowMs: NOW + 499 }, BASES)).toBeNull();
    expect(await tinker.claimRun('v', { ...LEASE, nowMs: NOW + 500 }, BASES)).toMatchObject({ attempt: 2, doneSeq: 2 });
    expect(await tinker.finishOperation(claimed, 5, DONE)).toBe(false);
    await tinker.noteWaiting(claimed, { kind: 'job', id: 'j' });
    expect(await tinker.findRun(run.id)).toMatchObject({ waitingFor: null });
    expect(await tinker.saveState(claimed, { stateSeq: 2, stateBlob: 'tinker/x' })).toBe(false);
    expect(await tinker.renewRun(claimed, NOW + 9_000)).toBe(false);
    expect(await tinker.findOperation(run.id, 5)).toMatchObject({ status: 'queued' });
  });

  test('runs are claimed round robin, and are free when they are let go', async () => {
    const storage = await open();
    const { tinker } = storage;
    const [a, b] = [await addRun(storage), await addRun(storage)];
    for (const { id } of [a, b]) await tinker.addOperation(anOperation(id, 1));
    const first = (await tinker.claimRun('w', LEASE, BASES))!;
    const second = (await tinker.claimRun('w', { ...LEASE, nowMs: NOW + 1 }, BASES))!;
    expect(new Set([first.id, second.id])).toEqual(new Set([a.id, b.id]));
    await tinker.releaseRuns();
    expect(await tinker.claimRun('w', { ...LEASE, nowMs: NOW + 2 }, BASES)).toMatchObject({ id: first.id, attempt: 2 });
    expect(await tinker.saveState({ id: first.id, attempt: 2 }, { stateSeq: 1, stateBlob: 'tinker/x' })).toBe(true);
    expect(await tinker.findRun(first.id)).toMatchObject({ stateSeq: 1, stateBlob: 'tinker/x' });
    await tinker.forgetOperations(first.id, 2);
    expect(await tinker.findOperation(first.id, 1)).toBeNull();
  });

  test('readings of an operation are counted until one ends, for the attempt that has the run', async () => {
    const storage = await open();
    const { tinker } = storage;
    const run = await addRun(storage);
    await tinker.addOperation(anOperation(run.id, 1));
    const claimed = (await tinker.claimRun('w', LEASE, BASES))!;
    expect(await tinker.beginReading(claimed, 1)).toBe(1);
    expect(await tinker.beginReading(claimed, 1)).toBe(2);
    expect(await tinker.beginReading({ id: run.id, attempt: claimed.attempt - 1 }, 1)).toBe(0);
    await tinker.endReading(claimed, 1);
    expect(await tinker.beginReading(claimed, 1)).toBe(1);
  });

  test('a sampler has its place in the session once', async () => {
    const storage = await open();
    const { tinker } = storage;
    const { sessionId, modelId } = await addRun(storage);
    const sampler: TinkerSampler = {
      id: `${sessionId}:sampler:0`,
      sessionId,
      ordinal: 0,
      entity: 'team',
      baseModel: 'base',
      servedAs: 'alias',
      modelPath: 'tinker://a/weights/b',
      modelId,
      step: 1,
      blob: null,
      createdAtMs: NOW,
    };
    expect(await tinker.createSampler(sampler)).toEqual(sampler);
    expect(await tinker.createSampler({ ...sampler, id: 'other' })).toEqual(sampler);
    expect(await tinker.findSampler(sampler.id)).toEqual(sampler);
    const next = { ...sampler, id: `${sessionId}:sampler:1`, ordinal: 1, modelId: null, step: null, modelPath: null };
    await tinker.createSampler(next);
    expect(await tinker.listSamplersOf(sessionId)).toEqual([sampler, next]);
    expect(await tinker.listSamplerIdsOf(sessionId)).toEqual([sampler.id, next.id]);
    await tinker.deleteSampler(sampler.id);
    expect(await tinker.findSampler(sampler.id)).toBeNull();
  });

  test('a checkpoint replaces the one of its name, and expires', async () => {
    const storage = await open();
    const { tinker } = storage;
    const run = await addRun(storage);
    const first = aCheckpoint(run, 'a');
    const second = aCheckpoint(run, 'a', { step: 2, createdAtMs: NOW + 1, expiresAtMs: NOW + 50 });
    expect(await tinker.putCheckpoint(first)).toBeNull();
    expect(await tinker.putCheckpoint(second)).toEqual(first);
    const sampled = aCheckpoint(run, 'a', { kind: 'sampler_weights' });
    await tinker.putCheckpoint(sampled);
    expect(await tinker.findCheckpoint(run.id, 'weights', 'a')).toEqual(second);
    expect(await tinker.listCheckpoints({ runId: run.id }, ALL)).toEqual({ rows: [second, sampled], total: 2 });
    expect(await tinker.listCheckpoints({ entity: 'team' }, { offset: 1, limit: 1 })).toEqual({
      rows: [sampled],
      total: 2,
    });
    expect(await tinker.listCheckpoints({ entity: 'others' }, ALL)).toEqual({ rows: [], total: 0 });
    expect(await tinker.listExpired(NOW + 49, 10)).toEqual([]);
    expect(await tinker.listExpired(NOW + 50, 10)).toEqual([second]);
    await tinker.setExpiry(first, null); // its name is another's now
    await tinker.setPublished(first, NOW);
    await tinker.deleteCheckpoint(first);
    expect(await tinker.findCheckpoint(run.id, 'weights', 'a')).toEqual(second);
    await tinker.setExpiry(second, null);
    expect(await tinker.listExpired(NOW + 50, 10)).toEqual([]);
    await tinker.deleteCheckpoint(second);
    expect(await tinker.findCheckpoint(run.id, 'weights', 'a')).toBeNull();
  });

  test('a published checkpoint is listed alone, and its run to every entity', async () => {
    const storage = await open();
    const { tinker } = storage;
    const run = await addRun(storage);
    const [kept, published] = [aCheckpoint(run, 'a'), aCheckpoint(run, 'b')];
    for (const each of [kept, published]) await tinker.putCheckpoint(each);
    const listed = async (entity: string) =>
      (await tinker.listRuns(entity, 'accessible', ALL)).rows.map(({ id }) => id);
    expect(await listed('others')).toEqual([]);
    await tinker.setPublished(published, NOW + 5);
    const shown = { ...published, publishedAtMs: NOW + 5 };
    expect(await tinker.findCheckpoint(run.id, 'weights', 'b')).toEqual(shown);
    expect(await tinker.listCheckpoints({ runId: run.id, isPublished: true }, ALL)).toEqual({
      rows: [shown],
      total: 1,
    });
    expect(await listed('others')).toEqual([run.id]);
    expect(await listed('team')).toEqual([run.id]);
    expect(await tinker.listRuns('others', 'owned', ALL)).toEqual({ rows: [], total: 0 });
    await tinker.setPublished(published, null);
    expect(await listed('others')).toEqual([]);
    expect(await tinker.listCheckpoints({ runId: run.id, isPublished: true }, ALL)).toEqual({ rows: [], total: 0 });
  });

  test('the newest checkpoint of each kind is found for many runs, if the entity may read it', async () => {
    const storage = await open();
    const { tinker } = storage;
    const [a, b] = [await addRun(storage), await addRun(storage)];
    const saved = [
      aCheckpoint(a, 'z'),
      aCheckpoint(a, 'a', { createdAtMs: NOW + 1, publishedAtMs: NOW }),
      aCheckpoint(a, 'b', { createdAtMs: NOW + 2 }),
      aCheckpoint(a, 's', { kind: 'sampler_weights' }),
      aCheckpoint(b, 'c'),
    ];
    for (const each of saved) await tinker.putCheckpoint(each);
    const newest = async (entity: string) =>
      (await tinker.listNewestCheckpoints(entity, [a.id, b.id, 'none'])).map(({ name }) => name).toSorted();
    expect(await newest('team')).toEqual(['b', 'c', 's']);
    expect(await newest('others')).toEqual(['a']);
    expect(await tinker.listNewestCheckpoints('team', [])).toEqual([]);
  });

  test('a page ends before its metadata makes it too heavy, and the next one begins there', async () => {
    const storage = await open();
    const { tinker } = storage;
    const metadata = { text: 'x'.repeat(0.4 * PAGE_WEIGHT_MAX) };
    for (let i = 0; i < 4; i++) await addRun(storage, { metadata, createdAtMs: NOW + i });
    const heavy = { text: 'x'.repeat(PAGE_WEIGHT_MAX) };
    const run = await addRun(storage, { metadata: heavy, createdAtMs: NOW + 4 });
    const times = async (offset: number, limit = 10) => {
      const { rows, total } = await tinker.listRuns('team', 'owned', { offset, limit });
      expect(total).toBe(5);
      return rows.map(({ createdAtMs }) => createdAtMs - NOW);
    };
    expect(await times(0)).toEqual([4]);
    expect(await times(1)).toEqual([3, 2]);
    expect(await times(3)).toEqual([1, 0]);
    expect(await times(1, 1)).toEqual([3]);
    for (const name of ['a', 'b']) await tinker.putCheckpoint(aCheckpoint(run, name, { metadata: heavy }));
    const saved = await tinker.listCheckpoints({ entity: 'team' }, ALL);
    expect([saved.rows.map(({ name }) => name), saved.total]).toEqual([['b'], 2]);
  });

  test('a checkpoint that no job made is the next step of its model', async () => {
    const storage = await open();
    const { id: modelId } = await addModel(storage);
    const about = { modelId, metrics: {}, blobPrefix: 'checkpoints/m/x', fresh: false, createdAtMs: NOW };
    const first = { ...about, id: createId() };
    expect(await storage.checkpoints.add(first)).toEqual({ ...first, step: 1 });
    await storage.checkpoints.delete(modelId, [1]);
    expect(await storage.checkpoints.add({ ...first, id: createId() })).toMatchObject({ step: 2 });
    expect(await storage.checkpoints.add({ ...first, id: createId(), modelId: 'gone' })).toBeNull();
  });
}
