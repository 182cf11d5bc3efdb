// The tokens of a job as the server shows them equal what training computed, according to the metrics of its gradient steps.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createId } from '#base/ids';
import { jobRecordBlob } from '#domain/blob-names';
import type { RlConfigInput, RlJobBody } from '#domain/trajectory';
import type { TrainingEngine, TrainingSession } from '#engine/training-engine';
import { createJobInputs, type TrainedTrajectory } from '#services/jobs/reading-back/job-inputs';
import type { TrainedSequence } from '#services/jobs/reading-back/token-training';
import { ableTrainer, aJobRunner, noSampler } from '../../support/a-job-runner.ts';
import { openJobLab, OWNER, submit, type JobLab, type World } from '../../support/crash/job-lab.ts';
import { encoder, group, rollout } from '../../support/training/rollouts.ts';

let lab: JobLab;
beforeAll(async () => void (lab = await openJobLab()));
afterAll(() => lab.close());

const FIRST = { after: null, limit: 100 };
const DEADLINE_MS = 60_000;

/** Sampled by a policy less certain than the model. */
const sampled = (reward: number, answer: string) =>
  rollout(reward, answer, { logprobs: [...answer].map((_, i) => (i === 1 ? null : -5 - i / 7)) });

const bodyOf = (config: RlConfigInput): RlJobBody => ({
  groups: [
    group(sampled(0, 'aaaa'), sampled(1, 'bbb'), sampled(3, 'cc')),
    group(sampled(1, 'same'), sampled(1, 'same')),
    group(sampled(2, 'xyz'), rollout(0, 'no tokens', { tokens: null }), sampled(0, 'zyx')),
  ],
  config: { learningRate: 1e-2, packedSequenceLength: 12, ...config },
  warnings: [],
});

interface Ended {
  readonly world: World;
  readonly id: string;
  readonly groups: readonly TrainedTrajectory[][];
  readonly steps: readonly Readonly<Record<string, number>>[];
}

async function run(body: RlJobBody, wrap = (session: TrainingSession) => session): Promise<Ended> {
  const world = await lab.createWorld();
  const { id } = await submit(world, body);
  const engine: TrainingEngine = {
    limits: lab.engine.limits,
    status: () => lab.engine.status(),
    close: () => lab.engine.close(),
    open: async (options, signal) => wrap(await lab.engine.open(options, signal)),
  };
  const runner = aJobRunner({
    storage: world.storage,
    blobs: world.blobs,
    jobEvents: world.jobEvents,
    workDirectory: join(lab.work, createId()),
    exclusive: true,
    saveEveryMs: 60_000,
    trainerOf: () => ({
      engine,
      encoder,
      capabilities: ableTrainer,
      readElsewhere: null,
      ...noSampler,
    }),
  });
  await runner.start();
  for await (const _ of world.jobs.followEvents(OWNER, id, null, AbortSignal.timeout(DEADLINE_MS)));
  await runner.stop();
  const inputs = readingOf(world);
  const groups = await Promise.all(
    body.groups.map(async (_, index) => [...(await inputs.listTokens(OWNER, id, index, FIRST)).rows]),
  );
  const { rows } = await world.jobs.listEvents(OWNER, id, FIRST);
  const steps = rows.filter(({ type }) => type === 'gradient_step').map(({ data }) => data as Record<string, number>);
  return { world, id, groups, steps };
}

const readingOf = ({ storage, blobs, jobs }: World) =>
  createJobInputs({ storage, blobs, baseModels: { find: () => null }, getJob: (caller, id) => jobs.get(caller, id) });

const sequencesOf = ({ groups }: Ended): TrainedSequence[] =>
  groups.flat().flatMap(({ training }) => training?.sequences ?? []);

const known = (values: readonly (number | null)[] | null): number[] => values!.filter((value) => value !== null);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('of each token', () => {
  test.each(['token', 'sequence', 'average', 'geometric_average'] as const)(
    'ratios at the level %s, log-probabilities, advantages and weights are those of the gradient steps',
    async (importanceSamplingLevel) => {
      const ended = await run(bodyOf({ importanceSamplingLevel }));
      const sequences = sequencesOf(ended);
      expect(ended.steps.length).toBeGreaterThan(2);
      for (const [i, step] of ended.steps.entries()) {
        const own = sequences.filter((sequence) => sequence.step === i + 1);
        expect(own).toHaveLength(step['num_sequences_in_row']!);
        const ratios = own.flatMap(({ ratios }) => known(ratios));
        expect(ratios).toHaveLength(step['num_trained_tokens']!);
        expect(Math.max(...ratios) / step['ratio_max']!).toBeCloseTo(1, 5);
        expect(Math.min(...ratios) / step['ratio_min']!).toBeCloseTo(1, 5);
        expect(mean(ratios) / step['ratio_mean']!).toBeCloseTo(1, 5);
        const drifts = own.flatMap(({ samplerLogprobs, trainerLogprobs, trained }) =>
          [...trained].flatMap((one, t) =>
            one === 0 ? [] : Math.abs(trainerLogprobs![t]! - (samplerLogprobs[t] ?? trainerLogprobs![t]!)),
          ),
        );
        expect(mean(drifts)).toBeCloseTo(step['logprob_difference']!, 5);
      }
      const signals = sequences.flatMap(({ advantage, weight, trained }) =>
        [...trained].filter((one) => one === 1).map(() => Math.abs(advantage) * weight),
      );
      expect(mean(signals)).toBeCloseTo(1, 5);
    },
  );

  test('trained tokens are the sampled ones, in their places; the others say why they are not trained', async () => {
    const { groups, world, id } = await run(bodyOf({}));
    const [first, second, third] = groups.map((group) => group.map(({ training }) => training!));
    expect(first!.map(({ reason }) => reason)).toEqual([null, null, null]);
    for (const [t, answer] of ['aaaa', 'bbb', 'cc'].entries()) {
      const [{ tokens, trained, samplerLogprobs }, ...more] = first![t]!.sequences as [TrainedSequence];
      expect(more).toEqual([]);
      expect(String.fromCharCode(...tokens)).toBe(`ask\n${answer}`);
      expect([...trained]).toEqual([0, 0, 0, 0, ...[...answer].map(() => 1)]);
      expect(samplerLogprobs).toEqual([
        ...[null, null, null, null],
        ...[...answer].map((_, i) => (i === 1 ? null : Math.fround(-5 - i / 7))),
      ]);
    }
    expect(second).toEqual(new Array(2).fill({ reason: 'equal_rewards', sequences: [] }));
    expect(third!.map(({ reason }) => reason)).toEqual([null, 'no_logprobs', null]);
    const inputs = readingOf(world);
    expect((await inputs.listGroups(OWNER, id, FIRST)).rows.map(({ skipped }) => skipped)).toEqual([
      {},
      { equal_rewards: 2 },
      { no_logprobs: 1 },
    ]);
    expect(await inputs.config(OWNER, id)).toMatchObject({ isAsTrained: true, config: { learning_rate: 1e-2 } });
    const page = await inputs.listTokens(OWNER, id, 0, { after: '0', limit: 1 });
    expect(page.hasMore).toBe(true);
    expect(page.rows).toEqual([groups[0]![1]]);
  });

  test('log-probabilities of other policies are there if the job asked for them', async () => {
    const ended = await run(
      bodyOf({ precalculateLogprobs: true, klPenaltyCoefficient: 0.1, klReference: { step: 0 } }),
    );
    for (const sequence of sequencesOf(ended)) {
      // The model starts from its step 0, which is also the reference.
      expect(sequence.startLogprobs).toEqual(sequence.referenceLogprobs);
      const [start, trainer] = [known(sequence.startLogprobs), known(sequence.trainerLogprobs)];
      expect(start).toHaveLength(trainer.length);
      known(sequence.ratios).forEach((ratio, t) => expect(ratio).toBeCloseTo(Math.exp(trainer[t]! - start[t]!), 6));
      if (sequence.step === 1) trainer.forEach((logprob, t) => expect(logprob).toBeCloseTo(start[t]!, 4));
    }
    expect(sequencesOf(await run(bodyOf({})))[0]).toMatchObject({ startLogprobs: null, referenceLogprobs: null });
  });

  test('the record says which engine does not tell them, and nothing is made up', async () => {
    const silent = (session: TrainingSession): TrainingSession => ({
      rowsAtOnce: session.rowsAtOnce,
      logprobs: (rows) => session.logprobs(rows),
      optimStep: (params) => session.optimStep(params),
      save: (directory, options) => session.save(directory, options),
      close: () => session.close(),
      async forwardBackward(rows, loss) {
        const results = await session.forwardBackward(rows, loss);
        return results.map(({ loss: value, metrics }) => ({ loss: value, metrics }));
      },
    });
    for (const sequence of sequencesOf(await run(bodyOf({}), silent)))
      expect(sequence).toMatchObject({ trainerLogprobs: null, ratios: null, trainerUnknown: 'not_told' });
  });

  test('of a job that training ended, steps that were not reached say so; the record goes with its model', async () => {
    let steps = 0;
    const breaking = (session: TrainingSession): TrainingSession => ({
      rowsAtOnce: session.rowsAtOnce,
      logprobs: (rows) => session.logprobs(rows),
      forwardBackward: (rows, loss) => session.forwardBackward(rows, loss),
      optimStep: (params) => session.optimStep(++steps === 2 ? { ...params, learningRate: Infinity } : params),
      save: (directory, options) => session.save(directory, options),
      close: () => session.close(),
    });
    const ended = await run(bodyOf({}), breaking);
    expect(await ended.world.jobs.get(OWNER, ended.id)).toMatchObject({ status: 'failed' });
    const unknown = sequencesOf(ended).map(({ step, trainerUnknown }) => [step, trainerUnknown] as const);
    expect(unknown.length).toBeGreaterThan(2);
    // The second step computed its gradient before its update broke.
    for (const [step, why] of unknown) expect(why, `step ${step}`).toBe(step <= 2 ? null : 'not_reached');
    const { storage, blobs } = ended.world;
    expect(await storage.accounts.storedBytes({ entity: 'team', keyId: null })).toBeGreaterThan(
      (await blobs.find(jobRecordBlob(ended.id)))!.length,
    );
  });
});

test('one log-probability of -9999 costs no job, and a metric of a rollout does not number its gradient steps', async () => {
  const far = (reward: number, answer: string) => ({
    ...rollout(reward, answer, { logprobs: [...answer].map((_, i) => (i === 1 ? -9999 : -5)) }),
    metrics: { gradient_step: 77, score: reward },
  });
  const config = { learningRate: 1e-3, ppo: true, packedSequenceLength: 8 };
  const groups = [group(far(0, 'aaaa'), far(1, 'bbb'), far(3, 'cc'))];
  const { steps, world, id } = await run({ groups, config, warnings: [] });
  expect(steps.map((step) => step['gradient_step'])).toEqual(steps.map((_, i) => i + 1));
  expect(steps[0]).toMatchObject({ score: 4 / 3, grad_norm: expect.any(Number) as number });
  expect(steps.length).toBeGreaterThan(1);
  const hidden = expect.stringContaining('of the same name: gradient_step. Give') as string;
  expect(await readingOf(world).warnings(OWNER, id)).toEqual(expect.arrayContaining([hidden]));
});
