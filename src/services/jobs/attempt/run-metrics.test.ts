import { beforeEach, expect, test } from 'vitest';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import type { Model } from '#domain/model';
import type { TrainingJob } from '#domain/training-job';
import { createRunMetrics } from './run-metrics.ts';
import { openStorageInMemory } from '../../../../test/support/storage-in-memory.ts';

const name = { entity: 'team', project: 'p', name: 'agent' };
const payer = { keyId: 'k', keyBytesMax: null, entityBytesMax: null };
const model = { ...name, id: createId() } as Model;

let storage: Awaited<ReturnType<typeof openStorageInMemory>>;
let nowMs: number;
beforeEach(async () => {
  storage = await openStorageInMemory();
  nowMs = 1_000;
});

const metricsOf = (jobId: string) =>
  createRunMetrics(
    { runs: storage.runs, clock: { now: () => nowMs }, log: silentLog },
    { id: jobId, keyId: 'k' } as TrainingJob,
    model,
    4,
  );

async function lines(): Promise<unknown[]> {
  const run = await storage.runs.find(name);
  return (await storage.runs.history(run!.id, 0, 100)).map(({ content }) => JSON.parse(content) as unknown);
}

test('a job without a run makes one; its steps are logged under sft/, its checkpoint under the names of a trainer', async () => {
  const metrics = metricsOf('job');
  await metrics.stepped(1, { loss: 2, grad_norm: 0.5, epoch: 0.5 });
  nowMs = 3_500;
  await metrics.ended(1, { loss: 2, 'val/loss': 3, epoch: 0.5, 'sft/loss': 2 });
  expect(await lines()).toEqual([
    {
      'sft/loss/train': 2,
      'sft/loss/grad_norm': 0.5,
      'sft/epoch': 0.5,
      'sft/gradient_step': 1,
      training_step: 4,
      _step: 0,
      _timestamp: 1,
      _runtime: 0,
    },
    {
      'loss/train': 2,
      'val/loss': 3,
      'data/step_num_gradient_steps': 1,
      training_step: 4,
      _step: 1,
      _timestamp: 3.5,
      _runtime: 2.5,
    },
  ]);
  const run = await storage.runs.find(name);
  expect(run!.state).toBe('finished');
  expect(JSON.parse(run!.summary)).toMatchObject({ 'sft/loss/train': 2, 'val/loss': 3, training_step: 4 });
});

test('repeated steps add no lines; steps of another job do', async () => {
  for (const jobId of ['first', 'first', 'second']) {
    for (const step of [1, 2]) await metricsOf(jobId).stepped(step, { loss: step });
  }
  expect(await lines()).toMatchObject([1, 2, 1, 2].map((loss) => ({ 'sft/loss/train': loss })));
});

test('a run that a script logs to continues after its last step, and keeps its summary and state', async () => {
  const script = { state: 'running', summary: '{"best": NaN}' } as const;
  const made = await storage.runs.upsert({ id: createId(), ...name }, script, payer, nowMs);
  if (made.outcome === 'over_limit') throw new Error('no limits are set here');
  await storage.runs.append(made.run.id, { offset: 0, lines: ['{"reward": 1, "_step": 41}'] }, {}, payer, nowMs);
  await metricsOf('job').stepped(1, { loss: 1 });
  expect((await lines())[1]).toMatchObject({ 'sft/loss/train': 1, _step: 42 });
  const run = await storage.runs.find(name);
  expect(run!.state).toBe('running');
  expect(JSON.parse(run!.summary)).toMatchObject({ best: 'NaN', 'sft/loss/train': 1 });
});

test('a storage that fails does not fail the job', async () => {
  const runs = { ...storage.runs, find: () => Promise.reject(new Error('no disk')) };
  const deps = { runs, clock: { now: () => nowMs }, log: silentLog };
  await createRunMetrics(deps, { id: 'job' } as TrainingJob, model, 1).stepped(1, { loss: 1 });
});
