// A trainer of two processes that share the model, as `whetstone-worker ray up --gpus-per-trainer 2` starts them: together they
// keep the contract of one training engine, and each computes its own rows of a job. Needs the interpreter that
// WHETSTONE_WORKER_PYTHON names (scripts/python-env.sh worker).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { pushArtifact } from '#client/artifact-files';
import { createClient } from '#client/client';
import type { TrainingEngine } from '#engine/training-engine';
import { BOOTSTRAP_KEY } from '../../support/api/test-server.ts';
import { adapterDistance, adapterOfModel } from '../../support/clients/run-adapter.ts';
import { MODEL as STARTER_ID, openStarterServer } from '../../support/clients/starter-server.ts';
import { trainingEngineContract } from '../../support/contract/training-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { sftJob, STARTER } from '../../support/golden/sft-rows.ts';
import { skipUnlessLong, skipWithoutPython } from '../../support/skipping.ts';
import { closingWith } from '../../support/workers/closing-with.ts';
import { startPythonWorker, WORKER_PYTHON } from './python-worker.ts';
import { TORCH_CAPABILITIES, trainerArguments } from './torch-trainer.ts';
import { openWorkerLab } from '../../support/workers/worker-lab.ts';

const PACKAGE = fileURLToPath(new URL('../../../python/whetstone-worker/src', import.meta.url));
const EPOCHS = 8;
/** Gradients of a batch are summed in a different order than in one process. */
const ADAPTER_ERROR_MAX = 1e-4;
/** Two processes that import PyTorch on a busy machine may take a minute until their first output. */
vi.setConfig({ hookTimeout: 300_000, testTimeout: 600_000 });

const OPTIONS = { ...skipWithoutPython('WHETSTONE_WORKER_PYTHON'), ...skipUnlessLong() };

// cluster.test.ts starts two ranks, and torch-over-websocket.test.ts has the contract on one.
describe('PyTorch on two ranks', OPTIONS, () => {
  trainingEngineContract('a trainer of two ranks', {
    capabilities: { ...TORCH_CAPABILITIES, keepsGradients: false }, // of a rank's own rows alone
    async open({ modelDirectory, rowLengthMax }): Promise<TrainingEngine> {
      const lab = await openWorkerLab(modelDirectory);
      const ranks = await startRanks(lab.url, trainerArguments(modelDirectory, rowLengthMax));
      await vi.waitFor(() => expect(lab.workers.list()).toHaveLength(1), { timeout: 240_000 });
      return closingWith(lab.training, async () => {
        expect(await leave(ranks)).toEqual([0, 0]);
        await lab.close();
      });
    },
  });

  test('a job ends with the same adapter as on one process, although a rank was killed, and each rank computed its own rows', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'whetstone-ranks-'));
    const server = await openStarterServer(BOOTSTRAP_KEY, { workerModel: ['starter'] });
    const url = server.baseUrl.replace(/\/v1$/, '');
    const client = createClient({ baseUrl: url, apiKey: BOOTSTRAP_KEY });
    const args = [
      ...['--model', STARTER, '--model-id', STARTER_ID, '--roles', 'train', '--device', 'cpu'],
      ...['--cache-dir', join(directory, 'worker-cache')],
    ];
    const lines = join(directory, 'rows.jsonl');
    await writeFile(lines, sftJob.rows.map((row) => JSON.stringify(row)).join('\n'));
    const { uri } = await pushArtifact(client, 'default/ranks/rows', lines);

    async function train(name: string, onStep: (step: number) => void = () => {}): Promise<Buffer> {
      const lora = { r: 4, lora_alpha: 8, seed: 3 };
      const model = await client.registerModel({ project: 'ranks', name, base_model: STARTER_ID, lora });
      const config = { batch_size: sftJob.batchSize, learning_rate: 1e-3, epochs: EPOCHS, packing: false };
      const job = await client.submitSftJob({ model_id: model.id, training_data_url: uri, config });
      let steps = 0;
      const { status } = await client.follow(job.id, {
        deadlineMs: 400_000,
        onEvent: ({ type }) => void (type === 'gradient_step' && onStep(++steps)),
      });
      expect(status).toBe('succeeded');
      expect(steps).toBe(EPOCHS * Math.ceil(sftJob.rows.length / sftJob.batchSize));
      return adapterOfModel(client, { project: 'ranks', name }, 1);
    }

    const isThere = async () => (await client.listWorkers()).length > 0;
    const alone = await startPythonWorker({ url, isThere }, args);
    const expected = await train('one');
    await alone.leave();

    const ranks = await startRanks(url, args);
    let next: Promise<readonly Rank[]> | undefined;
    const found = await train('two', (step) => {
      if (step !== 2) return;
      ranks[1]!.process.kill('SIGKILL');
      // The process that started the ranks restarts them once all have ended: none continues without the others.
      next = Promise.all(ranks.map(({ ended }) => ended)).then(() => startRanks(url, args));
    });
    expect(await ranks[0]!.ended).not.toBe(0);
    const again = await next!;
    expect(await leave(again)).toEqual([0, 0]);
    // The second of each batch of three rows; the first and the third, which is alone in its call, belong to the other rank.
    const [first, second] = again.map((rank) => computedRows(rank));
    expect(second).toBeGreaterThan(0);
    expect(first).toBeGreaterThan(second!);
    expect(adapterDistance(expected, found)).toBeLessThan(ADAPTER_ERROR_MAX);
    await server.close();
    await rm(directory, { recursive: true });
  });
});

interface Rank {
  readonly process: ReturnType<typeof spawn>;
  /** Resolves with its exit code. */
  readonly ended: Promise<number | null>;
  readonly log: () => string;
}

async function startRanks(url: string, args: readonly string[]): Promise<readonly Rank[]> {
  const port = String(await freePort());
  return ['0', '1'].map((rank) => startRank(url, rank, port, args));
}

function startRank(url: string, rank: string, port: string, args: readonly string[]): Rank {
  const env = {
    ...process.env,
    ...{ PYTHONPATH: PACKAGE, WHETSTONE_URL: url, WHETSTONE_API_KEY: BOOTSTRAP_KEY },
    ...{ RANK: rank, WORLD_SIZE: '2', MASTER_ADDR: '127.0.0.1', MASTER_PORT: port },
  };
  const child = spawn(WORKER_PYTHON!, ['-m', 'whetstone_worker', 'run', ...args], {
    env,
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  process.once('exit', () => child.kill('SIGKILL')); // stops it if the test is aborted
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
    process.stderr.write(text);
  });
  return { process: child, ended: once(child, 'close').then(([code]) => code as number | null), log: () => log };
}

/** The first rank is asked to stop; the others end with it. */
function leave(ranks: readonly Rank[]): Promise<(number | null)[]> {
  ranks[0]!.process.kill('SIGTERM');
  return Promise.all(ranks.map(({ ended }) => ended));
}

const computedRows = ({ log }: Rank): number =>
  [...log().matchAll(/Rank \d computed (\d+) rows/g)].reduce((sum, [, rows]) => sum + Number(rows), 0);
