// What a DPO job reports about its pairs, from its first event to its checkpoint. job-runner.test.ts tests that it survives
// kills.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PREFERENCE } from '../../support/crash/job-bodies.ts';
import { labRunner, openJobLab, OWNER, submit, type JobLab } from '../../support/crash/job-lab.ts';

let lab: JobLab;
beforeAll(async () => {
  lab = await openJobLab();
});
afterAll(() => lab.close());

test('a job reports how its pairs are preferred, including held-out ones', async () => {
  const world = await lab.createWorld();
  const { id } = await submit(world, { ...PREFERENCE, config: { ...PREFERENCE.config, epochs: 2 } });
  const runner = labRunner(lab, world, 0);
  await runner.start();
  const events: Record<string, unknown>[] = [];
  for await (const { data } of world.jobs.followEvents(OWNER, id, null, AbortSignal.timeout(60_000))) events.push(data);
  await runner.stop();

  expect(events[0]).toMatchObject({
    num_sequences: 4,
    config: { beta: 0.5, loss_type: 'sigmoid', label_smoothing: 0, batch_size: 2, epochs: 2, validation_split: 0.25 },
    warnings: ['said'],
  });
  const steps = events.slice(1, -1);
  expect(steps[0]).toMatchObject({ num_pairs: 2, 'rewards/margins': 0, 'rewards/accuracies': 0 });
  expect(steps[0]!['loss']).toBeCloseTo(Math.LN2, 12);
  expect(steps[3]).toMatchObject({ epoch: 2, learning_rate: 2e-2, 'rewards/accuracies': 1 });
  expect(steps[3]!['loss']).toBeLessThan(0.5);
  expect(await world.jobs.get(OWNER, id)).toMatchObject({ type: 'dpo', status: 'succeeded', step: 1 });
  expect((await world.storage.checkpoints.findLatest(world.modelId))!.metrics).toMatchObject({
    'train/loss': steps[3]!['loss'],
    'train/rewards/accuracies': 1,
    'val/loss': expect.any(Number) as number,
    'val/rewards/margins': expect.any(Number) as number,
  });
});
