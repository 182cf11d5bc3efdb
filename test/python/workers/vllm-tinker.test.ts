// The Tinker SDK with vLLM as sampler and PyTorch as trainer, both as the processes that an operator starts: the sampling client
// answers with what the training client has learnt, token for token, also from another process. Needs the interpreters that
// WHETSTONE_VLLM_PYTHON, WHETSTONE_WORKER_PYTHON and WHETSTONE_TINKER_PYTHON name (scripts/python-env.sh).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createClient } from '#client/client';
import { BOOTSTRAP_KEY } from '../../support/api/test-server.ts';
import { MODEL, openStarterServer } from '../../support/clients/starter-server.ts';
import { runPython } from '../../support/python-script.ts';
import { skipUnlessLong, skipWithoutPython } from '../../support/skipping.ts';
import { startPythonWorker, WORKER_PYTHON } from './python-worker.ts';
import type { WorkerProcess } from './worker-process.ts';
import { ON_A_PROCESSOR, VLLM_PYTHON } from './vllm-worker.ts';

const TINKER_PYTHON = process.env['WHETSTONE_TINKER_PYTHON'];

const OPTIONS = {
  ...skipWithoutPython('WHETSTONE_VLLM_PYTHON', 'WHETSTONE_WORKER_PYTHON', 'WHETSTONE_TINKER_PYTHON'),
  ...skipUnlessLong(), // vllm-chat.test.ts has vLLM, and tinker-workers.test.ts the protocol with PyTorch
};
const CHECK = fileURLToPath(new URL('../../../python/tinker/check_sdk.py', import.meta.url));
const STARTER = fileURLToPath(new URL('../../../models/starter', import.meta.url));
/** vLLM is ready after a minute, and after several on a busy machine. */
const PATIENT = { timeout: 900_000 };

describe('Tinker where vLLM samples and PyTorch trains', OPTIONS, () => {
  test('the SDK samples from what it trained, and both engines agree on log-probabilities', PATIENT, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'whetstone-vllm-tinker-'));
    const server = await openStarterServer(BOOTSTRAP_KEY, { workerModel: ['starter'] });
    const url = server.baseUrl.replace(/\/v1$/, '');
    const client = createClient({ baseUrl: url, apiKey: BOOTSTRAP_KEY });
    const start = (
      role: string,
      count: number,
      more: readonly string[],
      how: Parameters<typeof startPythonWorker>[2],
    ) =>
      startPythonWorker(
        { url, isThere: async () => (await client.listWorkers()).length >= count },
        ['--model', STARTER, '--model-id', MODEL, '--roles', role, '--cache-dir', join(directory, role), ...more],
        how,
      );
    const workers: WorkerProcess[] = [];
    try {
      workers.push(await start('train', 1, ['--device', 'cpu'], { python: WORKER_PYTHON! }));
      const ofVllm = ['--dtype', 'float32', '--sequences-max', '16', '--', '--enforce-eager'];
      workers.push(await start('sample', 2, ofVllm, { python: VLLM_PYTHON!, more: ON_A_PROCESSOR }));
      const others = await server.createKey('others');
      const asked = [CHECK, `${url}/tinker`, BOOTSTRAP_KEY, MODEL, others, 'samples', 'copies', 'saves'];
      const stdout = await runPython(TINKER_PYTHON!, asked, { env: { ...process.env, TINKER_TELEMETRY: '0' } });
      expect(stdout.trim()).toMatch(/^ok /);
    } finally {
      for (const worker of workers) await worker.leave();
      await server.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});
