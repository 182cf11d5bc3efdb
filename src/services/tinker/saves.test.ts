import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#base/clock';
import type { TinkerRun } from '#domain/tinker';
import { openTinkerWorld } from '../../../test/support/tinker-world.ts';
import type { SaveBody } from './operation-bodies.ts';
import { createSaves, type SavesDeps } from './saves.ts';

const BODY: SaveBody = { name: null, samplerOrdinal: null, overwrite: false, ttlSeconds: null, metadata: {} };

/** Weights are files that say what their adapter is. */
async function openSaves() {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-saves-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const { storage, blobs, addRun } = await openTinkerWorld();
  const baseModels = { find: () => null } as unknown as SavesDeps['baseModels'];
  const clock = { ...systemClock, later: 0, now: () => systemClock.now() + clock.later };
  const saves = createSaves({ storage, blobs, baseModels, clock });
  const session = (rank: number) => ({
    async save(blob: string) {
      await writeFile(join(directory, 'adapter_config.json'), JSON.stringify({ r: rank, target_modules: ['q_proj'] }));
      return blobs.putDirectory(blob, directory);
    },
  });
  const save = (run: TinkerRun, seq: number, body: Partial<SaveBody>, rank = run.lora.rank) => {
    const kind = body.name === undefined ? ('save_sampler' as const) : ('save_weights' as const);
    return saves.save(run, { seq, kind }, { ...BODY, ...body }, session(rank));
  };
  return { addRun, saves, save, clock };
}

test('weights end when their time is over, not when they are deleted, and their name is free', async () => {
  const { addRun, saves, save, clock } = await openSaves();
  const run = await addRun();
  const path = `tinker://${run.id}/weights/w`;
  await save(run, 1, { name: 'w', ttlSeconds: 60 });
  expect(await saves.find(run.entity, path)).not.toBeNull();
  await expect(save(run, 2, { name: 'w' })).rejects.toThrow('exists already');
  clock.later = 61_000;
  expect([await saves.find(run.entity, path), await saves.findOwn(run.entity, path)]).toEqual([null, null]);
  await save(run, 3, { name: 'w' });
  await saves.deleteExpired();
  expect(await saves.find(run.entity, path)).toMatchObject({ named: { expiresAtMs: null } });
});

test('a number of a sampling session is of the weights that were saved under it first', async () => {
  const { addRun, save } = await openSaves();
  const run = await addRun();
  const other = await addRun({ sessionId: run.sessionId, id: `${run.sessionId}:train:1` });
  const saved = await save(run, 3, { samplerOrdinal: 0 });
  expect(await save(run, 3, { samplerOrdinal: 0 })).toBe(saved);
  await expect(save(other, 3, { samplerOrdinal: 0 })).rejects.toThrow('is another sampling session');
  await expect(save(run, 4, { samplerOrdinal: 0 })).rejects.toThrow('is another sampling session');
  await expect(save(run, 5, {})).rejects.toThrow('need the number of their sampling session');
});

test('weights of another rank, or without an optimizer that is asked for, are not loaded into a run', async () => {
  const { addRun, saves, save } = await openSaves();
  const run = await addRun();
  const path = (kind: string) => `tinker://${run.id}/${kind}/w`;
  await save(run, 1, { name: 'w' });
  expect(await saves.filesOf(run, path('weights'), true)).toBeTruthy();
  await save(run, 2, { name: 'w', overwrite: true }, 4);
  await expect(saves.filesOf(run, path('weights'), true)).rejects.toThrow('has the rank 4, and this run 1');
  await saves.save(
    run,
    { seq: 3, kind: 'save_sampler' },
    { ...BODY, name: 'w' },
    { save: async () => ({ sizeBytes: 1 }) },
  );
  await expect(saves.filesOf(run, path('sampler_weights'), true)).rejects.toThrow('has no optimizer state');
});
