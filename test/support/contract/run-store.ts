// What every store promises about runs; part of the storage contract.
import { expect, test } from 'vitest';
import { createId } from '#base/ids';
import { runBytes } from '#domain/run';
import type { Storage } from '#storage/storage';
import { FIRST, NOW } from './stored-rows.ts';

const PAYER = { keyId: 'k', keyBytesMax: null, entityBytesMax: null };
const ACCOUNT = { entity: 'team', keyId: null };

export function runContract(open: () => Promise<Storage>): void {
  const aRun = (name = `run-${createId()}`, entity = 'team') => ({ id: createId(), entity, project: 'p', name });

  test('a run is made once per name, and fields that are not sent stay', async () => {
    const { runs } = await open();
    const run = aRun("it's 🙂 %");
    const first = await runs.upsert(run, { config: '{"lr":NaN}', tags: ['a'] }, PAYER, NOW);
    expect(first).toMatchObject({
      outcome: 'created',
      run: { ...run, displayName: run.name, config: '{"lr":NaN}', summary: '{}', tags: ['a'], state: 'running' },
    });
    const again = await runs.upsert({ ...run, id: createId() }, { displayName: 'shown', exitCode: 3 }, PAYER, NOW + 5);
    expect(again).toMatchObject({
      outcome: 'changed',
      run: {
        id: run.id,
        displayName: 'shown',
        config: '{"lr":NaN}',
        exitCode: 3,
        createdAtMs: NOW,
        updatedAtMs: NOW + 5,
      },
    });
    expect(await runs.find(run)).toEqual('run' in again && again.run);
    expect(await runs.find({ ...run, entity: 'others' })).toBeNull();
  });

  test('lines are kept by number, repeats change nothing, and their bytes are charged once', async () => {
    const { runs, accounts } = await open();
    const run = aRun();
    await runs.upsert(run, {}, PAYER, NOW);
    const lines = Array.from({ length: 1_200 }, (_, at) => `{"_step":${at},"loss":${at / 3}}`);
    const whole = await runs.append(run.id, { offset: 0, lines }, { summary: '{"loss":1}' }, PAYER, NOW);
    expect(await runs.append(run.id, { offset: 0, lines }, {}, PAYER, NOW)).toEqual(whole);
    expect(whole).toMatchObject({ historyLines: 1_200, summary: '{"loss":1}' });
    expect(await accounts.storedBytes(ACCOUNT)).toBe(whole && whole !== 'over_limit' ? runBytes(whole) : null);
    expect(await runs.history(run.id, 1_198, 10)).toEqual(
      [1_198, 1_199].map((line) => ({ line, content: lines[line] })),
    );
    expect(await runs.history(run.id, 0, 3)).toHaveLength(3);
    expect((await runs.history(run.id, 1, 3, 500)).map(({ line }) => line)).toEqual([500, 1_000]);
    await runs.append(run.id, { offset: 1_199, lines: ['{}', '{"more":1}'] }, { state: 'finished' }, PAYER, NOW);
    expect((await runs.history(run.id, 1_199, 10)).map(({ content }) => content)).toEqual(['{}', '{"more":1}']);
    expect(await runs.find(run)).toMatchObject({ historyLines: 1_201, state: 'finished' });
    expect(await runs.append(createId(), { offset: 0, lines }, {}, PAYER, NOW)).toBeNull();
  });

  test('a page of long lines ends early, and the next one goes on', async () => {
    const { runs } = await open();
    const run = aRun();
    await runs.upsert(run, {}, PAYER, NOW);
    const lines = Array.from({ length: 100 }, (_, at) => `{"at":${at},"x":"${'x'.repeat(90_000)}"}`);
    for (let at = 0; at < lines.length; at += 10)
      await runs.append(run.id, { offset: at, lines: lines.slice(at, at + 10) }, {}, PAYER, NOW);
    const pages: number[] = [];
    for (let next = 0; next < lines.length;) {
      const page = await runs.history(run.id, next, 1_000);
      expect(page.map(({ content }) => content)).toEqual(lines.slice(next, next + page.length));
      pages.push(page.length);
      next += page.length;
    }
    expect(pages).toEqual([44, 44, 12]);
    expect(await runs.history(run.id, lines.length, 10)).toEqual([]);
  });

  test('a page of heavy runs ends early, and the next one goes on', async () => {
    const { runs } = await open();
    const config = JSON.stringify({ text: 'x'.repeat(900_000) });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) await runs.upsert(aRun(name), { config }, PAYER, NOW);
    const first = await runs.list({ entity: 'team' }, FIRST);
    expect(first.rows.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
    expect(first.hasMore).toBe(true);
    const next = await runs.list({ entity: 'team' }, { after: first.rows.at(-1)!.id, limit: 10 });
    expect(next).toMatchObject({ rows: [{ name: 'e' }, { name: 'f' }], hasMore: false });
  });

  test('a write over a limit changes nothing', async () => {
    const { runs, accounts } = await open();
    const run = aRun();
    const made = await runs.upsert(run, {}, PAYER, NOW);
    const bytes = await accounts.storedBytes(ACCOUNT);
    const poor = { ...PAYER, entityBytesMax: bytes + 20 };
    expect(await runs.append(run.id, { offset: 0, lines: ['{"a":1}'] }, {}, poor, NOW + 1)).toBe('over_limit');
    expect(await runs.upsert(run, { notes: 'x'.repeat(30) }, poor, NOW + 1)).toEqual({ outcome: 'over_limit' });
    expect(await runs.upsert(aRun(), {}, poor, NOW)).toEqual({ outcome: 'over_limit' });
    expect(await runs.find(run)).toEqual('run' in made && made.run);
    expect(await runs.history(run.id, 0, 10)).toEqual([]);
    expect(await accounts.storedBytes(ACCOUNT)).toBe(bytes);
  });

  test('runs are listed by entity and project in order of creation, and go with their history and charges', async () => {
    const { runs, accounts } = await open();
    const made = [aRun(), aRun(), aRun()];
    for (const run of [...made, aRun('x', 'others'), { ...aRun(), project: 'q' }])
      await runs.upsert(run, {}, PAYER, NOW);
    const filter = { entity: 'team', project: 'p' };
    const page = await runs.list(filter, { after: null, limit: 2 });
    expect([page.rows.map(({ id }) => id), page.hasMore]).toEqual([made.slice(0, 2).map(({ id }) => id), true]);
    const rest = await runs.list(filter, { after: made[1]!.id, limit: 2 });
    expect([rest.rows.map(({ id }) => id), rest.hasMore]).toEqual([[made[2]!.id], false]);
    expect((await runs.list({ entity: 'team' }, FIRST, 'desc')).rows).toHaveLength(4);
    await runs.append(made[0]!.id, { offset: 0, lines: ['{}'] }, {}, PAYER, NOW);
    for (const { id } of (await runs.list({ entity: 'team' }, FIRST)).rows) expect(await runs.delete(id)).toBe(true);
    expect(await runs.delete(made[0]!.id)).toBe(false);
    expect(await runs.history(made[0]!.id, 0, 10)).toEqual([]);
    expect(await accounts.storedBytes(ACCOUNT)).toBe(0);
  });

  test('runs are found by state and by a part of their names, tags and groups, and counted; projects by name', async () => {
    const { runs } = await open();
    const made = [aRun('Alpha_1'), aRun('beta'), { ...aRun('gamma'), project: 'q' }, aRun('x', 'others')];
    await runs.upsert(made[0]!, { state: 'failed', tags: ['Fast'] }, PAYER, NOW);
    await runs.upsert(made[1]!, { displayName: '100% alpha', groupName: 'sweep' }, PAYER, NOW);
    await runs.upsert(made[2]!, { state: 'finished' }, PAYER, NOW + 7);
    await runs.upsert(made[3]!, {}, PAYER, NOW);
    const namesOf = async (filter: object) =>
      (await runs.list({ entity: 'team', ...filter }, FIRST)).rows.map(({ name }) => name);
    expect(await namesOf({ search: 'ALPHA' })).toEqual(['Alpha_1', 'beta']);
    expect(await namesOf({ search: 'fast' })).toEqual(['Alpha_1']);
    expect(await namesOf({ search: 'weep', project: 'q' })).toEqual([]);
    expect(await namesOf({ search: '0%' })).toEqual(['beta']);
    expect(await namesOf({ search: 'alpha_', state: 'failed' })).toEqual(['Alpha_1']);
    expect(await namesOf({ state: 'finished' })).toEqual(['gamma']);
    expect(await runs.countByState({ entity: 'team', search: 'alpha', state: 'failed' })).toEqual({
      failed: 1,
      running: 1,
    });
    const [p, q] = [
      { project: 'p', runs: 2, running: 1, updatedAtMs: NOW },
      { project: 'q', runs: 1, running: 0, updatedAtMs: NOW + 7 },
    ];
    expect(await runs.listProjects('team', { after: null, limit: 1 })).toEqual({ rows: [p], hasMore: true });
    expect(await runs.listProjects('team', { after: 'p', limit: 1 })).toEqual({ rows: [q], hasMore: false });
  });

  test('what a run logged and used is recorded once, and found from both sides', async () => {
    const { runs } = await open();
    const [one, other] = [aRun(), aRun()];
    for (const run of [one, other]) await runs.upsert(run, {}, PAYER, NOW);
    for (const artifact of ['a', 'b', 'a']) await runs.noteArtifact(one.id, artifact, 'logged');
    for (const run of [other, one]) await runs.noteArtifact(run.id, 'a', 'used');
    expect([...(await runs.artifactsOf(one.id, 'logged', 10))].sort()).toEqual(['a', 'b']);
    expect(await runs.artifactsOf(one.id, 'logged', 1)).toHaveLength(1);
    expect((await runs.runsOf('a', 'used', 10)).map(({ id }) => id)).toEqual([one.id, other.id]);
    expect((await runs.runsOf('a', 'logged', 10)).map(({ id }) => id)).toEqual([one.id]);
    await runs.delete(one.id);
    expect((await runs.runsOf('a', 'used', 10)).map(({ id }) => id)).toEqual([other.id]);
  });
}
