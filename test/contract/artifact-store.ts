// What every ArtifactStore promises; part of the storage contract.
import { expect, test } from 'vitest';
import { createId } from '#base/ids';
import type { ArtifactContent } from '#domain/artifact';
import type { Page } from '#domain/page';
import type { NewArtifact } from '#storage/artifact-store';
import type { Storage } from '#storage/storage';

const FIRST = { after: null, limit: 100 };
const NAME = { entity: 'team', project: 'p', name: 'data' };

const content = (sha256: string, entity = 'team'): ArtifactContent => ({
  entity,
  sha256,
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
    for (const sha256 of ['x', 'y', 'z']) await artifacts.addContent(content(sha256), 1);
    return artifacts;
  }
  const made = async (artifacts: Storage['artifacts'], artifact: NewArtifact, aliases: string[] = []) => {
    const committed = await artifacts.create(artifact, aliases);
    if (committed.outcome === 'missing') throw new Error('contents are missing');
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
    expect((await made(artifacts, anArtifact('1'))).artifact.version).toBe(2); // back to what it was: a change
  });

  test('without its contents nothing is made; contents are shared in an entity, never across', async () => {
    const artifacts = await withContents();
    await artifacts.addContent(content('only theirs', 'others'), 1);
    const files = ['x', 'none', 'only theirs', 'none'].map((sha256, i) => ({ path: `f${i}`, sha256, sizeBytes: 10 }));
    const missing = { outcome: 'missing', sha256: ['none', 'only theirs'] };
    expect(await artifacts.create(anArtifact('1', { files }), ['best'])).toEqual(missing);
    expect(await artifacts.exists(NAME)).toBe(false);
    expect(await artifacts.find(NAME, { alias: 'best' })).toBeNull();
    const again = content('x');
    expect(await artifacts.addContent(again, 2)).toEqual(await artifacts.findContent('team', 'x'));
    expect((await artifacts.findContent('team', 'x'))!.blob).not.toBe(again.blob);
    expect(await artifacts.findContent('team', 'none')).toBeNull();
    expect(await artifacts.touchContent('team', 'none', 2)).toBeNull();
  });

  test('clean-up takes what no version refers to and nobody has used since', async () => {
    const artifacts = await withContents();
    const { artifact } = await made(artifacts, anArtifact('1')); // x and y
    const z = (await artifacts.findContent('team', 'z'))!;
    expect(await artifacts.removeUnused(1)).toEqual([]); // not before then
    await artifacts.touchContent('team', 'z', 7);
    expect(await artifacts.removeUnused(7)).toEqual([]);
    await artifacts.touchContent('team', 'z', 3); // the clock of another server: never back
    expect(await artifacts.removeUnused(7)).toEqual([]);
    expect(await artifacts.removeUnused(8)).toEqual([z.blob]);
    expect(await artifacts.delete(artifact.id)).toBe(true);
    expect(await artifacts.delete(artifact.id)).toBe(false);
    expect(await artifacts.removeUnused(8, { entity: 'others', sha256: ['x', 'y'] })).toEqual([]);
    expect(await artifacts.removeUnused(8, { entity: 'team', sha256: [] })).toEqual([]);
    expect(await artifacts.removeUnused(8, { entity: 'team', sha256: ['x'] })).toHaveLength(1);
    expect(await artifacts.removeUnused(8)).toHaveLength(1);
    expect(await artifacts.findContent('team', 'x')).toBeNull();
    await artifacts.addContent(content('x'), 9); // and may come back
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
    expect(await ids({}, { after: createId(), limit: 2 })).toEqual([]);
  });
}
