// Jobs that evaluate held-out rows while they train: their reports, when they end, whose weights they keep. job-runner.test.ts
// tests that they survive kills; src/training/early-stopping.test.ts tests the rules.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DpoConfigInput } from '#domain/dpo';
import type { SftConfigInput } from '#domain/sft';
import { OVERFITTING, PREFERENCE, PREFERENCE_STOPPED, type JobData } from '../../support/crash/job-bodies.ts';
import { labRunner, openJobLab, OWNER, submit, type JobLab } from '../../support/crash/job-lab.ts';

let lab: JobLab;
beforeAll(async () => {
  lab = await openJobLab();
});
afterAll(() => lab.close());

async function trained(body: JobData) {
  const world = await lab.createWorld();
  const { id } = await submit(world, body);
  const runner = labRunner(lab, world, 1e9);
  await runner.start();
  const events: Record<string, unknown>[] = [];
  for await (const { data } of world.jobs.followEvents(OWNER, id, null, AbortSignal.timeout(60_000))) events.push(data);
  await runner.stop();
  const { metrics, blobPrefix } = (await world.storage.checkpoints.findLatest(world.modelId))!;
  const adapter = Buffer.from((await world.blobs.find(`${blobPrefix}/adapter_model.safetensors`))!).toString('base64');
  return { first: events[0]!, steps: events.slice(1, -1), last: events.at(-1)!, metrics, adapter };
}

const overfitting = (config: SftConfigInput) =>
  trained({ ...OVERFITTING, config: { ...OVERFITTING.config, epochs: 9, ...config } });
const losses = (steps: readonly Record<string, unknown>[]) =>
  steps.map((step) => step['val/loss'] as number | undefined);

test('a job ends after so many evaluations without improvement, and says why', async () => {
  const { first, steps, last, metrics } = await overfitting({ evalSteps: 2 });
  expect(first).toMatchObject({
    num_sequences: 9,
    config: {
      eval_steps: 2,
      metric_for_best_model: 'val/loss',
      load_best_model_at_end: true,
      early_stopping_patience: 2,
      early_stopping_threshold: 100,
    },
  });
  expect(steps.length).toBe(6);
  const evaluated = losses(steps);
  expect(evaluated.map((loss) => loss !== undefined)).toEqual([false, true, false, true, false, true]);
  const best = Math.min(...evaluated.filter((loss) => loss !== undefined));
  expect(last).toMatchObject({
    num_gradient_steps: 6,
    best_gradient_step: evaluated.indexOf(best) + 1,
    stopped_early: expect.stringMatching(
      /^val\/loss did not improve by more than 100 in 2 evaluations; the best was [\d.]+ at gradient step \d$/,
    ) as string,
  });
  expect(metrics).toMatchObject({ 'val/loss': best, 'train/loss': steps[evaluated.indexOf(best)]!['loss'] });
}, 30_000);

test('its checkpoint has the weights of the best evaluation: those of a job that ended there', async () => {
  const all = await overfitting({ earlyStoppingThreshold: 0, evalSteps: 1, earlyStoppingPatience: 9 });
  const best = all.last['best_gradient_step'] as number;
  expect(best).toBeLessThan(9); // training makes the held-out rows less likely
  const there = await overfitting({ evalSteps: 1, earlyStoppingPatience: 9, epochs: best });
  expect(there.adapter).toBe(all.adapter);
  expect(all.metrics['val/loss']).toBe(losses(all.steps)[best - 1]);
  const unkept = await overfitting({ evalSteps: 1, earlyStoppingPatience: 9, loadsBest: false });
  expect(unkept.adapter).not.toBe(all.adapter);
  expect(unkept.metrics['val/loss']).toBe(losses(unkept.steps)[8]);
}, 60_000);

test('a job without patience trains all steps, the last one evaluated', async () => {
  const { earlyStoppingPatience: _, earlyStoppingThreshold: __, ...config } = OVERFITTING.config;
  const { steps, last, metrics } = await trained({ ...OVERFITTING, config: { ...config, epochs: 9, evalSteps: 4 } });
  expect(losses(steps).flatMap((loss, i) => (loss === undefined ? [] : [i + 1]))).toEqual([4, 8, 9]);
  expect(last).not.toHaveProperty('stopped_early');
  expect(metrics['val/loss']).toBe(losses(steps)[8]);
}, 30_000);

test('a DPO job is compared by the metric of its config, and ends with its last weights where it is asked to', async () => {
  const { steps, last, metrics } = await trained(PREFERENCE_STOPPED);
  expect(steps.length).toBe(2);
  const margins = steps.map((step) => step['val/rewards/margins'] as number);
  expect(last).toMatchObject({
    best_gradient_step: margins.indexOf(Math.max(...margins)) + 1,
    stopped_early: expect.stringContaining('val/rewards/margins did not improve by more than 100') as string,
  });
  expect(metrics).toMatchObject({
    'val/rewards/margins': margins[1],
    'val/loss': steps[1]!['val/loss'],
    'train/loss': steps[1]!['loss'],
  });
}, 30_000);

test('evaluations of nothing are named in the warnings', async () => {
  const config: DpoConfigInput = { ...PREFERENCE.config, validationSplit: 0.1, evalSteps: 1 };
  const { first, steps } = await trained({ pairs: PREFERENCE.pairs, config });
  expect(first['warnings']).toEqual([
    'said',
    expect.stringContaining('config.eval_steps was not used, because no rows are held out'),
  ]);
  expect(losses(steps)).toEqual([undefined, undefined]);
});
