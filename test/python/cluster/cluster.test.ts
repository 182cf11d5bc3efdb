// A cluster as an operator runs it: Ray on two nodes, a server from dist that computes nothing itself, samplers and a PyTorch
// trainer placed by `whetstone-worker ray up`, and clients that do not notice. The samplers are the embedded engine's, which
// replays an answer exactly; vllm-cluster.test.ts has vLLM's. Needs the interpreter that WHETSTONE_RAY_PYTHON names.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createClient, type Client } from '#client/client';
import { reinforce } from '../../../examples/demo/rl-loop.ts';
import { yesNoMaybe } from '../../../examples/demo/tasks.ts';
import { skipWithoutPython } from '../../support/skipping.ts';
import { collect } from './collect.ts';
import { CLI } from '../../support/cli-command.ts';
import { createDistServer, type DistServer } from './dist-server.ts';
import { learnWhileTheyDie } from './learn-while-they-die.ts';
import { startRayCluster, STATUS_MS, type ClusterWorker, type RayCluster } from './ray-cluster.ts';
import { streamUntil } from './streams.ts';

const BASE = 'whetstone/starter';
const STARTER = fileURLToPath(new URL('../../../models/starter', import.meta.url));
/** For what takes seconds on an idle machine. */
const SOON = { timeout: 180_000, interval: STATUS_MS };
const UP = [
  ...['--model', STARTER, '--model-id', BASE, '--gpus-per-sampler', '0', '--gpus-per-trainer', '0'],
  ...['--sampler-command', `${process.execPath} ${CLI} workers run --model starter --roles sample --name {name}`],
];

describe('a cluster', skipWithoutPython('WHETSTONE_RAY_PYTHON'), () => {
  let data: string;
  let server: DistServer;
  let cluster: RayCluster;
  let client: Client;
  let openai: OpenAI;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'whetstone-cluster-'));
    server = await createDistServer(data, 'starter');
    await server.start();
    client = createClient({ baseUrl: server.url, apiKey: server.key });
    openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: 50 });
    const env = { WHETSTONE_URL: server.url, WHETSTONE_API_KEY: server.key, NODE_OPTIONS: '' };
    cluster = await startRayCluster({ ...env, XDG_CACHE_HOME: data });
  }, 300_000);
  afterAll(async () => {
    await cluster?.stop();
    await server?.kill();
    await rm(data, { recursive: true, force: true });
  }, 120_000);

  const workers = async (role: ClusterWorker['role']) =>
    (await cluster.status()).workers.filter((worker) => worker.role === role);
  const settled = () => vi.waitFor(async () => expect(await cluster.status()).toMatchObject({ settled: true }), SOON);

  test('up starts the requested workers, and a repeat changes nothing', { timeout: 600_000 }, async () => {
    const table = await cluster.command('up', ...UP, '--samplers', '2', '--trainers', '1');
    expect(table).toMatch(/whetstone-sampler-1 +connected +running/);
    expect(table).toMatch(/whetstone-trainer-0 +connected +running/);
    const before = (await cluster.status()).workers;
    await cluster.command('up', ...UP, '--samplers', '2', '--trainers', '1');
    expect((await cluster.status()).workers.map(({ pid }) => pid)).toEqual(before.map(({ pid }) => pid));
  });

  // Our engines promise the same answer to the same seed. `npm run test:cluster` has all kills, with vLLM.
  test(
    'a model learns while workers and the server are killed, and every stream equals the one of its seed',
    { timeout: 900_000 },
    async () => {
      const answering = new AbortController();
      const answers = streamUntil(openai, BASE, answering.signal);
      await learnWhileTheyDie({ server, cluster, client, openai, base: BASE, name: 'learner' }, [
        { moment: 'rollouts', victim: 'sampler' },
        { moment: 'rollouts', victim: 'server' },
        { moment: 'job', victim: 'trainer' },
        { moment: 'job', victim: 'node' },
        { moment: 'job', victim: 'server' },
      ]);
      answering.abort();
      expect([...(await answers).texts]).toHaveLength(1);
      await settled();
    },
  );

  test('there are as many samplers as the queue needs, and fewer afterwards', { timeout: 600_000 }, async () => {
    const bounds = ['--samplers', '1', '--min-samplers', '1', '--max-samplers', '2'];
    await cluster.command('up', ...UP, ...bounds, '--scale-up-seconds', '2', '--scale-down-seconds', '6');
    const one = () => vi.waitFor(async () => expect(await workers('sampler')).toHaveLength(1), SOON);
    await one(); // the second worker was there, and is not needed
    const crowd = new AbortController();
    const request = { model: BASE, messages: [{ role: 'user' as const, content: 'Hello!' }], n: 128 };
    const asked = [1, 2].map((seed) =>
      openai.chat.completions
        .create(
          { ...request, seed, max_tokens: 400, ...{ ignore_eos: true } },
          { signal: crowd.signal, timeout: 600_000 },
        )
        .catch((error: unknown) => error),
    );
    const count = async () => (await workers('sampler')).filter((worker) => worker.on_server === 'connected').length;
    await vi.waitFor(async () => expect(await count()).toBe(2), SOON);
    crowd.abort();
    await Promise.all(asked);
    await one();
    await settled();
  });

  test('a trainer of two GPUs is two processes that begin together', { timeout: 600_000 }, async () => {
    await cluster.command('up', ...UP, '--gpus-per-trainer', '2', '--trainer-args', '--device cpu', '--samplers', '1');
    const [trainer] = await workers('trainer');
    expect(trainer!.gpus).toHaveLength(2);
    const model = await client.registerModel({ project: 'cluster', name: 'split', base_model: BASE });
    process.kill(trainer!.pid!, 'SIGKILL'); // both processes end with their actor
    const [report] = await collect(reinforce(openai, client, model, { ...yesNoMaybe, steps: 1 }));
    expect(report!.gradientSteps).toBeGreaterThan(0);
    await settled();
  });

  test('down lets all workers leave, and no process is left', { timeout: 300_000 }, async () => {
    await cluster.command('down');
    await vi.waitFor(async () => expect(await client.listWorkers()).toEqual([]), SOON);
    await expect(cluster.status()).rejects.toThrow('there are no workers named whetstone');
    expect(await server.stop()).toBe(0);
  });
});
