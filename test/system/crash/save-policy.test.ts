// A job of a model with a limit on its checkpoints: deletions happen together with the checkpoint that the job makes, also after
// a kill at any operation.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createId } from '#base/ids';
import { ableTrainer, aJobRunner, noSampler } from '../../support/a-job-runner.ts';
import { encoder } from '../../support/training/rollouts.ts';
import { createKillSwitch } from '../../support/crash/dying.ts';
import { NOTHING_TO_LEARN } from '../../support/crash/job-bodies.ts';
import { openJobLab, OWNER, submit, type JobLab, type World } from '../../support/crash/job-lab.ts';

const FIRST = { after: null, limit: 100 };
const POLICY = { totalLimit: 1, bestMetric: null, greaterIsBetter: true };

let lab: JobLab;
beforeAll(async () => {
  lab = await openJobLab();
});
afterAll(() => lab.close());

/** Until the job has ended, or the runner is dead. Returns the operations. */
async function runUntilEnd({ storage, blobs, jobs, jobEvents }: World, id: string, lastCall: number): Promise<number> {
  const kill = createKillSwitch(lastCall);
  const { engine, work } = lab;
  const trainer = { engine: kill.wrap(engine), encoder, capabilities: ableTrainer, readElsewhere: null };
  const runner = aJobRunner({
    storage: kill.wrap(storage),
    blobs: kill.wrap(blobs),
    jobEvents,
    workDirectory: join(work, createId()),
    exclusive: true,
    saveEveryMs: 0,
    trainerOf: () => ({ ...trainer, ...noSampler }),
  });
  await runner.start().catch(() => undefined);
  const ended = (async () => {
    for await (const _ of jobs.followEvents(OWNER, id, null, AbortSignal.timeout(20_000)));
  })();
  await Promise.race([ended, kill.died]);
  await runner.stop();
  return kill.calls();
}

async function trainKilledAfter(lastCall: number) {
  const world = await lab.createWorld();
  await world.storage.models.setSavePolicy(world.modelId, POLICY);
  const { id } = await submit(world, NOTHING_TO_LEARN);
  const calls = await runUntilEnd(world, id, lastCall);
  await runUntilEnd(world, id, Infinity);
  const { rows } = await world.storage.checkpoints.list(world.modelId, FIRST, 'asc');
  const events = (await world.jobs.listEvents(OWNER, id, FIRST)).rows.map(({ type, data }) => ({ type, data }));
  return { world, calls, steps: rows.map(({ step }) => step), events };
}

test('only the newest stays; the last event names the deleted ones, and their bytes are gone', async () => {
  const { world, calls, steps, events } = await trainKilledAfter(Infinity);
  expect(steps).toEqual([1]);
  expect(events.at(-1)).toMatchObject({ type: 'training_ended', data: { step: 1, deleted_checkpoints: [0] } });
  expect(await world.blobs.list(`checkpoints/${world.modelId}/0`)).toEqual([]);
  expect(calls).toBeGreaterThan(15);
  for (let lastCall = 0; lastCall < calls; lastCall++) {
    const killed = await trainKilledAfter(lastCall);
    expect([killed.steps, killed.events], `killed after ${lastCall} operations`).toEqual([steps, events]);
  }
}, 60_000);
