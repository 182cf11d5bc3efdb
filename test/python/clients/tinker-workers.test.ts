// The Tinker protocol with workers: the SDK's own check and recipes of its cookbook, unmodified, on a server without an engine.
// Once a Node worker does both, as an operator starts it; once PyTorch trains and the Node worker samples. Recipes run with PyTorch alone,
// and are short: tinker-recipes.test.ts checks what they teach. Needs the interpreters that WHETSTONE_TINKER_PYTHON and
// WHETSTONE_WORKER_PYTHON name.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '#client/client';
import { BOOTSTRAP_KEY as KEY } from '../../support/api/test-server.ts';
import { startNodeWorker } from '../workers/node-worker.ts';
import { startPythonWorker } from '../workers/python-worker.ts';
import type { WorkerProcess } from '../workers/worker-process.ts';
import { runPython } from '../../support/python-script.ts';
import { skipUnlessLong, skipWithoutPython } from '../../support/skipping.ts';
import { MODEL, openStarterServer, type StarterServer } from '../../support/clients/starter-server.ts';
import { openTinkerClient } from '../../support/clients/tinker-client.ts';
import { layOutRecipeFiles, LOSSES, RECIPE_MODEL, reinforce, teach, type RecipeRunner } from './tinker-recipes.ts';

const python = process.env['WHETSTONE_TINKER_PYTHON'];
const PYTHONS = skipWithoutPython('WHETSTONE_TINKER_PYTHON', 'WHETSTONE_WORKER_PYTHON');

const CHECK = fileURLToPath(new URL('../../../python/tinker/check_sdk.py', import.meta.url));
const STARTER = fileURLToPath(new URL('../../../models/starter', import.meta.url));
const PATIENT = { timeout: 600_000 };
const SUPERVISED = { batch_size: 4, steps: 6 };
const REINFORCED = { batch_size: 2, steps: 3 };

describe.each(['Node', 'PyTorch'])('Tinker where %s trains', PYTHONS, (trainer) => {
  let directory: string;
  let server: StarterServer;
  let runner: RecipeRunner;
  /** The last one is the trainer. */
  const workers: WorkerProcess[] = [];
  let startTrainer: () => Promise<WorkerProcess>;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'whetstone-tinker-workers-'));
    server = await openStarterServer(KEY, { workerModel: ['starter'], tinkerAlias: [`${RECIPE_MODEL}=${MODEL}`] });
    const url = server.baseUrl.replace(/\/v1$/, '');
    runner = { python: python!, directory, url: `${url}/tinker`, key: KEY };
    const client = createClient({ baseUrl: url, apiKey: KEY });
    const areThere = (count: number) => async () => (await client.listWorkers()).length >= count;
    if (trainer === 'Node') startTrainer = () => startNodeWorker({ url, isThere: areThere(1) }, 'sample,train');
    else {
      workers.push(await startNodeWorker({ url, isThere: areThere(1) }, 'sample'));
      const about = ['--model', STARTER, '--model-id', MODEL, '--roles', 'train', '--device', 'cpu'];
      const cache = ['--cache-dir', join(directory, 'worker-cache')];
      startTrainer = () => startPythonWorker({ url, isThere: areThere(2) }, [...about, ...cache]);
    }
    workers.push(await startTrainer());
    await layOutRecipeFiles(directory, {
      conversations: SUPERVISED.batch_size * SUPERVISED.steps,
      questions: REINFORCED.batch_size * REINFORCED.steps,
    });
  }, PATIENT.timeout);
  afterAll(async () => {
    for (const worker of workers) await worker.leave();
    await server?.close();
    await rm(directory, { recursive: true, force: true });
  });

  test(
    'the SDK trains with every loss, samples, saves and loads, and both agree on log-probabilities',
    { ...PATIENT, ...(trainer === 'Node' ? skipUnlessLong() : {}) }, // tinker-sdk.test.ts has our engine
    async () => {
      const env = { ...process.env, TINKER_TELEMETRY: '0' };
      const others = await server.createKey('others');
      const stdout = await runPython(python!, [CHECK, runner.url, KEY, MODEL, others], { env });
      expect(stdout.trim()).toMatch(/^ok /);
    },
  );

  if (trainer === 'PyTorch')
    test('sl_loop teaches, and rl_loop continues from its last state', PATIENT, async () => {
      const taught = await teach(runner, { batch_size: SUPERVISED.batch_size, save_every: 3 });
      const losses = taught.map((step) => step['train_mean_nll']!);
      expect(losses).toHaveLength(SUPERVISED.steps);
      expect(losses.at(-1), losses.join(' ')).toBeLessThan(losses[0]!);
      const about = { batch_size: REINFORCED.batch_size, learning_rate: 1e-3, save_every: 2 };
      const steps = await reinforce(runner, LOSSES[0], about);
      expect(steps).toHaveLength(REINFORCED.steps);
      for (const step of steps) expect(step['reward/total']).toBeTypeOf('number');
    });

  /** Two forward_backwards and a step, three times; returns losses and norms. */
  async function trainOn(between: (acknowledged: number) => Promise<void>): Promise<number[]> {
    const run = await (await openTinkerClient(runner.url.replace(/\/tinker$/, ''), KEY)).train(4, 7);
    const losses: number[] = [];
    for (let step = 0; step < 3; step++) {
      for (const first of [40, 50]) {
        const tokens = Array.from({ length: 12 }, (_, i) => first + step + i);
        const datum = { tokens, targets: tokens.map((token) => token + 1), weights: tokens.map((_, i) => i % 3) };
        losses.push(await run.forwardBackward([datum]));
        await between(losses.length);
      }
      losses.push(await run.optimStep({ learning_rate: 1e-2 }));
    }
    return losses;
  }

  test(
    'a trainer that is killed with gradients is followed by another, and every loss and norm is the same',
    PATIENT,
    async () => {
      const calm = await trainOn(async () => {});
      expect(new Set(calm).size).toBe(9);
      const disturbed = await trainOn(async (acknowledged) => {
        if (acknowledged !== 4) return; // after a step, and the first part of another
        process.kill(workers.pop()!.pid, 'SIGKILL');
        workers.push(await startTrainer());
      });
      expect(disturbed).toEqual(calm);
    },
  );
});
