import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#base/clock';
import { tinkerRequestBlob } from '#domain/blob-names';
import type { OptimizerParams } from '#engine/training-engine';
import type { Storage } from '#storage/storage';
import type { TinkerStore } from '#storage/tinker-store';
import { createSumEngine, openTinkerWorld } from '../../../test/support/tinker-world.ts';

/** As a killed server: no call returns from now on. */
function mortal(storage: Storage): { storage: Storage; kill: () => void } {
  let killed = false;
  const tinker = new Proxy(storage.tinker, {
    get:
      (store, name: keyof TinkerStore) =>
      (...of: unknown[]) =>
        killed ? new Promise(() => {}) : (store[name] as (...of: unknown[]) => unknown)(...of),
  });
  return { storage: { ...storage, tinker }, kill: () => void (killed = true) };
}

test('operations run in the order of their numbers, in whatever order they arrive', async () => {
  const { engine, calls } = createSumEngine();
  const world = await openTinkerWorld();
  const run = await world.addRun();
  await world.data(run, 2, 3);
  await world.step(run, 3);
  await world.data(run, 1, 4);
  await world.work(world.sharing(engine));
  expect(await world.ended(run, 3)).toMatchObject({ status: 'done', result: '{"metrics":{"grad_norm":7}}' });
  expect(calls).toEqual(['open 0', 'data 4', 'data 3', 'step to 7']);
});

test('an acknowledged step survives the end of its server, and so do gradients that no step applied', async () => {
  const world = await openTinkerWorld();
  const run = await world.addRun();
  await world.data(run, 1, 5);
  await world.step(run, 2);
  await world.data(run, 3, 2);
  const { storage, kill } = mortal(world.storage);
  await world.work(world.sharing(createSumEngine().engine), { storage });
  await world.ended(run, 3);
  kill();
  world.abandonWorkers();
  await world.step(run, 4);
  const { engine, calls } = createSumEngine();
  await world.work(world.sharing(engine));
  expect(await world.ended(run, 4)).toMatchObject({ status: 'done', result: '{"metrics":{"grad_norm":2}}' });
  expect(calls).toEqual(['open 0', 'data 5', 'step to 5', 'data 2', 'step to 7']);
});

test('a lost trainer is replaced, and the run continues from the saved state', async () => {
  const { engine, calls, state } = createSumEngine();
  const world = await openTinkerWorld();
  const run = await world.addRun();
  await world.work(world.sharing(engine), { saveEveryMs: 0 }); // saved after every step
  await world.data(run, 1, 1);
  await world.step(run, 2);
  await world.ended(run, 2);
  state.dies = 1;
  await world.data(run, 3, 2);
  await world.step(run, 4);
  expect(await world.ended(run, 4)).toMatchObject({ status: 'done' });
  expect(calls).toEqual(['open 0', 'data 1', 'step to 1', 'open 1', 'data 2', 'step to 3']);
});

test('a step with a failed part is not applied, and the next step has none of its gradients', async () => {
  const { engine, calls } = createSumEngine();
  const world = await openTinkerWorld();
  const run = await world.addRun();
  await world.data(run, 1, 5);
  await world.data(run, 2, null);
  await world.step(run, 3);
  await world.data(run, 4, 1);
  await world.step(run, 5);
  await world.work(world.sharing(engine));
  expect(await world.ended(run, 5)).toMatchObject({ status: 'done' });
  expect(await world.ended(run, 2)).toMatchObject({ status: 'failed', category: 'user' });
  expect(await world.ended(run, 3)).toMatchObject({ status: 'failed', category: 'user' });
  expect(calls.at(-1)).toBe('step to 1');
});

test('a client that waits for its turn says behind what, and no longer once it has it', async () => {
  const { engine, state } = createSumEngine();
  const world = await openTinkerWorld();
  const trainer = world.sharing(engine);
  const run = await world.addRun();
  let goOn = () => {};
  state.steps = new Promise((resolve) => (goOn = resolve));
  const from = await mkdtemp(join(world.directory, 'job-'));
  await writeFile(join(from, 'sum'), '0');
  const lora = { rank: 1, alpha: 1, seed: 1 };
  const opening = { from, lora, resetOptimizer: false, headTokensMax: null };
  const holder = { name: { kind: 'job', id: 'j1', entity: 'team' }, onWaiting() {} } as const;
  const job = await trainer.open(opening, new AbortController().signal, holder);
  const stepping = job.optimStep({} as OptimizerParams);
  await world.work(trainer);
  await world.data(run, 1, 1);
  const waitingFor = async () => (await world.storage.tinker.findRun(run.id))?.waitingFor;
  await expect.poll(waitingFor, { timeout: 30_000 }).toEqual({ kind: 'job', id: 'j1' });
  goOn();
  await stepping;
  await job.close();
  await world.ended(run, 1);
  await expect.poll(waitingFor, { timeout: 30_000 }).toBeNull();
});

test('a client that has read of a failed part sends the data of the step again, and the step has only that', async () => {
  const { engine, calls } = createSumEngine();
  const world = await openTinkerWorld();
  const run = await world.addRun();
  await world.data(run, 1, 5);
  await world.data(run, 2, null);
  await world.data(run, 3, 7); // a part of the same call
  await world.data(run, 4, 1, 2);
  await world.data(run, 5, 2, 2);
  await world.step(run, 6);
  await world.work(world.sharing(engine));
  expect(await world.ended(run, 6)).toMatchObject({ status: 'done', result: '{"metrics":{"grad_norm":3}}' });
  expect(await world.ended(run, 3)).toMatchObject({ status: 'failed', category: 'user' });
  expect(calls.at(-1)).toBe('step to 3');
});

test('a request that was refused when it arrived holds up no later one, and may be sent again until one follows it', async () => {
  const { engine, calls } = createSumEngine();
  const world = await openTinkerWorld();
  const run = await world.addRun();
  await world.work(world.sharing(engine));
  await world.refuse(run, 1, 'forward_backward');
  await world.data(run, 1, 2);
  await world.step(run, 2);
  expect(await world.ended(run, 2)).toMatchObject({ status: 'done' });
  await world.refuse(run, 3, 'save_weights');
  await world.refuse(run, 4, 'forward_backward');
  await world.data(run, 5, 4, 4);
  await world.step(run, 6);
  expect(await world.ended(run, 6)).toMatchObject({ status: 'done', result: '{"metrics":{"grad_norm":4}}' });
  expect(await world.ended(run, 4)).toMatchObject({ status: 'failed', error: 'refused' });
  expect(calls.at(-1)).toBe('step to 6');
});

test('clients share one trainer by loans, and a job takes precedence over them', async () => {
  const { engine, calls, state } = createSumEngine();
  const world = await openTinkerWorld();
  const trainer = world.sharing(engine);
  await world.work(trainer);
  const runs = [await world.addRun(), await world.addRun(), await world.addRun()];
  for (let round = 0; round < 3; round++) {
    for (const [i, run] of runs.entries()) {
      await world.data(run, 2 * round + 1, i + 1);
      await world.step(run, 2 * round + 2);
    }
  }
  for (const run of runs) expect(await world.ended(run, 6)).toMatchObject({ status: 'done' });
  for (const sum of [3, 6, 9]) expect(calls).toContain(`step to ${sum}`);
  expect(state.openMost).toBe(1);
  const directory = await mkdtemp(join(world.directory, 'job-'));
  await writeFile(join(directory, 'sum'), '100');
  const lora = { rank: 1, alpha: 1, seed: 1 };
  const options = { from: directory, lora, resetOptimizer: false, headTokensMax: null };
  const job = await trainer.open(options, new AbortController().signal);
  await world.data(runs[0]!, 7, 1);
  await world.step(runs[0]!, 8);
  expect(state.openMost).toBe(1);
  await job.close();
  await world.ended(runs[0]!, 8);
  expect(calls.slice(-3)).toEqual(['open 3', 'data 1', 'step to 4']);
});

test('an operation whose reading ended its server twice fails with that cause, and the run goes on', async () => {
  const world = await openTinkerWorld();
  const run = await world.addRun();
  await world.data(run, 1, 5);
  const { tinker } = world.storage;
  for (let death = 0; death < 2; death++) {
    const claimed = await tinker.claimRun('w', { nowMs: systemClock.now(), leaseMs: 0, gapMs: 1e9 }, ['base']);
    await tinker.beginReading(claimed!, 1);
  }
  await world.work(world.sharing(createSumEngine().engine));
  const failure = {
    status: 'failed',
    category: 'server',
    error: expect.stringContaining('ended 2 times while it read') as unknown,
  };
  expect(await world.ended(run, 1)).toMatchObject(failure);
  await world.step(run, 2);
  await world.data(run, 3, 2);
  expect(await world.ended(run, 3)).toMatchObject({ status: 'done' });
});

test('forward passes make no log: what nothing needs any more is dropped without a step', async () => {
  const world = await openTinkerWorld();
  const run = await world.addRun({ doneSeq: 1_030 });
  await world.data(run, 1_031, 1, 0, { forwardOnly: true });
  await world.work(world.sharing(createSumEngine().engine));
  await world.ended(run, 1_031);
  const logBegin = async () => (await world.storage.tinker.findRun(run.id))!.stateSeq;
  await expect.poll(logBegin, { timeout: 30_000 }).toBe(1_031);
  await expect.poll(() => world.blobs.find(tinkerRequestBlob(run.modelId, 1_031)), { timeout: 30_000 }).toBeNull();
});

test('a long log keeps what a replay needs, and ends with the next step, before the state is due', async () => {
  const world = await openTinkerWorld();
  const run = await world.addRun();
  await world.data(run, 1, 2);
  await world.data(run, 1_100, 3, 0, { forwardOnly: true, createdAtMs: 0 }); // those before it never came
  await world.work(world.sharing(createSumEngine().engine), { saveEveryMs: 1e9 });
  await world.ended(run, 1_100);
  await world.step(run, 1_101);
  expect(await world.ended(run, 1_101)).toMatchObject({ result: '{"metrics":{"grad_norm":2}}' });
  const saved = { stateSeq: 1_101, stateBlob: expect.any(String) as unknown };
  await expect.poll(() => world.storage.tinker.findRun(run.id), { timeout: 10_000 }).toMatchObject(saved);
  await expect.poll(() => world.blobs.find(tinkerRequestBlob(run.modelId, 1)), { timeout: 10_000 }).toBeNull();
});

test('gradients that wait for a step survive the end of a server whose log is long', async () => {
  const world = await openTinkerWorld();
  const run = await world.addRun();
  await world.data(run, 1, 2);
  await world.data(run, 1_100, 3, 0, { forwardOnly: true, createdAtMs: 0 });
  const { storage, kill } = mortal(world.storage);
  await world.work(world.sharing(createSumEngine().engine), { storage });
  await world.ended(run, 1_100);
  kill();
  world.abandonWorkers();
  await world.step(run, 1_101);
  await world.work(world.sharing(createSumEngine().engine));
  expect(await world.ended(run, 1_101)).toMatchObject({ result: '{"metrics":{"grad_norm":2}}' });
});
