// What every ArtifactStore promises; part of the storage contract.
import { expect, test } from 'vitest';
import { createId } from '#base/ids';
import {
  ARTIFACT_SORTS,
  rowBytes,
  type ArtifactContent,
  type ArtifactDraft,
  type ArtifactVersion,
} from '#domain/artifact';
import type { Listing, Page } from '#domain/page';
import type { NewArtifact } from '#storage/artifact-store';
import type { Storage } from '#storage/storage';
import { aPayer } from '../a-caller.ts';
import { aCheckpoint, aModel } from './stored-rows.ts';

const FIRST = { after: null, limit: 100 };
const NAME = { entity: 'team', project: 'p', name: 'data' };

const content = (sha256: string, entity = 'team'): ArtifactContent => ({
  entity,
  sha256,
  md5: `md5 of ${sha256}`,
  sizeBytes: 10,
  blob: `artifacts/${entity}-${sha256}-${createId()}`,
});

const anArtifact = (digest: string, change: Partial<NewArtifact> = {}): NewArtifact => ({
  ...NAME,
  id: createId(),
  type: 'dataset',
  metadata: { rows: 2, nested: { a: [1, null] } },
  files: [
    { path: 'b/train.jsonl', sha256: 'x', sizeBytes: 10 },
    { path: 'a.json', sha256: 'y', sizeBytes: 10 },
  ],
  digest,
  createdAtMs: 5,
  ...change,
});

export function artifactContract(open: () => Promise<Storage>): void {
  async function withContents() {
    const { artifacts } = await open();
    for (const sha256 of ['x', 'y', 'z']) await artifacts.addContent(content(sha256), aPayer(), 1);
    return artifacts;
  }
  const made = async (artifacts: Storage['artifacts'], artifact: NewArtifact, aliases: string[] = []) => {
    const committed = await artifacts.create(artifact, aliases, aPayer());
    if (!('artifact' in committed)) throw new Error(committed.outcome);
    return committed;
  };

  test('a version is made whole, with its files by path, and is found by number, alias and as the latest', async () => {
    const artifacts = await withContents();
    const first = anArtifact('1');
    const { outcome, artifact } = await made(artifacts, first, ['best', 'a']);
    expect(outcome).toBe('created');
    expect(artifact).toEqual({ ...first, version: 0, aliases: ['a', 'best'], files: [first.files[1], first.files[0]] });
    const second = (await made(artifacts, anArtifact('2'), ['best'])).artifact;
    expect(second).toMatchObject({ version: 1, aliases: ['best'] });
    expect(await artifacts.find(NAME, null)).toEqual(second);
    expect(await artifacts.find(NAME, { alias: 'best' })).toEqual(second);
    expect(await artifacts.find(NAME, { alias: 'a' })).toEqual({ ...artifact, aliases: ['a'] });
    expect(await artifacts.find(NAME, { version: 0 })).toEqual({ ...artifact, aliases: ['a'] });
    for (const selector of [{ version: 2 }, { alias: 'none' }]) expect(await artifacts.find(NAME, selector)).toBeNull();
    expect(await artifacts.find({ ...NAME, entity: 'others' }, null)).toBeNull();
    expect(await artifacts.exists(NAME)).toBe(true);
    expect(await artifacts.exists({ ...NAME, project: 'q' })).toBe(false);
  });

  test('the latest content again makes no version, and moves its aliases', async () => {
    const artifacts = await withContents();
    const first = (await made(artifacts, anArtifact('1'), ['a'])).artifact;
    expect(await made(artifacts, anArtifact('1'), ['b'])).toEqual({
      outcome: 'exists',
      artifact: { ...first, aliases: ['a', 'b'] },
    });
    await made(artifacts, anArtifact('2'));
    expect((await made(artifacts, anArtifact('1'))).artifact.version).toBe(2); // the old content again: a change
  });

  test('without its contents nothing is made; contents are shared in an entity, never across', async () => {
    const artifacts = await withContents();
    await artifacts.addContent(content('only theirs', 'others'), aPayer(), 1);
    const files = ['x', 'none', 'only theirs', 'none'].map((sha256, i) => ({ path: `f${i}`, sha256, sizeBytes: 10 }));
    const missing = { outcome: 'missing', sha256: ['none', 'only theirs'] };
    expect(await artifacts.create(anArtifact('1', { files }), ['best'], aPayer())).toEqual(missing);
    expect(await artifacts.exists(NAME)).toBe(false);
    expect(await artifacts.find(NAME, { alias: 'best' })).toBeNull();
    const again = content('x');
    expect(await artifacts.addContent(again, aPayer(), 2)).toEqual(await artifacts.findContent('team', 'x'));
    expect((await artifacts.findContent('team', 'x'))!.blob).not.toBe(again.blob);
    expect(await artifacts.findContent('team', 'none')).toBeNull();
    expect(await artifacts.touchContents('team', ['none'], 2)).toEqual([]);
  });

  test('thousands of files are one version, and those that are not there are named', async () => {
    const artifacts = await withContents();
    const files = Array.from({ length: 2_501 }, (_, i) => ({ path: `f${i}`, sha256: 'xyz'[i % 3]!, sizeBytes: 10 }));
    const { artifact } = await made(artifacts, anArtifact('1', { files }));
    expect(artifact.files).toEqual(files.toSorted((a, b) => (a.path < b.path ? -1 : 1)));
    expect(await artifacts.find(NAME, null)).toEqual(artifact);
    const unknown = Array.from({ length: 2_501 }, (_, i) => `unknown ${i}`);
    const known = await artifacts.touchContents('team', [...unknown, 'z', 'x'], 9);
    expect(known.map(({ sha256 }) => sha256).sort()).toEqual(['x', 'z']);
    expect(await artifacts.touchContents('team', [], 9)).toEqual([]);
    const lacking = [...unknown, ...unknown].map((sha256, i) => ({ path: `f${i}`, sha256, sizeBytes: 10 }));
    const outcome = { outcome: 'missing', sha256: unknown.toSorted() };
    expect(await artifacts.create(anArtifact('2', { files: lacking }), [], aPayer())).toEqual(outcome);
    expect(await artifacts.removeUnused(10, { entity: 'team', sha256: [...unknown, 'y'] })).toEqual([]);
    await artifacts.delete(artifact.id);
    expect(await artifacts.removeUnused(10, { entity: 'team', sha256: [...unknown, 'y'] })).toHaveLength(1);
  });

  test('clean-up deletes contents that no version refers to and that were not used since', async () => {
    const artifacts = await withContents();
    const { artifact } = await made(artifacts, anArtifact('1')); // x and y
    const z = (await artifacts.findContent('team', 'z'))!;
    expect(await artifacts.removeUnused(1)).toEqual([]); // not yet
    await artifacts.touchContents('team', ['z'], 7);
    expect(await artifacts.removeUnused(7)).toEqual([]);
    await artifacts.touchContents('team', ['z'], 3); // another server's clock, which never moves it back
    expect(await artifacts.removeUnused(7)).toEqual([]);
    expect(await artifacts.removeUnused(8)).toEqual([z.blob]);
    expect(await artifacts.delete(artifact.id)).toBe(true);
    expect(await artifacts.delete(artifact.id)).toBe(false);
    expect(await artifacts.removeUnused(8, { entity: 'others', sha256: ['x', 'y'] })).toEqual([]);
    expect(await artifacts.removeUnused(8, { entity: 'team', sha256: [] })).toEqual([]);
    expect(await artifacts.removeUnused(8, { entity: 'team', sha256: ['x'] })).toHaveLength(1);
    expect(await artifacts.removeUnused(8)).toHaveLength(1);
    expect(await artifacts.findContent('team', 'x')).toBeNull();
    await artifacts.addContent(content('x'), aPayer(), 9); // it may return
  });

  test('aliases are set, taken from other versions, and go with theirs', async () => {
    const artifacts = await withContents();
    const first = (await made(artifacts, anArtifact('1'), ['a', 'b'])).artifact;
    const second = (await made(artifacts, anArtifact('2'), ['c'])).artifact;
    const other = (await made(artifacts, anArtifact('1', { name: 'other' }), ['a'])).artifact;
    expect(await artifacts.setAliases(second.id, ['a'])).toBe(true);
    expect((await artifacts.find(NAME, { version: 0 }))!.aliases).toEqual(['b']);
    expect((await artifacts.find(NAME, { version: 1 }))!.aliases).toEqual(['a']);
    expect(await artifacts.find({ ...NAME, name: 'other' }, { alias: 'a' })).toEqual(other);
    await artifacts.delete(second.id);
    expect(await artifacts.find(NAME, { alias: 'a' })).toBeNull();
    expect(await artifacts.find(NAME, null)).toMatchObject({ id: first.id });
    expect(await artifacts.setAliases(second.id, ['a'])).toBe(false);
  });

  test('contents and rows are charged where they are stored, never over a limit, and rows go with their version', async () => {
    const { artifacts, accounts } = await open();
    const stored = (keyId: string | null = null) => accounts.storedBytes({ entity: 'team', keyId });
    const x = content('x');
    expect(await artifacts.addContent(x, aPayer({ keyBytesMax: 9 }), 1)).toBe('over_limit');
    expect(await artifacts.addContent(x, aPayer({ entityBytesMax: 9 }), 1)).toBe('over_limit');
    expect(await artifacts.findContent('team', 'x')).toBeNull();
    expect(await stored()).toBe(0);
    expect(await artifacts.addContent(x, aPayer({ keyBytesMax: 10, entityBytesMax: 10 }), 1)).toEqual(x);
    expect(await artifacts.addContent(content('x'), aPayer({ keyBytesMax: 0 }), 1)).toEqual(x); // nothing new
    const racers = ['a', 'b', 'c', 'd'].map((sha256) =>
      artifacts.addContent(content(sha256), aPayer({ keyId: 'other', keyBytesMax: 20 }), 1),
    );
    expect((await Promise.all(racers)).filter((each) => each === 'over_limit')).toHaveLength(2);
    expect([await stored('k'), await stored('other'), await stored()]).toEqual([10, 20, 30]);

    const version = anArtifact('1', { files: [{ path: 'a', sha256: 'x', sizeBytes: 10 }] });
    const bytes = rowBytes(version, 1);
    const within = (max: number) => aPayer({ entityBytesMax: max });
    expect(await artifacts.create(version, ['a'], within(29 + bytes))).toEqual({ outcome: 'over_limit' });
    expect(await artifacts.exists(NAME)).toBe(false);
    expect(await artifacts.find(NAME, { alias: 'a' })).toBeNull();
    expect(await artifacts.create(version, ['a'], within(30 + bytes))).toMatchObject({ outcome: 'created' });
    expect([await stored('k'), await stored()]).toEqual([10 + bytes, 30 + bytes]);
    expect(await artifacts.create(version, ['a'], within(0))).toMatchObject({ outcome: 'exists' });
    expect(await artifacts.create(version, ['b'], within(30 + bytes))).toEqual({ outcome: 'over_limit' });
    expect((await artifacts.find(NAME, null))!.aliases).toEqual(['a']);
    expect(await artifacts.create(version, ['b'], aPayer({ keyId: 'other' }))).toMatchObject({ outcome: 'exists' });
    expect(await stored('k')).toBe(10 + rowBytes(version, 2)); // the maker pays
    await artifacts.delete(version.id);
    expect([await stored('k'), await stored()]).toEqual([10, 30]);
  });

  test('versions are listed in order of creation, by project, name and type, in pages', async () => {
    const artifacts = await withContents();
    const all = [
      await made(artifacts, anArtifact('1')),
      await made(artifacts, anArtifact('1', { name: 'other', type: 'lora' })),
      await made(artifacts, anArtifact('2')),
      await made(artifacts, anArtifact('1', { project: 'q' })),
    ].map(({ artifact }) => artifact);
    const ids = async (filter: object, page: Page = FIRST) =>
      (await artifacts.list({ entity: 'team', ...filter }, page)).rows.map(({ id }) =>
        all.findIndex((a) => a.id === id),
      );
    expect(await ids({})).toEqual([0, 1, 2, 3]);
    expect(await ids({ project: 'p', name: 'data' })).toEqual([0, 2]);
    expect(await ids({ type: 'lora' })).toEqual([1]);
    expect(await ids({ entity: 'others' })).toEqual([]);
    expect(await artifacts.list({ entity: 'team' }, { after: all[0]!.id, limit: 2 })).toEqual({
      rows: [all[1], all[2]],
      hasMore: true,
    });
    await artifacts.delete(all[3]!.id);
    for (const after of [createId(), all[3]!.id])
      await expect(ids({}, { after, limit: 2 })).rejects.toMatchObject({ code: 'invalid_request', param: 'after' });
    await expect(ids({ entity: 'others' }, { after: all[0]!.id, limit: 2 })).rejects.toThrow('no item');
  });

  test('the whole list is sorted by what each version has, in either order, and goes on after any of them', async () => {
    const artifacts = await withContents();
    const file = (path: string, sizeBytes: number) => ({ path, sha256: 'x', sizeBytes });
    const versions = [
      { name: 'b', project: 'q', type: 'lora', files: [file('a', 30)] },
      { name: 'a', project: 'p', type: 'dataset', files: [file('a', 20), file('b', 20)] },
      { name: 'b', project: 'p', type: 'dataset', files: [file('a', 30)] },
      ...Array.from({ length: 11 }, () => ({ name: 'a', project: 'p', type: 'dataset', files: [file('a', 5)] })),
    ];
    const ids: string[] = [];
    for (const [at, version] of versions.entries()) {
      const { artifact } = await made(artifacts, anArtifact(String(at), version));
      ids.push(artifact.id);
    }
    await made(artifacts, anArtifact('1', { entity: 'team', project: 'r', name: 'gone' }));
    await artifacts.delete((await artifacts.find({ ...NAME, project: 'r', name: 'gone' }, null))!.id);
    const tenth = Array.from({ length: 11 }, (_, at) => at + 3); // v1 to v11 of p/a: v10 is after v9
    const expected = {
      created: versions.map((_, at) => at),
      project: [1, ...tenth, 2, 0],
      name: [1, ...tenth, 0, 2],
      type: [1, 2, ...tenth, 0],
      files: [0, 2, ...tenth, 1],
      size: [...tenth, 0, 2, 1],
    };
    for (const sort of ARTIFACT_SORTS)
      for (const order of ['asc', 'desc'] as const) {
        const seen: number[] = [];
        for (let page: Page | null = { after: null, limit: 4 }; page !== null;) {
          const { rows, hasMore }: Listing<ArtifactVersion> = await artifacts.list(
            { entity: 'team' },
            page,
            order,
            sort,
          );
          seen.push(...rows.map(({ id }) => ids.indexOf(id)));
          page = hasMore ? { after: rows.at(-1)!.id, limit: 4 } : null;
        }
        expect(seen, `${sort} ${order}`).toEqual(order === 'asc' ? expected[sort] : expected[sort].toReversed());
      }
    const ofName = { entity: 'team', project: 'p', name: 'a' };
    const { rows } = await artifacts.list(ofName, { after: ids[5]!, limit: 2 }, 'desc', 'size');
    expect(rows.map(({ version }) => version)).toEqual([2, 1]);
    const counts = [{}, ofName, { name: 'b' }, { type: 'lora' }, { project: 'p', type: 'dataset' }, { name: 'c' }];
    const count = (filter: object, most?: number) => artifacts.count({ entity: 'team', ...filter }, most);
    expect(await Promise.all(counts.map((filter) => count(filter)))).toEqual([14, 12, 2, 1, 13, 0]);
    expect(await Promise.all(counts.map((filter) => count(filter, 3)))).toEqual([3, 3, 2, 1, 3, 0]);
    expect(await artifacts.count({ entity: 'others' })).toBe(0);
  });

  test('names of a project are listed by type, models among them, in pages', async () => {
    const { artifacts, models } = await open();
    for (const sha256 of ['x', 'y']) await artifacts.addContent(content(sha256), aPayer(), 1);
    const others = { name: 'others', createdAtMs: 9 };
    for (const change of [{}, { createdAtMs: 7 }, others, { ...others, type: 'model' }, { project: 'q', type: 'no' }])
      await made(artifacts, anArtifact(createId(), change));
    const model = { ...aModel(), entity: 'team', project: 'p', name: 'agent', createdAtMs: 3 };
    await models.create(model, aCheckpoint(model.id, 0));
    const all = [
      { name: 'agent', type: 'lora', createdAtMs: 3 },
      { name: 'data', type: 'dataset', createdAtMs: 5 },
      { name: 'others', type: 'dataset', createdAtMs: 9 },
      { name: 'others', type: 'model', createdAtMs: 9 },
    ];
    const of = { entity: 'team', project: 'p' };
    expect(await artifacts.listCollections(of, FIRST)).toEqual({ rows: all, hasMore: false });
    expect(await artifacts.listCollections(of, { after: null, limit: 2 })).toEqual({
      rows: all.slice(0, 2),
      hasMore: true,
    });
    expect((await artifacts.listCollections(of, { after: all[2]!, limit: 2 })).rows).toEqual([all[3]]);
    const datasets = { ...of, type: 'dataset' };
    expect((await artifacts.listCollections(datasets, FIRST)).rows).toEqual([all[1], all[2]]);
    expect((await artifacts.listCollections({ ...of, name: 'agent', type: 'lora' }, FIRST)).rows).toEqual([all[0]]);
    expect(await Promise.all([of, datasets, { ...of, entity: 'x' }].map((f) => artifacts.countCollections(f)))).toEqual(
      [4, 2, 0],
    );
    const types = all.slice(0, 2).map(({ type, createdAtMs }) => ({ type, createdAtMs }));
    expect(await artifacts.listTypes(of, 10)).toEqual([types[1], types[0], { type: 'model', createdAtMs: 9 }]);
    expect(await artifacts.listTypes(of, 1)).toEqual([types[1]]);
  });

  test('contents are found by either hash, inside an entity; an MD5 that was not known can be noted', async () => {
    const artifacts = await withContents();
    await artifacts.addContent({ ...content('old'), md5: null }, aPayer(), 1);
    await artifacts.addContent(content('x', 'others'), aPayer(), 1);
    const found = await artifacts.findContents('team', 'md5', ['md5 of x', 'md5 of none']);
    expect(found.map(({ sha256 }) => sha256)).toEqual(['x']);
    expect(await artifacts.findContents('team', 'sha256', ['old', 'none'])).toMatchObject([{ md5: null }]);
    await artifacts.setMd5('team', 'old', 'noted');
    expect(await artifacts.findContents('team', 'md5', ['noted'])).toMatchObject([{ sha256: 'old' }]);
  });

  test('a version is found by its id, and its metadata can be replaced', async () => {
    const artifacts = await withContents();
    const { artifact } = await made(artifacts, anArtifact('1'));
    expect(await artifacts.findById(artifact.id)).toEqual(artifact);
    expect(await artifacts.setMetadata(artifact.id, { note: 1 }, 'other')).toBe(true);
    expect(await artifacts.findById(artifact.id)).toMatchObject({ metadata: { note: 1 }, digest: 'other' });
    expect(await artifacts.setMetadata(createId(), {}, 'x')).toBe(false);
    expect(await artifacts.findById(createId())).toBeNull();
  });

  test('a draft is kept, charged, changed and removed, alone or by age; one that became a version stays charged', async () => {
    const { artifacts, accounts } = await open();
    const draft = (createdAtMs: number): ArtifactDraft => ({
      ...NAME,
      ...{ id: createId(), type: 'dataset', metadata: { rows: 2 }, aliases: ['a'], run: 'r' },
      ...{ manifest: null, createdAtMs },
    });
    const [old, recent, committed] = [draft(1), draft(10), draft(1)];
    for (const each of [old, recent, committed]) expect(await artifacts.putDraft(each, aPayer())).toBe('stored');
    expect(await artifacts.putDraft(draft(1), { ...aPayer(), keyBytesMax: 1 })).toBe('over_limit');
    expect(await artifacts.putDraft({ ...recent, manifest: 'x' }, aPayer())).toBe('stored');
    expect(await artifacts.findDraft(recent.id)).toEqual({ ...recent, manifest: 'x' });
    const bytes = async () => accounts.storedBytes({ entity: 'team', keyId: null });
    const each = rowBytes({ metadata: { rows: 2 }, files: [] }, 1);
    expect(await bytes()).toBe(3 * each);
    const version = await made(artifacts, anArtifact('1', { id: committed.id, files: [] }));
    await artifacts.removeDrafts({ createdBeforeMs: 5 });
    expect([await artifacts.findDraft(old.id), await artifacts.findDraft(committed.id)]).toEqual([null, null]);
    await artifacts.removeDrafts({ id: recent.id });
    expect(await artifacts.findDraft(recent.id)).toBeNull();
    expect(await bytes()).toBe(rowBytes(version.artifact, 0));
  });
}
