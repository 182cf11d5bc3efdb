// DPO on the PyTorch trainer, as the worker process that an operator starts: the batches of whole jobs against TRL's DPOTrainer
// and a plain formula in float64, as test/engine/golden/dpo-job.test.ts does for the embedded engine; and a job of a whole server, from
// its file to its checkpoint. Needs the interpreter that WHETSTONE_WORKER_PYTHON names (scripts/python-env.sh worker).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { pushArtifact } from '#client/artifact-files';
import { createClient } from '#client/client';
import { scoreReference, trainDpo } from '#training/dpo-job';
import { BOOTSTRAP_KEY as KEY } from '../../support/api/test-server.ts';
import { MODEL as STARTER_ID, openStarterServer } from '../../support/clients/starter-server.ts';
import { dpoJobs, expectPairs, planDpoCase } from '../../support/golden/dpo-rows.ts';
import { SFT_ADAPTER, STARTER } from '../../support/golden/sft-rows.ts';
import { aSession } from '../../support/learning/a-session.ts';
import { skipWithoutPython } from '../../support/skipping.ts';
import { startPythonWorker } from './python-worker.ts';
import type { WorkerProcess } from './worker-process.ts';
import { MODEL, openWorkerLab, type WorkerLab } from '../../support/workers/worker-lab.ts';

/** A process that imports PyTorch on a busy machine may take a minute until its first output. */
vi.setConfig({ hookTimeout: 300_000, testTimeout: 300_000 });

describe('DPO on PyTorch', skipWithoutPython('WHETSTONE_WORKER_PYTHON'), () => {
  let directory: string;
  beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), 'whetstone-torch-dpo-'))));
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const argumentsFor = (modelId: string) => [
    ...['--model', STARTER, '--model-id', modelId, '--roles', 'train', '--device', 'cpu'],
    ...['--cache-dir', join(directory, 'worker-cache')],
  ];

  describe('batch by batch', () => {
    let lab: WorkerLab;
    let worker: WorkerProcess;
    beforeAll(async () => {
      lab = await openWorkerLab(STARTER);
      worker = await startPythonWorker(lab, argumentsFor(MODEL));
    });
    afterAll(async () => {
      await worker?.leave();
      await lab?.close();
    });

    const cases = dpoJobs.jobs.map((job) => [Object.values(job.config).join(' '), job] as const);
    test.each(cases)('%s: loss, rewards and norms over AdamW steps', async (_, { config, steps }) => {
      const plan = await planDpoCase(config);
      const options = aSession({ from: SFT_ADAPTER, lora: { rank: 2, alpha: 4, seed: 0 } });
      const session = await lab.training.open(options, AbortSignal.timeout(60_000));
      const reference = (await scoreReference(session, plan, async () => true))!;
      let at = 0;
      for await (const step of trainDpo(session, plan, reference, 0)) {
        expectPairs(step, steps[at]!);
        expect(Math.abs(step['grad_norm']! / steps[at]!.gradNorm - 1), `norm ${at}`).toBeLessThan(dpoJobs.tolerance);
        at++;
      }
      await session.close();
      expect(at).toBe(steps.length);
    });
  });

  test('a job of a server without an engine for training ends with a checkpoint that prefers the chosen answers', async () => {
    const server = await openStarterServer(KEY, { workerModel: ['starter'] });
    const url = server.baseUrl.replace(/\/v1$/, '');
    const client = createClient({ baseUrl: url, apiKey: KEY });
    const isThere = async () => (await client.listWorkers()).length > 0;
    const worker = await startPythonWorker({ url, isThere }, argumentsFor(STARTER_ID));
    try {
      const lines = join(directory, 'pairs.jsonl');
      await writeFile(lines, dpoJobs.rows.map((row) => JSON.stringify(row)).join('\n'));
      const { uri } = await pushArtifact(client, 'default/dpo/pairs', lines);
      const model = await client.registerModel({ project: 'dpo', name: 'm', base_model: STARTER_ID });
      const config = { batch_size: dpoJobs.rows.length, learning_rate: 1e-3, epochs: 4, packing: true };
      const job = await client.submitDpoJob({ model_id: model.id, training_data_url: uri, config });
      const steps: Record<string, unknown>[] = [];
      const { status } = await client.follow(job.id, {
        deadlineMs: 280_000,
        onEvent: ({ type, data }) => void (type === 'gradient_step' && steps.push(data)),
      });
      expect(status).toBe('succeeded');
      expect(steps).toHaveLength(4);
      expect(steps[0]!['loss']).toBeCloseTo(Math.LN2, 6); // the policy still equals its reference
      expect(steps[3]!['loss']).toBeLessThan(steps[0]!['loss'] as number);
      expect(steps[3]!['rewards/margins']).toBeGreaterThan(0);
    } finally {
      await worker.leave();
      await server.close();
    }
  });
});
