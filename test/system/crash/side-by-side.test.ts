// Concurrent jobs: over different base models in parallel, of one base model one after another.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createId } from '#base/ids';
import type { TrainingEngine, TrainingSession } from '#engine/training-engine';
import type { Trainer } from '#services/jobs/attempt/job-attempt';
import type { TrainerRoom } from '#services/jobs/job-runner';
import { ableTrainer, aJobRunner, noSampler } from '../../support/a-job-runner.ts';
import { encoder } from '../../support/training/rollouts.ts';
import { BODY } from '../../support/crash/job-bodies.ts';
import { openJobLab, OWNER, submit, type JobLab, type World } from '../../support/crash/job-lab.ts';

const DEADLINE_MS = 40_000;

/** One trainer for each. */
let labs: Readonly<Record<'tiny' | 'other', JobLab>>;
beforeAll(async () => {
  labs = { tiny: await openJobLab(), other: await openJobLab() };
});
afterAll(() => Promise.all([labs.tiny.close(), labs.other.close()]));

/** Counts the open sessions; `beforeStep` is awaited before each row is trained. */
function createTrainers(beforeStep: (baseModel: string) => Promise<void>) {
  const open = { tiny: 0, other: 0 };
  const most = { tiny: 0, other: 0, together: 0 };
  function watched(baseModel: 'tiny' | 'other'): Trainer {
    const { engine } = labs[baseModel];
    const watchSession = (session: TrainingSession): TrainingSession => ({
      rowsAtOnce: session.rowsAtOnce,
      logprobs: (rows) => session.logprobs(rows),
      optimStep: (params) => session.optimStep(params),
      save: (directory, options) => session.save(directory, options),
      async forwardBackward(rows, loss) {
        await beforeStep(baseModel);
        return session.forwardBackward(rows, loss);
      },
      async close() {
        open[baseModel]--;
        await session.close();
      },
    });
    const watchedEngine: TrainingEngine = {
      limits: engine.limits,
      status: () => engine.status(),
      close: () => engine.close(),
      async open(options, signal) {
        const session = await engine.open(options, signal);
        most[baseModel] = Math.max(most[baseModel], ++open[baseModel]);
        most.together = Math.max(most.together, open.tiny + open.other);
        return watchSession(session);
      },
    };
    return {
      engine: watchedEngine,
      encoder,
      capabilities: ableTrainer,
      readElsewhere: null,
      ...noSampler,
    };
  }
  const trainers = { tiny: watched('tiny'), other: watched('other') };
  return { most, trainerOf: (baseModel: string) => trainers[baseModel as 'tiny' | 'other'] ?? null };
}

function createRunner(
  { storage, blobs, jobEvents }: World,
  trainerOf: (baseModel: string) => Trainer | null,
  trainerRoom: () => ReadonlyMap<string, TrainerRoom> = () => new Map(),
) {
  const workDirectory = join(labs.tiny.work, createId());
  return aJobRunner({
    storage,
    blobs,
    jobEvents,
    workDirectory,
    exclusive: true,
    saveEveryMs: 0,
    trainerOf,
    trainerRoom,
  });
}

async function statusAtEnd({ jobs }: World, id: string): Promise<string> {
  for await (const _ of jobs.followEvents(OWNER, id, null, AbortSignal.timeout(DEADLINE_MS)));
  return (await jobs.get(OWNER, id)).status;
}

async function worldOfTwo() {
  const world = await labs.tiny.createWorld();
  const other = { ...world, modelId: await labs.tiny.addModel(world, 'n', 'other') };
  return { world, other };
}

test('jobs of two base models overlap: each waits for the other in the middle of its training', async () => {
  const { world, other } = await worldOfTwo();
  const training = new Set<string>();
  let meet: () => void = () => {};
  const met = new Promise<void>((resolve) => (meet = resolve));
  const { most, trainerOf } = createTrainers(async (baseModel) => {
    if (training.add(baseModel).size === 2) meet();
    await met;
  });
  const ids = [(await submit(world, BODY)).id, (await submit(other, BODY)).id];
  const runner = createRunner(world, trainerOf);
  await runner.start();
  expect(await Promise.all(ids.map((id) => statusAtEnd(world, id)))).toEqual(['succeeded', 'succeeded']);
  await runner.stop();
  expect(most).toEqual({ tiny: 1, other: 1, together: 2 });
});

test('jobs of one base model do not, of one model or of two; a job of a base model without a trainer does not delay them', async () => {
  const world = await labs.tiny.createWorld();
  const sibling = { ...world, modelId: await labs.tiny.addModel(world, 'n', 'tiny') };
  const orphan = { ...world, modelId: await labs.tiny.addModel(world, 'o', 'gone') };
  const { most, trainerOf } = createTrainers(async () => {});
  const ids: string[] = [];
  for (const of of [world, world, orphan, sibling]) ids.push((await submit(of, BODY)).id);
  const runner = createRunner(world, trainerOf);
  await runner.start();
  const statuses = await Promise.all(ids.map((id) => statusAtEnd(world, id)));
  expect(statuses).toEqual(['succeeded', 'succeeded', 'failed', 'succeeded']);
  await runner.stop();
  expect(most).toEqual({ tiny: 1, other: 0, together: 1 });
});

test('the job of a trainer that is not connected waits for it, while others run', async () => {
  const { world, other } = await worldOfTwo();
  let isReady = false;
  const { most, trainerOf } = createTrainers(async () => {});
  const [waiting, going] = [(await submit(world, BODY)).id, (await submit(other, BODY)).id];
  const runner = createRunner(world, trainerOf, () => new Map([['tiny', { jobs: 1, isReady }]]));
  await runner.start();
  expect(await statusAtEnd(world, going)).toBe('succeeded');
  expect((await world.jobs.get(OWNER, waiting)).status).toBe('queued');
  expect(most.tiny).toBe(0);
  isReady = true;
  expect(await statusAtEnd(world, waiting)).toBe('succeeded');
  await runner.stop();
});

test('a runner that stops releases each of its jobs after the current step, and another runner continues both', async () => {
  const { world, other } = await worldOfTwo();
  let open: () => void = () => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  let arrived: () => void = () => {};
  const bothTrain = new Promise<void>((resolve) => (arrived = resolve));
  const training = new Set<string>();
  const first = createTrainers(async (baseModel) => {
    if (training.add(baseModel).size === 2) arrived();
    if (baseModel === 'other') await gate; // its step takes longer
  });
  const ids = [(await submit(world, BODY)).id, (await submit(other, BODY)).id];
  const stopping = createRunner(world, first.trainerOf);
  await stopping.start();
  await bothTrain;
  const stopped = stopping.stop();
  await expect.poll(() => stopping.status().running, { timeout: DEADLINE_MS }).toEqual([ids[1]]);
  const claim = () => world.storage.jobs.claim('another', Date.now(), 20_000, null);
  expect([(await claim())?.id, await claim()]).toEqual([ids[0], null]); // the one that still trains cannot be claimed
  await world.storage.jobs.releaseLeases('another');
  open();
  await stopped;
  const runner = createRunner(world, createTrainers(async () => {}).trainerOf);
  await runner.start();
  expect(await Promise.all(ids.map((id) => statusAtEnd(world, id)))).toEqual(['succeeded', 'succeeded']);
  await runner.stop();
});
