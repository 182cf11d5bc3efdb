// What an operator sees of workers: their list, and their metrics by name.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PLAIN_SAMPLING } from '#domain/sampling';
import { PLAIN_REQUEST } from '#engine/inference-engine';
import { createWorkerTallies } from '#engine/workers/worker-tallies';
import type { WorkerReport } from '#domain/worker';
import { asOwner } from '../../support/api/test-server.ts';
import { createCountingEngine, COUNTING_CONFIG } from '../../support/workers/counting-engine.ts';
import { sayHello } from '../../support/workers/by-hand.ts';
import { MODEL, openWorkerLab, type WorkerLab } from '../../support/workers/worker-lab.ts';

const SOON = { timeout: 30_000 };

let directory: string;
let lab: WorkerLab;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'whetstone-watching-'));
  await writeFile(join(directory, 'config.json'), JSON.stringify(COUNTING_CONFIG));
  lab = await openWorkerLab(directory);
});
afterEach(async () => {
  await lab.close();
  await rm(directory, { recursive: true, force: true });
});

async function sample(tokens: number): Promise<void> {
  const request = {
    ...PLAIN_REQUEST,
    requestId: 'watched',
    promptTokens: [1, 2, 3],
    adapter: null,
    sampling: { ...PLAIN_SAMPLING, seed: 5, maxTokens: tokens },
    n: 1,
  };
  let count = 0;
  for await (const _ of lab.inference.generate(request, AbortSignal.timeout(30_000))) count++;
  expect(count).toBe(tokens);
}

async function listed(): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const response = await fetch(`${lab.url}/v1/workers`, { headers: asOwner });
  return ((await response.json()) as { data: readonly Readonly<Record<string, unknown>>[] }).data;
}

/** Values of a metric, by worker. */
async function metric(name: string): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(`${lab.url}/metrics`)).text();
  const lines = text.matchAll(/^(\w+)\{model_name="([^"]*)",worker="([^"]*)"\} (\S+)$/gm);
  return Object.fromEntries(
    [...lines]
      .filter(([, its, model]) => its === name && model === MODEL)
      .map(([, , , worker, value]) => [worker!, Number(value)]),
  );
}

test('each worker is listed with its roles and its counts', async () => {
  await lab.connect({ inference: createCountingEngine(), training: null });
  await sample(20);
  lab.breakConnections();
  await vi.waitFor(async () => expect(await listed()).toMatchObject([{ state: 'connected', reconnects: 1 }]), SOON);
  expect(await listed()).toMatchObject([
    { name: 'worker-1', tokens: 20, sessions: 0, running: 0, waiting: 0, adapters: [], silent_seconds: 0 },
  ]);
});

test('a disconnected worker is listed as silent for longer and longer', async () => {
  const hand = await sayHello(lab);
  await vi.waitFor(() => expect(lab.workers.list()).toHaveLength(1), SOON);
  hand.socket.terminate();
  await vi.waitFor(() => expect(lab.workers.list()[0]).toMatchObject({ state: 'away' }), SOON);
  lab.clock.advance(7_500);
  expect(await listed()).toMatchObject([{ state: 'away', silent_seconds: 7.5 }]);
  expect(await metric('whetstone_worker_silent_seconds')).toEqual({ hand: 7.5 });
});

test('metrics cover the connected workers; a worker that restarts under its name continues its counts', async () => {
  const named = (name: string) => lab.connect({ inference: createCountingEngine(), training: null }, { name });
  const first = await named('gpu 1');
  await sample(20);
  expect(await metric('whetstone_worker_generation_tokens_total')).toEqual({ 'gpu 1': 20 });
  await first.leave(0);
  await vi.waitFor(() => expect(lab.workers.list()).toEqual([]), SOON);
  expect(await metric('whetstone_worker_count')).toEqual({});
  await named('other');
  await sample(5);
  await named('gpu 1');
  await named('other');
  expect(await metric('whetstone_worker_generation_tokens_total')).toEqual({ other: 5, 'gpu 1': 20 });
  expect(await metric('whetstone_worker_count')).toEqual({ other: 2, 'gpu 1': 1 });
  const calls = await metric('whetstone_worker_calls_total');
  const bytes = await metric('whetstone_worker_message_bytes_total');
  for (const name of ['gpu 1', 'other']) {
    expect(calls[name]).toBeGreaterThanOrEqual(1);
    expect(bytes[name]).toBeGreaterThan(100);
  }
  for (const name of [
    'num_requests_running',
    'num_requests_waiting',
    'training_sessions',
    'adapters_loaded',
    'reconnects_total',
  ])
    expect(await metric(`whetstone_worker_${name}`), name).toEqual({ other: 0, 'gpu 1': 0 });
});

test('a thousand workers with different names do not make a thousand labels', () => {
  const tallies = createWorkerTallies();
  const worker = (i: number): WorkerReport => ({
    ...{ id: String(i), name: `pod-${i}`, version: '1', model: 'm', roles: ['sample'], state: 'connected' },
    ...{
      connectedAtMs: i,
      silentMs: 0,
      sequencesMax: null,
      reconnects: 0,
      tokens: 1,
      sessions: 0,
      running: 0,
      waiting: 0,
      adapters: [],
      calls: 2,
      waitedMs: 3,
      messageBytes: 4,
    },
  });
  const all = Array.from({ length: 1_000 }, (_, i) => worker(i));
  const read = tallies.read(all);
  expect(read).toHaveLength(256);
  expect(read.map(({ name }) => name)).toEqual(all.slice(0, 256).map(({ name }) => name)); // always the same ones
  all.forEach((each) => tallies.ended(each));
  expect(tallies.read([worker(999)])).toMatchObject([
    { name: 'pod-999', tokens: 2, calls: 4, waitedMs: 6, messageBytes: 8 },
  ]);
  expect(tallies.read([worker(0)])).toMatchObject([{ name: 'pod-0', tokens: 1 }]); // forgotten
});
