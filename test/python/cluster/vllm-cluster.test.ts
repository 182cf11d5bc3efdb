// The demo on a cluster as with GPUs: vLLM samples, PyTorch trains, Ray places both on two nodes, and the server computes
// nothing. Everything is killed once during rollouts and once during a job. Each kill costs a start of vLLM, a quarter of an hour in
// all: cluster.test.ts, whose samplers start faster, is what `npm run test:all` has. Needs the
// interpreters that WHETSTONE_RAY_PYTHON and WHETSTONE_VLLM_PYTHON name: vLLM's CPU build and Ray need separate environments.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createClient, type Client } from '#client/client';
import { ON_A_PROCESSOR, VLLM_PYTHON } from '../workers/vllm-worker.ts';
import { skipUnlessLong, skipWithoutPython } from '../../support/skipping.ts';
import { collect } from './collect.ts';
import { createDistServer, type DistServer } from './dist-server.ts';
import { learnWhileTheyDie, type Death } from './learn-while-they-die.ts';
import { startRayCluster, STATUS_MS, type RayCluster } from './ray-cluster.ts';
import { streamUntil } from './streams.ts';

const BASE = 'whetstone/starter';
const STARTER = fileURLToPath(new URL('../../../models/starter', import.meta.url));
const ART = fileURLToPath(new URL('../../../python/clients/check_art.py', import.meta.url));
const SAMPLER = [
  ...[VLLM_PYTHON, '-m whetstone_worker run --roles sample --name {name} --model {model}', `--model-id ${BASE}`],
  '--dtype float32 --sequences-max 64 -- --enforce-eager',
].join(' ');
const UP = [
  ...['--model', STARTER, '--model-id', BASE, '--gpus-per-sampler', '0', '--gpus-per-trainer', '0'],
  ...['--sampler-command', SAMPLER, '--wait', '600'],
];
const DEATHS = (['rollouts', 'job'] as const).flatMap((moment) =>
  (['sampler', 'trainer', 'node', 'server'] as const).map((victim): Death => ({ moment, victim })),
);

const OPTIONS = { ...skipWithoutPython('WHETSTONE_RAY_PYTHON', 'WHETSTONE_VLLM_PYTHON'), ...skipUnlessLong() };

describe('a cluster whose samplers are vLLM', OPTIONS, () => {
  let data: string;
  let server: DistServer;
  let cluster: RayCluster;
  let client: Client;
  let openai: OpenAI;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'whetstone-vllm-cluster-'));
    server = await createDistServer(data, 'starter');
    await server.start();
    client = createClient({ baseUrl: server.url, apiKey: server.key });
    openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: 100 });
    const env = { WHETSTONE_URL: server.url, WHETSTONE_API_KEY: server.key, NODE_OPTIONS: '', ...ON_A_PROCESSOR };
    cluster = await startRayCluster({ ...env, XDG_CACHE_HOME: data });
    const table = await cluster.command('up', ...UP, '--samplers', '2', '--trainers', '1');
    expect(table).toMatch(/whetstone-sampler-1 +connected +running/);
  }, 900_000);
  afterAll(async () => {
    await cluster?.command('down').catch(() => {});
    await cluster?.stop();
    await server?.kill();
    await rm(data, { recursive: true, force: true });
  }, 180_000);

  test('a model learns while samplers, a node and the server are killed', { timeout: 1_800_000 }, async () => {
    const answering = new AbortController();
    const answers = streamUntil(openai, BASE, answering.signal);
    const learner = await learnWhileTheyDie({ server, cluster, client, openai, base: BASE, name: 'learner' }, DEATHS);
    answering.abort();
    const { texts, faults } = await answers;
    expect(texts.size).toBeGreaterThan(0);
    expect(['connection', 'engine_unavailable']).toEqual(expect.arrayContaining([...faults])); // vLLM does not replay answers exactly

    // The engine that samples is not the one that trains: each job measures their mismatch.
    const [job] = await collect(client.listTrainingJobs({ model_id: learner.id }));
    const [step] = (await collect(client.listEvents(job!.id))).filter(({ type }) => type === 'gradient_step');
    expect(step!.data).toMatchObject({
      sampler_log_ratio_mean: expect.closeTo(0, 2) as number,
      sampler_log_ratio_p99: expect.closeTo(0, 2) as number,
    });

    const settled = async () => expect(await cluster.status()).toMatchObject({ settled: true });
    await vi.waitFor(settled, { timeout: 600_000, interval: STATUS_MS });
  });

  const clients = process.env['WHETSTONE_CLIENTS_PYTHON'];
  test(
    'ART, unmodified, trains on it',
    { timeout: 600_000, ...skipWithoutPython('WHETSTONE_CLIENTS_PYTHON') },
    async () => {
      const { stdout } = await promisify(execFile)(clients!, [ART, `${server.url}/v1`, server.key, BASE]);
      expect(stdout.trim().split('\n').at(-1)).toBe('ok');
    },
  );
});
