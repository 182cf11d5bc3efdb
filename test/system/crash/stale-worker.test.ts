// A worker whose lease expired while it was away, and that returns after another one took over its job.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createId } from '#base/ids';
import { AppError } from '#domain/errors';
import type { TrainingEngine, TrainingSession } from '#engine/training-engine';
import type { JobRunner } from '#services/jobs/job-runner';
import { ableTrainer, aJobRunner, noSampler } from '../../support/a-job-runner.ts';
import { encoder } from '../../support/training/rollouts.ts';
import { BODY } from '../../support/crash/job-bodies.ts';
import { openJobLab, OWNER, submit, type JobLab, type World } from '../../support/crash/job-lab.ts';

const DEADLINE_MS = 20_000;

let lab: JobLab;
/** The stale worker's machine: a trainer has one session at a time. */
let elsewhere: JobLab;
beforeAll(async () => {
  [lab, elsewhere] = [await openJobLab(), await openJobLab()];
});
afterAll(() => Promise.all([lab.close(), elsewhere.close()]));

function createRunner(
  { storage, blobs, jobEvents }: World,
  { engine: trainer }: JobLab,
  wrap: (session: TrainingSession) => TrainingSession,
) {
  const engine: TrainingEngine = {
    ...trainer,
    open: async (options, signal) => wrap(await trainer.open(options, signal)),
  };
  return aJobRunner({
    storage,
    blobs,
    jobEvents,
    workDirectory: join(lab.work, createId()),
    exclusive: false,
    saveEveryMs: 0,
    trainerOf: () => ({
      engine,
      encoder,
      capabilities: ableTrainer,
      readElsewhere: null,
      ...noSampler,
    }),
  });
}

async function untilEnded({ jobs }: World, id: string): Promise<void> {
  for await (const _ of jobs.followEvents(OWNER, id, null, AbortSignal.timeout(DEADLINE_MS)));
}

/** Stopped only then, because stopping releases nothing. */
async function untilIdle(runner: JobRunner): Promise<void> {
  await vi.waitFor(() => expect(runner.status().running).toEqual([]), DEADLINE_MS);
  await runner.stop();
}

/** A session that waits at a verb, once, until the test says how to continue. */
function createHanging(verb: 'optimStep' | 'save') {
  let arrive: () => void = () => {};
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  let resume: (error: Error | null) => void = () => {};
  const resumed = new Promise<Error | null>((resolve) => (resume = resolve));
  const wrap = (session: TrainingSession): TrainingSession =>
    new Proxy(session, {
      get(object, key) {
        const value = Reflect.get(object, key) as unknown;
        if (key !== verb) return value;
        return async (...args: unknown[]) => {
          arrive();
          const error = await resumed;
          if (error) throw error;
          return Reflect.apply(value as () => unknown, object, args) as unknown;
        };
      },
    });
  return { wrap, arrived, resume };
}

const filesOf = async ({ blobs }: World, prefix: string) =>
  Promise.all((await blobs.list(prefix)).map(async ({ name }) => [name, Buffer.from((await blobs.find(name))!)]));

test.each([
  ['fails', 'optimStep', new AppError('internal', 'Something broke.')],
  ['goes on', 'optimStep', null],
  ['saves its state', 'save', null],
] as const)('a stale worker that %s takes nothing away from the one that ended the job', async (_, verb, error) => {
  const world = await lab.createWorld();
  const { id } = await submit(world, BODY);
  const hanging = createHanging(verb);
  const stale = createRunner(world, elsewhere, hanging.wrap);
  await stale.start();
  await hanging.arrived;

  await world.storage.jobs.releaseLeases(null);
  const other = createRunner(world, lab, (session) => session);
  await other.start();
  await untilEnded(world, id);
  await other.stop();
  const checkpoint = (await world.storage.checkpoints.findLatest(world.modelId))!;
  const made = await filesOf(world, checkpoint.blobPrefix);
  expect([checkpoint.step, made.length > 0]).toEqual([1, true]);

  hanging.resume(error);
  await untilIdle(stale);
  expect(await world.storage.jobs.find(id)).toMatchObject({ status: 'succeeded' });
  expect(await filesOf(world, checkpoint.blobPrefix)).toEqual(made);
  const left = (await world.blobs.list(`checkpoints/${world.modelId}`)).map(({ name }) => name);
  const zero = (name: string) => name.startsWith(`checkpoints/${world.modelId}/0/`);
  expect(left.filter((name) => !zero(name))).toEqual(made.map(([name]) => name));
});

test('a stale worker that fails while another one runs the job leaves its progress', async () => {
  const world = await lab.createWorld();
  const { id } = await submit(world, BODY);
  const [first, second] = [createHanging('optimStep'), createHanging('save')];
  const stale = createRunner(world, elsewhere, first.wrap);
  await stale.start();
  await first.arrived;
  await world.storage.jobs.releaseLeases(null);
  const other = createRunner(world, lab, second.wrap);
  await other.start();
  await second.arrived;
  await world.blobs.put(`jobs/${id}/resume/current.json`, Buffer.from('of the other'));

  first.resume(new AppError('internal', 'Something broke.'));
  await untilIdle(stale);
  expect(await world.blobs.find(`jobs/${id}/resume/current.json`)).toEqual(Buffer.from('of the other'));
  second.resume(null);
  await untilEnded(world, id);
  await other.stop();
  expect(await world.storage.jobs.find(id)).toMatchObject({ status: 'succeeded' });
  expect(await world.blobs.list(`jobs/${id}/resume`)).toEqual([]);
});

test('a job that another worker takes over trains from where it began, whatever was uploaded meanwhile', async () => {
  const ended = async (world: World, id: string) => {
    const runner = createRunner(world, lab, (session) => session);
    await runner.start();
    await untilEnded(world, id);
    await runner.stop();
    const checkpoint = (await world.storage.checkpoints.find(world.modelId, 1))!;
    return (await filesOf(world, checkpoint.blobPrefix)).find(([name]) =>
      name!.toString().endsWith('.safetensors'),
    )![1];
  };
  const undisturbed = await lab.createWorld();
  const trained = await ended(undisturbed, (await submit(undisturbed, BODY)).id);

  const world = await lab.createWorld();
  const { id } = await submit(world, BODY);
  const { attempt } = (await world.storage.jobs.claim('gone', Date.now(), 1000, null))!;
  await world.storage.jobs.assignStep(id, attempt);
  const blobPrefix = `checkpoints/${world.modelId}/uploaded`;
  const made = (await undisturbed.storage.checkpoints.find(undisturbed.modelId, 1))!;
  await world.blobs.putDirectory(blobPrefix, (await undisturbed.blobs.findDirectory(made.blobPrefix))!);
  await world.storage.checkpoints.add({ ...made, id: createId(), modelId: world.modelId, blobPrefix });
  await world.storage.jobs.releaseLeases(null);
  expect(await ended(world, id)).toEqual(trained);
  expect((await world.storage.checkpoints.findLatest(world.modelId))?.step).toBe(2);
});
