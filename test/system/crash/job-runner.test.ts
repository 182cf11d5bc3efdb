// The job runner on the real trainer when everything around it dies: after some operations (a row, a blob, a verb of the engine) the "process"
// is killed (dying-runner.ts), a new runner starts on what was stored, and the result must equal that of an undisturbed run. Kills at every
// operation are simulated, with a scripted trainer: test/service/simulation.
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_LORA } from '#domain/lora-config';
import { limitsBeside } from '#engine/training-engine';
import { createRecordingLog } from '../../support/serving/recording-log.ts';
import { eventsOf, killedLate, outcome, runUntilEnd, undisturbed } from '../../support/crash/dying-runner.ts';
import {
  BODY,
  DEMANDING,
  IMITATION,
  IMITATION_IN_EPOCHS,
  type JobData,
  KILLED,
  NOTHING_TO_LEARN,
} from '../../support/crash/job-bodies.ts';
import { openJobLab, OWNER, submit, type JobLab } from '../../support/crash/job-lab.ts';

/** Of one kind of job. */
const KILLS = 5;

/** Of 0 … count − 1, so many with equal distances; the first and the last among them. */
const spread = (count: number, chosen: number): readonly number[] =>
  Array.from({ length: chosen }, (_, i) => Math.round((i * (count - 1)) / (chosen - 1)));

let lab: JobLab;
beforeAll(async () => {
  lab = await openJobLab();
});
afterAll(() => lab.close());

describe('a job', () => {
  test('ends with a checkpoint, its events numbered from start to end', async () => {
    const { expected } = await undisturbed(lab, BODY);
    expect(expected).toMatchObject({ status: 'succeeded', step: 1, leftOver: 0 });
    const types = expected.events.map(({ type }) => type);
    expect(types).toEqual([
      'training_started',
      ...new Array<string>(types.length - 2).fill('gradient_step'),
      'training_ended',
    ]);
    expect(expected.events[0]!.data).toMatchObject({ num_sequences: types.length - 2 });
    expect(types.length).toBeGreaterThan(4);
  });

  test('lists in its first event the parts of its request that were not followed', async () => {
    const eventOf = async (body: JobData) => (await undisturbed(lab, body)).expected.events[0]!.data;
    expect(await eventOf(BODY)).toMatchObject({ num_rendered_prompts: 0 });
    expect(await eventOf(BODY)).not.toHaveProperty('warnings');
    expect(await eventOf(IMITATION)).toMatchObject({ warnings: ['said'] });
    const long = { ...BODY, config: { ...BODY.config, packedSequenceLength: 1_000_000 }, warnings: ['said'] };
    const { rowLengthMax } = limitsBeside({ rank: DEFAULT_LORA.rank, onHead: false }, lab.engine.limits);
    expect(await eventOf(long)).toMatchObject({
      num_sequences: 1,
      warnings: [
        'said',
        expect.stringContaining(`packed_sequence_length became ${rowLengthMax} instead of 1000000: `) as string,
      ],
    });
  });

  test('that has nothing to learn makes a step with the same weights and says why', async () => {
    const before = (await undisturbed(lab, BODY)).expected.adapter;
    const { expected } = await undisturbed(lab, NOTHING_TO_LEARN);
    expect(expected).toMatchObject({ status: 'succeeded', step: 1, skipped: { equal_rewards: 2 } });
    expect(expected.adapter).not.toBe(before);
    expect(expected.events.map(({ type }) => type)).toEqual(['training_started', 'training_ended']);
    expect(expected.events[0]!.data).toMatchObject({ num_sequences: 0, skipped: { equal_rewards: 2 } });
  });

  test('of SFT reports its rate and epoch at each step', async () => {
    const { events } = (await undisturbed(lab, IMITATION_IN_EPOCHS)).expected;
    expect(events[0]!.data).toMatchObject({
      num_sequences: 4,
      config: { epochs: 2, packing: false, learning_rate: 1e-2, lr_scheduler_type: 'cosine', warmup_steps: 1 },
    });
    expect(events.slice(1, -1).map(({ data }) => data)).toMatchObject([
      { learning_rate: 0, epoch: 0.5 },
      { learning_rate: 1e-2, epoch: 1 },
      { learning_rate: expect.closeTo(7.5e-3, 12) as number, epoch: 1.5 },
      { learning_rate: expect.closeTo(2.5e-3, 12) as number, epoch: 2 },
    ]);
  });

  test.each(KILLED)(
    '%s killed on its way continues in a new process: same events, same bytes',
    async (_, body) => {
      const { calls, expected } = await undisturbed(lab, body);
      expect(calls).toBeGreaterThan(30);
      for (const lastCall of spread(calls, KILLS)) {
        const world = await lab.createWorld();
        const { id } = await submit(world, body);
        await runUntilEnd(lab, world, id, { lastCall });
        await runUntilEnd(lab, world, id);
        expect(await outcome(world, id), `killed after ${lastCall} operations`).toEqual({
          ...expected,
          leftOver: expect.any(Number) as number,
        });
      }
    },
    120_000,
  );

  test.each(KILLED)(
    '%s continues when the training process dies at a verb: same events, same bytes',
    async (_, body) => {
      const { expected } = await undisturbed(lab, body);
      const verbs = 5 * (expected.events.length - 2);
      for (const failAt of spread(verbs, KILLS)) {
        const world = await lab.createWorld();
        const { id } = await submit(world, body);
        await runUntilEnd(lab, world, id, { failAt });
        expect(await outcome(world, id), `died at verb ${failAt}`).toEqual(expected);
      }
    },
    60_000,
  );

  const long = { ...BODY.config, packedSequenceLength: 16 };
  test.each([
    ['shorter', 16, 8, { ...BODY, config: long }],
    ['longer', 8, 16, { ...BODY, config: long }],
    ['longer', 8, 16, { ...DEMANDING, config: { ...DEMANDING.config, ...long } }],
  ])(
    'that continues on a trainer that takes %s rows restarts its training; no event is missing or duplicated',
    async (_, first, then, body) => {
      const { calls } = await undisturbed(lab, body, { rowLengthMax: first });
      const { expected } = await undisturbed(lab, body, { rowLengthMax: then });
      const { world, id } = await killedLate(lab, body, calls, { rowLengthMax: first });
      const told = await eventsOf(world, id);
      expect(told.filter(({ type }) => type === 'gradient_step').length).toBeGreaterThan(1);
      const log = createRecordingLog();
      await runUntilEnd(lab, world, id, { rowLengthMax: then, log });

      const ended = await outcome(world, id);
      expect(ended.adapter).toBe(expected.adapter);
      expect(ended).toMatchObject({ status: 'succeeded', step: 1, leftOver: 0, metrics: expected.metrics });
      expect(log.lines.map(({ event }) => event)).toContain('job.begins_again');
      expect(ended.events.slice(0, told.length)).toEqual(told);
      expect(ended.events.slice(told.length, -1)).toEqual(expected.events.slice(told.length, -1));
      expect(ended.events.at(-1)).toMatchObject({
        type: 'training_ended',
        data: {
          num_gradient_steps: expected.events.length - 2,
          warnings: [expect.stringContaining('Training started again') as string],
        },
      });
    },
  );

  test.each([
    ['', BODY, 'xxxx'],
    [', asked for log-probabilities,', DEMANDING, 'xxxx'],
    [', of SFT,', IMITATION, 'zz'],
  ] as const)('%s ends when the training process ends twice at one of its rows', async (_, body, letters) => {
    const world = await lab.createWorld();
    const { id } = await submit(world, body);
    const { deaths } = await runUntilEnd(lab, world, id, { fatal: { letters } });
    expect(deaths).toBe(2);
    expect(await world.jobs.get(OWNER, id)).toMatchObject({
      status: 'failed',
      errorMessage: expect.stringMatching(
        /ended twice while it computed the same row, of \d+ tokens \(it exited/,
      ) as string,
    });
  });

  test('ends when a worker is gone three times at one of its rows', async () => {
    const world = await lab.createWorld();
    const { id } = await submit(world, BODY);
    const { deaths } = await runUntilEnd(lab, world, id, { fatal: { letters: 'xxxx', isUnseen: true } });
    expect(deaths).toBe(3);
    expect(await world.jobs.get(OWNER, id)).toMatchObject({
      status: 'failed',
      errorMessage: expect.stringMatching(
        /ended 3 times while it computed the same row, of \d+ tokens \(it lost its connection/,
      ) as string,
    });
  });

  test('continues when another training process is killed at the same row, again and again', async () => {
    const { expected } = await undisturbed(lab, BODY);
    const world = await lab.createWorld();
    const { id } = await submit(world, BODY);
    const { deaths } = await runUntilEnd(lab, world, id, { fatal: { letters: 'xxxx', killsByOthers: 5 } });
    expect(deaths).toBe(6); // it survived the last one
    expect(await outcome(world, id)).toEqual(expected);
  });

  test('after the latest checkpoints were deleted makes the step after them, from the one that is left', async () => {
    const world = await lab.createWorld();
    const { storage, modelId } = world;
    for (const body of [BODY, NOTHING_TO_LEARN]) await runUntilEnd(lab, world, (await submit(world, body)).id);
    await storage.checkpoints.delete(modelId, [1, 2]);
    const { id } = await submit(world, NOTHING_TO_LEARN);
    await runUntilEnd(lab, world, id);
    const made = (await storage.checkpoints.findLatest(modelId))!;
    expect([made.step, made.fresh]).toEqual([3, true]);
    expect(await storage.jobs.find(id)).toMatchObject({ status: 'succeeded', step: 3 });
  });

  test('of a model whose checkpoints are all deleted is refused, and fails where they are deleted while it waits', async () => {
    const world = await lab.createWorld();
    const { storage, modelId, jobs } = world;
    const { id } = await submit(world, BODY);
    await storage.checkpoints.delete(modelId, [0]);
    await runUntilEnd(lab, world, id);
    expect(await jobs.get(OWNER, id)).toMatchObject({
      status: 'failed',
      errorMessage: expect.stringContaining('were deleted: training cannot continue') as string,
    });
    expect(await storage.checkpoints.findLatest(modelId)).toBeNull();
    for (const body of [BODY, IMITATION])
      await expect(submit(world, body)).rejects.toMatchObject({ code: 'checkpoint_not_found', param: 'model_id' });
  });

  test('that asks for a KL reference which the jobs before it do not make says which', async () => {
    const world = await lab.createWorld();
    const body = { ...BODY, config: { ...BODY.config, klPenaltyCoefficient: 0.1, klReference: { step: 7 } } };
    const missing = { code: 'checkpoint_not_found', param: 'kl_penalty_reference_step' };
    await expect(submit(world, body)).rejects.toMatchObject(missing);
    await submit(world, BODY);
    const { id } = await submit(world, body);
    await runUntilEnd(lab, world, id);
    const failed = await outcome(world, id);
    expect(failed).toMatchObject({ status: 'failed', step: 1 });
    expect(failed.events.at(-1)!.data).toMatchObject({ error_message: expect.stringContaining('step 7') as string });
  });

  test('that is submitted again under its id, because a crash cut off the answer, is there once', async () => {
    const { jobs, modelId, storage } = await lab.createWorld();
    const first = await jobs.submitRl(OWNER, BODY, modelId, 'given');
    expect(await jobs.submitRl(OWNER, BODY, modelId, 'given')).toEqual(first);
    expect(await storage.jobs.count('queued', null)).toBe(1);
  });

  const imitation = { ...IMITATION.config, batchSize: 20, validationSplit: 0 };
  test.each([
    ['of RL in one step', { ...BODY, config: { learningRate: 1e30 } }, 1],
    ['of RL in several steps', { ...BODY, config: { ...BODY.config, learningRate: 1e30 } }, 1],
    ['of SFT in one step', { ...IMITATION, config: { ...imitation, learningRate: [1e30] } }, 1],
    ['of RL with weights beyond float32', { ...BODY, config: { learningRate: 1e40 } }, 0],
  ] as [string, JobData, number][])(
    '%s whose model computes no numbers any more fails with that cause and makes no checkpoint',
    async (_, body, steps) => {
      const world = await lab.createWorld();
      const { id } = await submit(world, body);
      await runUntilEnd(lab, world, id);
      const failed = await outcome(world, id);
      expect(failed).toMatchObject({ status: 'failed', step: 0, leftOver: 0 });
      expect(failed.events.map(({ type }) => type)).toEqual([
        'training_started',
        ...new Array<string>(steps).fill('gradient_step'),
        'training_failed',
      ]);
      expect(failed.events.at(-1)!.data).toMatchObject({
        error_message: expect.stringMatching(/not finite.*learning rate|gradient norm is NaN.*learning rate/) as string,
      });
      expect(JSON.stringify(failed.events)).not.toContain(tmpdir());
    },
  );

  test('of SFT on bad data ends before it has trained, and says which lines', async () => {
    const world = await lab.createWorld();
    const bad = { ...IMITATION, rows: [IMITATION.rows[0]!, { messages: [{ role: 'user', content: 'no answer' }] }] };
    const { id } = await submit(world, bad);
    await runUntilEnd(lab, world, id);
    const failed = await outcome(world, id);
    expect(failed).toMatchObject({ status: 'failed', step: 0, leftOver: 0 });
    expect(failed.events).toMatchObject([
      { type: 'training_failed', data: { error_message: expect.stringContaining('train.jsonl line 2: ') as string } },
    ]);
  });

  test('that cannot be run ends in training_failed with its cause', async () => {
    const world = await lab.createWorld();
    const { id } = await submit(world, BODY);
    await world.blobs.delete(`jobs/${id}`);
    await runUntilEnd(lab, world, id);
    const failed = await outcome(world, id);
    expect(failed).toMatchObject({ status: 'failed', step: 0 });
    expect(failed.events.at(-1)).toMatchObject({
      type: 'training_failed',
      data: { error_message: expect.stringContaining('body') as string },
    });
  });

  test('that was cancelled while it waited is never run', async () => {
    const world = await lab.createWorld();
    const { id } = await submit(world, BODY);
    await world.jobs.cancel(OWNER, id);
    await runUntilEnd(lab, world, id);
    expect(await outcome(world, id)).toMatchObject({
      status: 'cancelled',
      step: 0,
      events: [{ type: 'training_failed', data: { error_message: 'cancelled' } }],
    });
    await expect(world.jobs.cancel(OWNER, id)).rejects.toThrow('finished already');
    await expect(world.jobs.get({ ...OWNER, entity: 'others' }, id)).rejects.toThrow('No training job');
  });
});

describe.each([
  ['an adapter on the output head', { ...DEFAULT_LORA, targets: ['q_proj', 'lm_head'] }, 'float32'],
  ['8-bit weights', DEFAULT_LORA, 'int8'],
] as const)('a job over %s', (_, lora, precision) => {
  let other: JobLab;
  beforeAll(async () => {
    other = await openJobLab(lora, precision);
  });
  afterAll(() => other.close());

  test.each([
    ['RL', BODY],
    ['SFT', IMITATION],
  ] as const)(
    'of %s ends with the same bytes when it is killed on its way',
    async (_, body) => {
      const { calls, expected } = await undisturbed(other, body);
      expect(expected).toMatchObject({ status: 'succeeded', step: 1 });
      expect(expected.adapter).not.toBe((await undisturbed(lab, body)).expected.adapter);
      for (const lastCall of spread(calls, KILLS)) {
        const world = await other.createWorld();
        const { id } = await submit(world, body);
        await runUntilEnd(other, world, id, { lastCall });
        await runUntilEnd(other, world, id);
        expect(await outcome(world, id), `killed after ${lastCall} operations`).toEqual({
          ...expected,
          leftOver: expect.any(Number) as number,
        });
      }
    },
    120_000,
  );
});
