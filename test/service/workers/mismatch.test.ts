// A job whose sampler and trainer are not both exact reports their mismatch from before its first step, and warns if it is large.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createId } from '#base/ids';
import type { TrainerCapabilities } from '#engine/capabilities';
import type { RlJobBody, Trajectory } from '#domain/trajectory';
import { ableTrainer, aJobRunner, noSampler } from '../../support/a-job-runner.ts';
import { openJobLab, OWNER, submit, type JobLab, type World } from '../../support/crash/job-lab.ts';
import { aSession } from '../../support/learning/a-session.ts';
import { plainRow } from '../../support/learning/tiny-decoders.ts';
import { encoder, group, rollout } from '../../support/training/rollouts.ts';
import { rowLogprobs } from '../../support/learning/one-row.ts';

let lab: JobLab;
beforeAll(async () => {
  lab = await openJobLab();
});
afterAll(() => lab.close());

/** A rollout as the base model would have sampled it, with its log-probabilities `off` by so much. */
async function sampledRollout(reward: number, answer: string, off: number): Promise<Trajectory> {
  const session = await lab.engine.open(aSession(), new AbortController().signal);
  const prompt = encoder.encode('ask\n');
  const logprobs = await rowLogprobs(session, plainRow([...prompt, ...encoder.encode(answer)], {}));
  await session.close();
  return rollout(reward, answer, { logprobs: [...logprobs.slice(prompt.length - 1)].map((logprob) => logprob - off) });
}

const bodyOf = async (off: number): Promise<RlJobBody> => ({
  groups: [group(await sampledRollout(0, 'abcabc', off), await sampledRollout(1, 'xyzxyz', off))],
  config: { learningRate: 1e-2, packedSequenceLength: 10 },
  warnings: [],
});

async function eventsOf(
  world: World,
  body: RlJobBody,
  changes: Partial<TrainerCapabilities>,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { id } = await submit(world, body);
  const { storage, blobs, jobEvents, jobs } = world;
  const runner = aJobRunner({
    ...{ storage, blobs, jobEvents, workDirectory: join(lab.work, createId()), exclusive: true, saveEveryMs: 0 },
    trainerOf: () => ({
      engine: lab.engine,
      encoder,
      capabilities: () => ({ ...ableTrainer(), ...changes }),
      readElsewhere: null,
      ...noSampler,
    }),
  });
  await runner.start();
  const events: Readonly<Record<string, unknown>>[] = [];
  for await (const { data } of jobs.followEvents(OWNER, id, null, AbortSignal.timeout(40_000))) events.push(data);
  await runner.stop();
  return events;
}

const INEXACT = { exactLogprobs: false };

test('if the engines agree, every step and the last event say so, without a warning', async () => {
  const world = await lab.createWorld();
  const [, ...rest] = await eventsOf(world, await bodyOf(0), INEXACT);
  const steps = rest.slice(0, -1);
  expect(steps.length).toBeGreaterThan(1);
  for (const step of steps) {
    expect(step['sampler_log_ratio_p99']).toBeLessThan(1e-4); // also in the second step, because it is measured before the first
    expect(Math.abs(step['sampler_log_ratio_mean'] as number)).toBeLessThan(1e-4);
    expect(step['sampler_clipped_fraction']).toBe(0);
  }
  const { metrics } = (await world.storage.checkpoints.findLatest(world.modelId))!;
  expect(metrics['train/sampler_log_ratio_p99']).toBe(steps[0]!['sampler_log_ratio_p99']);
  expect(rest.at(-1)).not.toHaveProperty('warnings');
});

test('if they do not, the last event warns with the numbers', async () => {
  const world = await lab.createWorld();
  const [, ...rest] = await eventsOf(world, await bodyOf(0.5), INEXACT);
  expect(rest[0]!['sampler_log_ratio_mean']).toBeCloseTo(0.5, 3);
  expect(rest.at(-1)).toMatchObject({
    'train/sampler_log_ratio_mean': expect.closeTo(0.5, 3) as number,
    warnings: [expect.stringMatching(/do not agree: over 12 tokens the mean log-ratio is 0\.50 nats/)],
  });
});

test('precalculated log-probabilities do not change the measured mismatch', async () => {
  const world = await lab.createWorld();
  const { config, ...body } = await bodyOf(0.5);
  const precalculated = { ...body, config: { ...config, precalculateLogprobs: true } };
  const [, ...rest] = await eventsOf(world, precalculated, INEXACT);
  expect(rest[0]!['sampler_log_ratio_mean']).toBeCloseTo(0.5, 3);
});

test('exact engines, and rollouts without log-probabilities, are not measured', async () => {
  const world = await lab.createWorld();
  const exact = await eventsOf(world, await bodyOf(0.5), {});
  const unknown = await eventsOf(
    world,
    { groups: [group(rollout(0, 'a'), rollout(1, 'b'))], config: {}, warnings: [] },
    INEXACT,
  );
  for (const data of [...exact, ...unknown]) expect(Object.keys(data).join()).not.toMatch(/sampler_/);
});

test('a trainer that does not support shared prefixes gets rows without them, and learns the same', async () => {
  const adapterOf = async (sharedPrefixRows: boolean) => {
    const world = await lab.createWorld();
    const body = await bodyOf(0);
    const long = { ...body, config: { ...body.config, packedSequenceLength: 100 } };
    const events = await eventsOf(world, long, { sharedPrefixRows });
    return events[1]!;
  };
  const [shared, separate] = [await adapterOf(true), await adapterOf(false)];
  expect([shared['tokens_saved_by_sharing'], separate['tokens_saved_by_sharing']]).toEqual([4, 0]);
  expect([shared['num_tokens'], separate['num_tokens']]).toEqual([16, 20]);
  for (const name of ['loss', 'grad_norm', 'entropy']) {
    expect(separate[name] as number).toBeCloseTo(shared[name] as number, 5);
  }
});
