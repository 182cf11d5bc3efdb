// What every store promises about episodes; part of the storage contract.
import { expect, test } from 'vitest';
import { createId } from '#base/ids';
import { callBytes, episodeBytes, type NewEpisode, type NewEpisodeCall } from '#domain/episode';
import type { Model } from '#domain/model';
import type { Payer } from '#storage/account-store';
import type { CaptureTarget, CompleteGroup, EpisodeEnd } from '#storage/episode-store';
import type { Storage } from '#storage/storage';
import { addModel, aJob, closing, failing, FIRST, NOW } from './stored-rows.ts';

const PAYER: Payer = { keyId: 'k', keyBytesMax: null, entityBytesMax: null };
const ACCOUNT = { entity: 'team', keyId: null };
const BOUNDS = { openMax: 100, callsMax: 100, tokensMax: 10_000 };

const anEpisode = ({ id, entity }: Model, change: Partial<NewEpisode> = {}): NewEpisode => ({
  id: createId(),
  entity,
  modelId: id,
  name: `e-${createId()}`,
  groupName: null,
  metadata: {},
  ...change,
});

const aCall = (change: Partial<NewEpisodeCall> = {}): NewEpisodeCall => ({
  id: createId(),
  answerId: 'chatcmpl-1',
  model: 'team/p/m:step0',
  policyStep: 0,
  isTrainable: true,
  isCut: false,
  reshapedBy: [],
  choices: [{ tokenCount: 2, finishReason: 'stop', isConstrained: false }],
  parentId: null,
  parentChoice: null,
  sharedTokenCount: 0,
  promptTokenCount: 3,
  createdAtMs: NOW,
  tokens: Uint8Array.of(0, 1, 255, 128, 7),
  content: Uint8Array.of(9, 0),
  ...change,
});

const anEnd = (reward: number, change: Partial<EpisodeEnd> = {}): EpisodeEnd => ({
  outcome: 'completed',
  reward,
  metrics: {},
  turnRewards: {},
  ...change,
});

export function episodeContract(open: () => Promise<Storage>): void {
  async function opened() {
    const storage = await open();
    const model = await addModel(storage);
    const add = (change: Partial<NewEpisode> = {}) => {
      const of = anEpisode(model, change);
      return storage.episodes.create(of, BOUNDS, PAYER, NOW).then(() => of.id);
    };
    const read = (...ids: string[]) =>
      Promise.all(ids.map(async (id) => (await storage.episodes.find(id)) ?? { id, rewardedAtMs: null }));
    return { storage, episodes: storage.episodes, accounts: storage.accounts, model, add, read };
  }

  test('of calls that arrive at once each is stored once, and one that is refused takes no other with it', async () => {
    const { episodes, model } = await opened();
    const of = anEpisode(model);
    const capture = (call: NewEpisodeCall, bounds = BOUNDS, change: Partial<CaptureTarget> = {}) =>
      episodes.capture(call, { ...of, ...change }, bounds, PAYER);
    const twice = aCall();
    const outcomes = await Promise.all([
      capture(aCall()),
      capture(aCall(), BOUNDS, { isBegun: true, id: createId() }),
      capture(twice),
      capture(twice),
      capture(aCall(), { ...BOUNDS, tokensMax: 1 }),
      capture(aCall()),
    ]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      'stored',
      'gone',
      'stored',
      'stored',
      'too_many_tokens',
      'stored',
    ]);
    const made = await episodes.findOfModel(model.id, of.name);
    expect(made).toMatchObject({ callCount: 3, tokenCount: 3 * 5 });
    expect((await episodes.calls(made!.id, 0, 10, [])).map(({ ordinal }) => ordinal)).toEqual([0, 1, 2]);
  });

  test('an episode is made once per model and name', async () => {
    const { episodes, storage, model } = await opened();
    const first = anEpisode(model, { name: 'run', groupName: 'g', metadata: { "it's": ['ü', null] } });
    const made = await episodes.create(first, BOUNDS, PAYER, NOW);
    expect(made).toMatchObject({ outcome: 'created', episode: { ...first, status: 'open', callCount: 0 } });
    const again = await episodes.create(anEpisode(model, { name: 'run' }), BOUNDS, PAYER, NOW + 1);
    expect(again).toEqual({ ...made, outcome: 'exists' });
    await episodes.create(anEpisode(model, { name: 'alone' }), BOUNDS, PAYER, NOW);
    const joined = await episodes.create(anEpisode(model, { name: 'alone', groupName: 'g' }), BOUNDS, PAYER, NOW);
    expect(joined).toMatchObject({ outcome: 'exists', episode: { name: 'alone', groupName: 'g' } });
    expect(await episodes.findOfModel(model.id, 'alone')).toMatchObject({ groupName: 'g' });
    const other = await addModel(storage);
    await episodes.create(anEpisode(other, { name: 'run' }), BOUNDS, PAYER, NOW);
    const strangers = await addModel(storage, { entity: 'others' });
    await episodes.create(anEpisode(strangers, { name: 'run' }), BOUNDS, PAYER, NOW);
    const found = await episodes.findByName('team', 'run', 10);
    expect(found.map(({ modelId }) => modelId)).toEqual([model.id, other.id]);
    expect(await episodes.findByName('team', 'run', 1)).toHaveLength(1);
    expect(await episodes.find(first.id)).toEqual('episode' in made && made.episode);
    expect(await episodes.findOfModel(model.id, 'run')).toEqual(found[0]);
    expect(await episodes.findOfModel(model.id, 'runs')).toBeNull();
    expect(await episodes.find(createId())).toBeNull();
    const gone = anEpisode({ ...model, id: createId() });
    expect(await episodes.create(gone, BOUNDS, PAYER, NOW)).toEqual({ outcome: 'no_model' });
  });

  test('a call is kept byte for byte, once per id, and makes its episode', async () => {
    const { episodes, accounts, model } = await opened();
    const of = anEpisode(model);
    const root = aCall();
    const child = aCall({
      ...{ parentId: root.id, parentChoice: 0, sharedTokenCount: 5, promptTokenCount: 9, createdAtMs: NOW + 5 },
      ...{ isTrainable: false, isCut: true, policyStep: null, reshapedBy: ['top_p'], tokens: new Uint8Array() },
      choices: [{ tokenCount: 1, finishReason: null, isConstrained: true }],
    });
    expect(await episodes.capture(root, of, BOUNDS, PAYER)).toMatchObject({ outcome: 'stored', ordinal: 0 });
    const named = { ...of, id: createId(), groupName: 'late' };
    const stored = await episodes.capture(child, named, BOUNDS, PAYER);
    expect(stored).toMatchObject({
      outcome: 'stored',
      ordinal: 1,
      episode: {
        ...{ id: of.id, groupName: 'late', callCount: 2, tokenCount: 10, trainedTokenCount: 2 },
        ...{ createdAtMs: NOW, lastCallAtMs: NOW + 5, callBytes: callBytes(root) + callBytes(child) },
      },
    });
    expect(await episodes.capture(child, named, BOUNDS, PAYER)).toEqual(stored);
    const rows = [root, child].map((call, ordinal) => ({ ...call, episodeId: of.id, ordinal }));
    expect(await episodes.calls(of.id, 0, 10, ['tokens', 'content'])).toEqual(rows);
    const none = new Uint8Array();
    expect(await episodes.calls(of.id, 1, 10, ['content'])).toEqual([{ ...rows[1], tokens: none }]);
    expect(await episodes.calls(of.id, 0, 1, [])).toEqual([{ ...rows[0], tokens: none, content: none }]);
    const episode = (await episodes.find(of.id))!;
    expect(await accounts.storedBytes(ACCOUNT)).toBe(episodeBytes(episode));
    const elsewhere = { ...of, id: createId(), groupName: 'another' };
    expect(await episodes.capture(aCall(), elsewhere, BOUNDS, PAYER)).toEqual({ outcome: 'other_group', episode });
    await episodes.delete(of.id, NOW);
    const begun = { ...of, isBegun: true };
    expect(await episodes.capture(aCall({ parentId: root.id }), begun, BOUNDS, PAYER)).toEqual({ outcome: 'gone' });
    expect(await episodes.findOfModel(model.id, of.name)).toBeNull();
    await episodes.create({ ...of, id: createId() }, BOUNDS, PAYER, NOW);
    expect(await episodes.capture(aCall(), begun, BOUNDS, PAYER)).toEqual({ outcome: 'gone' });
  });

  test('each bound refuses the call that exceeds it, and changes nothing', async () => {
    const { episodes, accounts, model, add } = await opened();
    const of = anEpisode(model);
    await episodes.capture(aCall(), of, BOUNDS, PAYER);
    const before = await episodes.find(of.id);
    const bytes = await accounts.storedBytes(ACCOUNT);
    const capture = (bounds: Partial<typeof BOUNDS>, payer = PAYER, into = of) =>
      episodes.capture(aCall(), into, { ...BOUNDS, ...bounds }, payer).then(({ outcome }) => outcome);
    expect(await capture({ callsMax: 1 })).toBe('too_many_calls');
    expect(await capture({ tokensMax: 9 })).toBe('too_many_tokens');
    expect(await capture({ openMax: 1 }, PAYER, anEpisode(model))).toBe('too_many_open');
    expect(await Promise.all([0, 1, 2].map((max) => episodes.mayBegin('team', max)))).toEqual([false, false, true]);
    expect(await episodes.mayBegin('others', 1)).toBe(true);
    expect(await capture({}, { ...PAYER, entityBytesMax: bytes + 10 })).toBe('over_limit');
    expect(await capture({}, { ...PAYER, keyBytesMax: 10 }, anEpisode(model))).toBe('over_limit');
    expect(await episodes.find(of.id)).toEqual(before);
    expect(await episodes.calls(of.id, 0, 9, [])).toHaveLength(1);
    expect((await episodes.list({ entity: 'team' }, FIRST)).rows).toHaveLength(1);
    expect(await accounts.storedBytes(ACCOUNT)).toBe(bytes);
    expect(await capture({ openMax: 1, callsMax: 2, tokensMax: 10 })).toBe('stored');
    const poor = { ...PAYER, keyBytesMax: 10 };
    expect(await episodes.create(anEpisode(model), BOUNDS, poor, NOW)).toEqual({ outcome: 'over_limit' });
    await add();
    expect(await episodes.create(anEpisode(model), { ...BOUNDS, openMax: 2 }, PAYER, NOW)).toEqual({
      outcome: 'too_many_open',
    });
  });

  test('a reward ends an episode, the same one changes nothing, another replaces it until a job has used it', async () => {
    const { episodes, storage, model, read } = await opened();
    const of = anEpisode(model, { metadata: { seed: 1 } });
    await episodes.capture(aCall(), of, BOUNDS, PAYER);
    const end = anEnd(0.25, { metrics: { tests: 3 }, turnRewards: { 'chatcmpl-1': -1 } });
    const rewarded = await episodes.reward(of.id, end, NOW + 1);
    expect(rewarded).toMatchObject({
      outcome: 'rewarded',
      episode: { ...end, status: 'rewarded', metadata: { seed: 1 }, groupName: null, rewardedAtMs: NOW + 1 },
    });
    expect(await episodes.reward(of.id, end, NOW + 2)).toEqual({ ...rewarded, outcome: 'same' });
    const again = await episodes.reward(of.id, anEnd(1, { outcome: 'failed', groupName: 'g', metadata: {} }), NOW + 3);
    expect(again).toMatchObject({
      outcome: 'rewarded',
      episode: { reward: 1, outcome: 'failed', metrics: {}, metadata: {}, groupName: 'g', rewardedAtMs: NOW + 3 },
    });
    expect(await episodes.capture(aCall(), of, BOUNDS, PAYER)).toMatchObject({ outcome: 'ended' });
    const job = { ...aJob(model.id), episodes: await read(of.id) };
    await storage.jobs.create(job);
    const trained = { status: 'trained', trainedBy: job.id, reward: 1 };
    expect(await episodes.find(of.id)).toMatchObject(trained);
    expect(await episodes.reward(of.id, anEnd(0), NOW + 4)).toMatchObject({ outcome: 'trained', episode: trained });
    const repeated = anEnd(1, { outcome: 'failed', groupName: 'g', metadata: {} });
    expect(await episodes.reward(of.id, repeated, NOW + 4)).toMatchObject({ outcome: 'same', episode: trained });
    expect(await episodes.capture(aCall(), of, BOUNDS, PAYER)).toMatchObject({ outcome: 'ended' });
    expect(await episodes.reward(createId(), end, NOW)).toBeNull();
    const cancelled = {
      id: createId(),
      jobId: job.id,
      ordinal: 0,
      type: 'training_failed' as const,
      data: {},
      createdAtMs: NOW,
    };
    expect(await storage.jobs.requestCancel(job.id, NOW, cancelled)).toBe('cancelled');
    expect(await episodes.find(of.id)).toMatchObject({ status: 'rewarded', trainedBy: null });
  });

  test('a job takes the rewards that it has read, or is not made', async () => {
    const { episodes, storage, model, add, read } = await opened();
    const id = await add();
    await episodes.reward(id, anEnd(0), NOW);
    const before = await read(id);
    await episodes.reward(id, anEnd(1), NOW); // within the same millisecond
    const refused = { code: 'episode_conflict', message: expect.stringContaining('another reward') as unknown };
    await expect(storage.jobs.create({ ...aJob(model.id), episodes: before })).rejects.toMatchObject(refused);
    expect(await episodes.find(id)).toMatchObject({ status: 'rewarded', reward: 1 });
    await storage.jobs.create({ ...aJob(model.id), episodes: await read(id) });
    expect(await episodes.find(id)).toMatchObject({ status: 'trained', reward: 1 });
  });

  test('a job takes all of its episodes or is not made', async () => {
    const { episodes, storage, model, add, read } = await opened();
    const [one, two, unfinished] = [await add(), await add(), await add()];
    for (const id of [one, two]) await episodes.reward(id, anEnd(1), NOW);
    const job = aJob(model.id);
    const refused = { code: 'episode_conflict', message: expect.stringContaining(unfinished) as unknown };
    await expect(storage.jobs.create({ ...job, episodes: await read(one, unfinished) })).rejects.toMatchObject(refused);
    expect(await storage.jobs.find(job.id)).toBeNull();
    expect(await episodes.find(one)).toMatchObject({ status: 'rewarded' });
    const other = await addModel(storage);
    await expect(storage.jobs.create({ ...aJob(other.id), episodes: await read(one) })).rejects.toThrow(one);
    await storage.jobs.create({ ...job, episodes: await read(one, two) });
    await expect(storage.jobs.create({ ...aJob(model.id), episodes: await read(two) })).rejects.toThrow(two);
    expect(await episodes.countByStatus()).toEqual({ open: 1, rewarded: 0, trained: 2, expired: 0 });
  });

  test('episodes are listed by entity, model, group, status, reward and job, newest first, from a cursor on', async () => {
    const { episodes, storage, model, add, read } = await opened();
    const other = await addModel(storage);
    const ids = [await add({ groupName: 'g' }), await add({ groupName: 'h' }), await add({ groupName: 'g' })];
    const others = anEpisode(other, { groupName: 'g' });
    await episodes.create(others, BOUNDS, PAYER, NOW);
    const strangers = await addModel(storage, { entity: 'others' });
    await episodes.create(anEpisode(strangers), BOUNDS, PAYER, NOW);
    await episodes.reward(ids[0]!, anEnd(1), NOW);
    const list = async (filter: object, page = FIRST as { after: string | null; limit: number }) => {
      const { rows, hasMore } = await episodes.list({ entity: 'team', ...filter }, page, 'desc');
      return [rows.map(({ id }) => id), hasMore];
    };
    const [a, b, c] = ids;
    expect(await list({})).toEqual([[others.id, c, b, a], false]);
    expect(await list({ modelId: model.id })).toEqual([[c, b, a], false]);
    expect(await list({ modelId: model.id, group: 'g' })).toEqual([[c, a], false]);
    expect(await list({ group: 'g' })).toEqual([[others.id, c, a], false]);
    expect(await list({ status: 'rewarded' })).toEqual([[a], false]);
    await episodes.reward(b!, anEnd(-0.5), NOW);
    expect(await list({ rewardMin: -0.5, rewardMax: 1 })).toEqual([[b, a], false]);
    expect(await list({ modelId: model.id, rewardMin: 0 })).toEqual([[a], false]);
    expect(await list({ status: 'rewarded', rewardMax: 0 })).toEqual([[b], false]);
    expect(await list({ rewardMax: 2 }, { after: b!, limit: 1 })).toEqual([[a], false]);
    expect(await list({ group: 'g', rewardMin: 1 })).toEqual([[a], false]);
    const job = { ...aJob(model.id), episodes: await read(a!, b!) };
    await storage.jobs.create(job);
    expect(await list({ trainedBy: job.id })).toEqual([[b, a], false]);
    expect(await list({ trainedBy: createId() })).toEqual([[], false]);
    expect(await list({ modelId: model.id, status: 'trained' }, { after: null, limit: 1 })).toEqual([[b], true]);
    expect(await list({ modelId: model.id, status: 'trained' }, { after: b!, limit: 1 })).toEqual([[a], false]);
    expect((await episodes.list({ entity: 'team' }, { after: a!, limit: 9 })).rows.map(({ id }) => id)).toEqual([
      b,
      c,
      others.id,
    ]);
    await expect(episodes.list({ entity: 'others' }, { after: a!, limit: 9 })).rejects.toThrow('after');

    const count = (filter: object, most = 9) => episodes.count({ entity: 'team', ...filter }, most);
    const none = { open: 0, rewarded: 0, trained: 0, expired: 0 };
    expect(await count({})).toEqual({ ...none, open: 2, trained: 2 });
    expect(await count({}, 1)).toEqual({ ...none, open: 1, trained: 1 });
    expect(await count({ modelId: model.id })).toEqual({ ...none, open: 1, trained: 2 });
    expect(await count({ modelId: model.id, group: 'g' })).toEqual({ ...none, open: 1, trained: 1 });
    expect(await count({ group: 'g' })).toEqual({ ...none, open: 2, trained: 1 });
    expect(await count({ rewardMin: 0 })).toEqual({ ...none, trained: 1 });
    expect(await count({ group: 'h', rewardMin: -1, rewardMax: 0 })).toEqual({ ...none, trained: 1 });
    expect(await count({ trainedBy: job.id, rewardMax: 0 })).toEqual({ ...none, trained: 1 });
    expect(await count({ trainedBy: job.id, modelId: other.id })).toEqual(none);
    for (const theirs of [{ modelId: model.id }, { trainedBy: job.id }, { modelId: model.id, group: 'g' }])
      expect(await count({ entity: 'others', ...theirs })).toEqual(none);
    expect(await count({ entity: 'others' })).toEqual({ ...none, open: 1 });
  });

  test('groups are counted, and are complete with enough rewards and no open episode', async () => {
    const { episodes, model, add } = await opened();
    const [a, b] = [await add({ groupName: 'g' }), await add({ groupName: 'g' })];
    await add({ groupName: 'h' });
    await add();
    await episodes.reward(a, anEnd(1), NOW);
    const g = { modelId: model.id, name: 'g', open: 1, rewarded: 1, trained: 0, expired: 0, rewardsDiffer: false };
    expect(await episodes.groups(model.id, 9)).toEqual([g, { ...g, name: 'h', rewarded: 0 }]);
    expect(await episodes.groups(model.id, 9, { state: 'complete', rewardedMin: 1 })).toEqual([]);
    await episodes.reward(b, anEnd(0.5), NOW);
    const complete = { ...g, open: 0, rewarded: 2, rewardsDiffer: true };
    expect(await episodes.groups(model.id, 9, { state: 'complete', rewardedMin: 2 })).toEqual([complete]);
    expect(await episodes.groups(model.id, 9, { state: 'complete', rewardedMin: 3 })).toEqual([]);
    expect(await episodes.groups(model.id, 1)).toEqual([complete]);
    expect(await episodes.rewardedIds(model.id, 'g')).toEqual([a, b]);
    const stale = { rewardedMin: 2, stepMin: 5 };
    const states = async (wanted: CompleteGroup) =>
      Promise.all(
        (['complete', 'stale', 'incomplete'] as const).map(async (state) =>
          (await episodes.groups(model.id, 9, { ...wanted, state })).map(({ name }) => name),
        ),
      );
    expect(await states(stale)).toEqual([['g'], [], ['h']]); // nothing of it was sampled
    const old = anEpisode(model, { groupName: 'old' });
    await episodes.capture(aCall({ policyStep: 4 }), old, BOUNDS, PAYER);
    await episodes.reward(old.id, anEnd(1), NOW);
    await episodes.reward(await add({ groupName: 'old' }), anEnd(0), NOW);
    expect(await states(stale)).toEqual([['g'], ['old'], ['h']]);
    expect(await states({ rewardedMin: 2 })).toEqual([['g', 'old'], [], ['h']]);
    expect(await states({ rewardedMin: 2, isTrainable: true })).toEqual([['old'], [], ['g', 'h']]);
    expect(await states({ ...stale, isTrainable: true })).toEqual([[], ['old'], ['g', 'h']]);
  });

  test('what is deleted takes its calls and its charge with it, with its model too', async () => {
    const { episodes, accounts, storage, model } = await opened();
    const [one, two] = [anEpisode(model), anEpisode(model)];
    for (const of of [one, two]) await episodes.capture(aCall(), of, BOUNDS, PAYER);
    expect(await episodes.delete(one.id, NOW)).toBe(true);
    expect(await episodes.delete(one.id, NOW)).toBe(false);
    expect(await episodes.calls(one.id, 0, 9, [])).toEqual([]);
    expect(await accounts.storedBytes(ACCOUNT)).toBe(episodeBytes((await episodes.find(two.id))!));
    const inventoried = [];
    for await (const each of storage.inventory.episodes()) inventoried.push(each);
    const { callBytes: bytes, name } = (await episodes.find(two.id))!;
    expect(inventoried).toEqual([
      {
        ...{ id: two.id, entity: 'team', name, modelId: model.id, keepsCalls: true },
        ...{ callCount: 1, callBytes: bytes, storedCalls: 1, storedCallBytes: bytes },
        sizeBytes: await accounts.storedBytes(ACCOUNT),
      },
    ]);
    await storage.models.delete(model.id);
    expect(await episodes.find(two.id)).toBeNull();
    expect(await episodes.calls(two.id, 0, 9, [])).toEqual([]);
    expect(await accounts.storedBytes(ACCOUNT)).toBe(0);
  });

  test('without activity an episode expires, and later goes; one that a job still needs stays', async () => {
    const { episodes, accounts, storage, model, add, read } = await opened();
    const of = anEpisode(model);
    await episodes.capture(aCall(), of, BOUNDS, PAYER);
    const [rewarded, trained] = [await add(), await add()];
    await episodes.reward(rewarded, anEnd(1), NOW + 50);
    await episodes.reward(trained, anEnd(1), NOW);
    const job = { ...aJob(model.id), episodes: await read(trained) };
    await storage.jobs.create(job);
    expect(await episodes.expire(NOW + 10, NOW + 100, 9)).toEqual({ expired: 1, deleted: 0 });
    expect(await episodes.find(of.id)).toMatchObject({ status: 'expired', expiredAtMs: NOW + 100, callBytes: 0 });
    expect(await episodes.calls(of.id, 0, 9, [])).toEqual([]);
    expect(await episodes.reward(of.id, anEnd(1), NOW)).toMatchObject({ outcome: 'expired' });
    expect(await episodes.find(rewarded)).toMatchObject({ status: 'rewarded' });
    expect(await episodes.expire(NOW + 60, NOW + 200, 9)).toEqual({ expired: 1, deleted: 0 });
    const claimed = (await storage.jobs.claim('w', NOW, 1000, null))!;
    expect(await episodes.expire(NOW + 60, NOW + 200, 9)).toEqual({ expired: 0, deleted: 0 });
    await storage.jobs.finish(job.id, claimed.attempt, { ...failing(job.id, 0), event: closing(job.id, 0).event });
    expect(await episodes.expire(NOW + 101, NOW + 300, 9)).toEqual({ expired: 1, deleted: 1 });
    expect(await episodes.expire(NOW + 201, NOW + 300, 1)).toEqual({ expired: 0, deleted: 1 });
    expect(await episodes.expire(NOW + 301, NOW + 400, 9)).toEqual({ expired: 0, deleted: 1 });
    expect(await accounts.storedBytes(ACCOUNT)).toBe(0);
  });
}
