// One command with both roles, as an operator with one machine starts it: vLLM samples, PyTorch trains, each comes back after a
// kill, and the command ends with everything that it started. Needs the interpreter that WHETSTONE_VLLM_PYTHON names.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createClient, type Client } from '#client/client';
import { BOOTSTRAP_KEY as KEY } from '../../support/api/test-server.ts';
import { MODEL, openStarterServer, type StarterServer } from '../../support/clients/starter-server.ts';
import { skipUnlessLong, skipWithoutPython } from '../../support/skipping.ts';
import { descendantsOf, listProcesses } from './process-table.ts';
import { startPythonWorker } from './python-worker.ts';
import type { WorkerProcess } from './worker-process.ts';
import { ON_A_PROCESSOR, VLLM_PYTHON } from './vllm-worker.ts';

const STARTER = fileURLToPath(new URL('../../../models/starter', import.meta.url));
const SOON = { timeout: 600_000, interval: 200 };
const MESSAGES = [{ role: 'user' as const, content: 'What is 2 + 3?' }];

/** vLLM is ready after a minute, and after several on a busy machine. */
vi.setConfig({ hookTimeout: 900_000, testTimeout: 900_000 });

const OPTIONS = { ...skipWithoutPython('WHETSTONE_VLLM_PYTHON'), ...skipUnlessLong() };

describe('one command that samples and trains', OPTIONS, () => {
  let data: string;
  let server: StarterServer;
  let client: Client;
  let openai: OpenAI;
  let worker: WorkerProcess | undefined;

  const connected = async () =>
    (await client.listWorkers()).filter(({ state }) => state === 'connected').map(({ name, id }) => ({ name, id }));
  const bothAreThere = async () => (await connected()).length === 2;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'whetstone-both-roles-'));
    server = await openStarterServer(KEY, { workerModel: ['starter'] });
    const url = server.baseUrl.replace(/\/v1$/, '');
    client = createClient({ baseUrl: url, apiKey: KEY });
    openai = new OpenAI({ baseURL: server.baseUrl, apiKey: KEY, maxRetries: 0 });
    worker = await startPythonWorker(
      { url, isThere: bothAreThere },
      [
        ...['--model', STARTER, '--model-id', MODEL, '--roles', 'sample,train', '--name', 'one'],
        ...['--dtype', 'float32', '--sequences-max', '16', '--row-length-max', '1024'],
        ...['--cache-dir', join(data, 'worker-cache'), '--', '--enforce-eager'],
      ],
      { python: VLLM_PYTHON!, more: ON_A_PROCESSOR },
    );
  });
  afterAll(async () => {
    await worker?.leave();
    await server?.close();
    await rm(data, { recursive: true, force: true });
  });

  const answer = async (model: string, n = 1) =>
    (
      await openai.chat.completions.create({
        ...{ model, messages: MESSAGES, n, temperature: 1, seed: 1, max_tokens: 12, logprobs: true },
      })
    ).choices;

  const train = async (model: { readonly id: string }) => {
    const choices = await answer('default/both/agent', 4);
    const trajectories = choices.map((choice, reward) => ({ messages_and_choices: [...MESSAGES, choice], reward }));
    const job = await client.submitTrainingJob({ model_id: model.id, trajectory_groups: [{ trajectories }] });
    return client.follow(job.id, { deadlineMs: 600_000 });
  };

  /** The worker itself, not its supervising parent process. */
  const killWorkerOf = (role: string) => {
    const runs = descendantsOf(worker!.pid).filter(({ command }) => command.includes(`run --roles=${role}`));
    const found = runs.filter(({ command }) => !command.includes('whetstone_worker.leash'));
    expect(found, `one process that is the worker of ${role}`).toHaveLength(1);
    process.kill(found[0]!.pid, 'SIGKILL');
  };

  test('it runs two workers, which answer, train and come back', async () => {
    const first = await connected();
    expect(first.map(({ name }) => name).sort()).toEqual(['one-sample', 'one-train']);
    expect((await answer(MODEL))[0]!.message.content).toBeTruthy();
    const model = await client.registerModel({ project: 'both', name: 'agent', base_model: MODEL });
    expect(await train(model)).toMatchObject({ status: 'succeeded', step: 1 });

    for (const role of ['train', 'sample']) {
      const before = (await connected()).find(({ name }) => name === `one-${role}`)!;
      killWorkerOf(role);
      await vi.waitFor(async () => {
        const now = await connected();
        expect(now).toHaveLength(2);
        expect(now.map(({ id }) => id)).not.toContain(before.id);
      }, SOON);
    }
    expect(await train(model)).toMatchObject({ status: 'succeeded', step: 2 });
    expect((await answer('default/both/agent'))[0]!.message.content).toBeTruthy();
  });

  test('SIGTERM ends it with 0, and no process is left', async () => {
    const family = descendantsOf(worker!.pid);
    expect(family.map(({ command }) => command).join('\n')).toMatch(/vllm.*serve/); // more processes than the two workers
    await worker!.leave(); // rejects if the exit code is not 0
    worker = undefined;
    const left = listProcesses().filter((each) => family.some(({ pid }) => pid === each.pid));
    expect(left).toEqual([]);
    await vi.waitFor(async () => expect(await connected()).toEqual([]), SOON);
  });
});
