// A trainer of two processes that share the model, as `whetstone-worker ray up --gpus-per-trainer 2` starts them: together they keep the
// contract of one training engine. Needs the interpreter that WHETSTONE_WORKER_PYTHON names (scripts/python-env.sh worker).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, vi } from 'vitest';
import type { TrainingEngine } from '#engine/training-engine';
import { BOOTSTRAP_KEY } from '../api/test-server.ts';
import { trainingEngineContract } from '../contract/training-engine.ts';
import { freePort } from '../free-port.ts';
import { closingWith } from './closing-with.ts';
import { WORKER_PYTHON } from './python-worker.ts';
import { TORCH_CAPABILITIES, trainerArguments } from './torch-trainer.ts';
import { openWorkerLab } from './worker-lab.ts';

if (!WORKER_PYTHON)
  console.log('Ranks skipped: WHETSTONE_WORKER_PYTHON names no interpreter. Try $(scripts/python-env.sh worker).');

const PACKAGE = fileURLToPath(new URL('../../python/whetstone-worker/src', import.meta.url));
/** Two processes that import PyTorch, on a machine that does other things too, may take a minute to say their first word. */
vi.setConfig({ hookTimeout: 300_000, testTimeout: 300_000 });

describe.skipIf(!WORKER_PYTHON)('PyTorch on two ranks', () => {
  trainingEngineContract('a trainer of two ranks', {
    capabilities: TORCH_CAPABILITIES,
    async open({ modelDirectory, rowLengthMax }): Promise<TrainingEngine> {
      const lab = await openWorkerLab(modelDirectory);
      const port = String(await freePort());
      const args = trainerArguments(modelDirectory, rowLengthMax);
      const ranks = ['0', '1'].map((rank) => startRank(lab.url, rank, port, args));
      await vi.waitFor(() => expect(lab.workers.list()).toHaveLength(1), { timeout: 240_000 });
      return closingWith(lab.training, async () => {
        ranks[0]!.process.kill('SIGTERM');
        // The second ends with the first, and well.
        expect(await Promise.all(ranks.map(({ code }) => code))).toEqual([0, 0]);
        await lab.close();
      });
    },
  });
});

function startRank(url: string, rank: string, port: string, args: readonly string[]) {
  const env = {
    ...process.env,
    ...{ PYTHONPATH: PACKAGE, PYTHONDONTWRITEBYTECODE: '1', WHETSTONE_URL: url, WHETSTONE_API_KEY: BOOTSTRAP_KEY },
    ...{ RANK: rank, WORLD_SIZE: '2', MASTER_ADDR: '127.0.0.1', MASTER_PORT: port },
  };
  const child = spawn(WORKER_PYTHON!, ['-m', 'whetstone_worker', 'run', ...args], { env, stdio: 'inherit' });
  process.once('exit', () => child.kill('SIGKILL')); // nobody would stop it where a test is broken off
  return { process: child, code: once(child, 'close').then(([code]) => code as number | null) };
}
