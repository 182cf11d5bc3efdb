// Several samplers of one model, as a server's clients see them: which sampler gets a request, which request is next, and
// what losing one costs.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '#base/log';
import { PLAIN_SAMPLING } from '#domain/sampling';
import { PLAIN_REQUEST, type GenerateRequest, type TokenEvent } from '#engine/inference-engine';
import { generateWithReplay } from '#services/chat/replaying-generation';
import { asOwner } from '../../support/api/test-server.ts';
import { countedToken, createCountingEngine, COUNTING_CONFIG } from '../../support/workers/counting-engine.ts';
import { openWorkerLab, type WorkerLab } from '../../support/workers/worker-lab.ts';

let directory: string;
let lab: WorkerLab;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'whetstone-routing-'));
  await writeFile(join(directory, 'config.json'), JSON.stringify(COUNTING_CONFIG));
  lab = await openWorkerLab(directory);
});
afterEach(async () => {
  await lab.close();
  await rm(directory, { recursive: true, force: true });
});

const request = (requestId: string, more: Partial<GenerateRequest> = {}): GenerateRequest => ({
  ...PLAIN_REQUEST,
  requestId,
  promptTokens: [1, 2, 3],
  adapter: null,
  sampling: { ...PLAIN_SAMPLING, seed: 5, maxTokens: 20 },
  n: 1,
  ...more,
});
const signal = () => AbortSignal.timeout(30_000);
const counted = (length: number, seed = 5) => Array.from({ length }, (_, i) => countedToken(seed, i));
const prompt = (first: number) => Array.from({ length: 200 }, (_, i) => (first + i) % 250);

async function tokensOf(stream: AsyncIterable<TokenEvent>): Promise<number[]> {
  const tokens: number[] = [];
  for await (const { tokenId } of stream) tokens.push(tokenId);
  return tokens;
}

test('requests spread over samplers, and those with a shared prefix stay together', async () => {
  const engines = [createCountingEngine({ tokenMs: 2 }), createCountingEngine({ tokenMs: 2 })];
  for (const inference of engines) await lab.connect({ inference, training: null });
  const groups = [0, 50, 100, 150].map((first) => prompt(first));
  const asked = groups.flatMap((promptTokens, group) =>
    [0, 1, 2].map((i) => ({
      group,
      stream: lab.inference.generate(request(`${group}/${i}`, { promptTokens }), signal()),
    })),
  );
  await Promise.all(asked.map(({ stream }) => tokensOf(stream)));
  const groupsOf = engines.map(({ asked: ids }) => new Set(ids.map((id) => id.split('/')[0])));
  expect(groupsOf.map(({ size }) => size)).toEqual([2, 2]);
});

test('with exact replay a lost sampler costs a pause: the answer continues on another one with the same tokens', async () => {
  const first = createCountingEngine({ tokenMs: 5 });
  const leaving = await lab.connect({ inference: first, training: null });
  const stream = generateWithReplay(
    lab.inference,
    request('steady', { sampling: { ...PLAIN_SAMPLING, seed: 5, maxTokens: 60 } }),
    lab.capabilities,
    silentLog,
    signal(),
  );
  const tokens: number[] = [];
  for await (const { tokenId } of stream) {
    tokens.push(tokenId);
    if (tokens.length !== 10) continue;
    await lab.connect({ inference: createCountingEngine(), training: null });
    void leaving.leave(0);
  }
  expect(tokens).toEqual(counted(60));
  expect(first.asked).toEqual(['steady']);
});

test('without exact replay the stream ends with the cause: no gap, and no token twice', async () => {
  const leaving = await lab.connect({ inference: createCountingEngine({ tokenMs: 5 }), training: null });
  await lab.connect({ inference: createCountingEngine({ tokenMs: 5 }), training: null }, {}, { exactReplay: false });
  expect(lab.inference.capabilities.exactReplay).toBe(false);
  const stream = generateWithReplay(
    lab.inference,
    request('once', { sampling: { ...PLAIN_SAMPLING, seed: 5, maxTokens: 200 } }),
    lab.inference.capabilities,
    silentLog,
    signal(),
  );
  const tokens: number[] = [];
  const reading = (async () => {
    for await (const { tokenId } of stream) {
      tokens.push(tokenId);
      if (tokens.length === 10) void leaving.leave(0);
    }
  })();
  await expect(reading).rejects.toMatchObject({
    code: 'engine_unavailable',
    message: expect.stringMatching(/worker worker-1/) as string,
  });
  expect(tokens).toEqual(counted(tokens.length));
});

test('one request of a key does not wait for a hundred of another', async () => {
  await lab.connect({ inference: createCountingEngine({ tokenMs: 1 }), training: null }, {}, {}, { sequencesMax: 4 });
  const ended: string[] = [];
  const ask = (id: string, payer: string) =>
    tokensOf(lab.inference.generate(request(id, { payer }), signal())).then(() => ended.push(payer));
  const crowd = Array.from({ length: 100 }, (_, i) => ask(`crowd-${i}`, 'crowd'));
  await vi.waitFor(() => expect(lab.inference.status().waiting).toBeGreaterThan(80), { timeout: 15_000, interval: 1 });
  await ask('single', 'single');
  expect(ended.filter((payer) => payer === 'crowd').length).toBeLessThan(20);
  await Promise.all(crowd);
});

test('a checkpoint is loaded on all connected samplers, and its files have the promised hashes', async () => {
  const engines = [createCountingEngine(), createCountingEngine()];
  for (const inference of engines) await lab.connect({ inference, training: null });
  const adapter = join(directory, 'adapter');
  await lab.writeAdapter(adapter);
  await lab.inference.loadAdapter({ id: 'step-1', directory: adapter });
  expect(engines.map(({ loaded }) => [...loaded.keys()])).toEqual([['step-1'], ['step-1']]);
  const allReport = () => expect(lab.workers.list().map(({ adapters }) => adapters)).toEqual([['step-1'], ['step-1']]);
  await vi.waitFor(allReport, { timeout: 10_000 });
  expect(lab.inference.status().adapters).toEqual(['step-1']);
  const listed = await (await fetch(`${lab.url}/v1/workers`, { headers: asOwner })).json();
  expect(listed).toMatchObject({
    object: 'list',
    data: [
      { name: 'worker-1', state: 'connected', roles: ['sample'], base_model: 'tiny/worker', adapters: ['step-1'] },
      { name: 'worker-2', sequences_max: 128, adapters: ['step-1'] },
    ],
  });
  await lab.inference.unloadAdapter('step-1');
  expect(engines.map(({ loaded }) => loaded.size)).toEqual([0, 0]);
});

test('a request with an adapter of the head goes to samplers that support one, and is refused if none does', async () => {
  const [without, with_] = [createCountingEngine(), createCountingEngine()];
  await lab.connect({ inference: without, training: null }, {}, { headAdapters: false });
  const adapter = { id: 'on-head', directory: join(directory, 'adapter') };
  await lab.writeAdapter(adapter.directory, { targets: ['q_proj', 'lm_head'] });
  await expect(tokensOf(lab.inference.generate(request('refused', { adapter }), signal()))).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(
      /^No worker that samples tiny\/worker supports adapters on the output head/,
    ) as string,
  });
  await lab.inference.loadAdapter(adapter);
  expect(without.loaded.size).toBe(0);
  expect(await tokensOf(lab.inference.generate(request('plain'), signal()))).toEqual(counted(20));
  await lab.connect({ inference: with_, training: null });
  const asked = Array.from({ length: 4 }, (_, i) =>
    tokensOf(lab.inference.generate(request(`${i}`, { adapter }), signal())),
  );
  for (const tokens of await Promise.all(asked)) expect(tokens).toEqual(counted(20));
  expect([without.asked, with_.asked.length]).toEqual([['plain'], 4]);
});

test('a request that waits for one busy sampler does not stop those that another can compute', async () => {
  const [able, other] = [createCountingEngine({ tokenMs: 5 }), createCountingEngine()];
  await lab.connect({ inference: able, training: null }, {}, {}, { sequencesMax: 1 });
  const adapter = { id: 'on-head', directory: join(directory, 'adapter') };
  await lab.writeAdapter(adapter.directory, { targets: ['q_proj', 'lm_head'] });
  const long = { adapter, sampling: { ...PLAIN_SAMPLING, seed: 5, maxTokens: 4_000 } };
  const leave = new AbortController();
  const running = tokensOf(lab.inference.generate(request('running', long), leave.signal)).catch(() => 'left');
  await vi.waitFor(() => expect(able.asked).toEqual(['running']));
  await lab.connect({ inference: other, training: null }, {}, { headAdapters: false });
  const waiting = tokensOf(lab.inference.generate(request('waiting', { adapter }), signal()));
  await vi.waitFor(() => expect(lab.inference.status().waiting).toBe(1));
  expect(await tokensOf(lab.inference.generate(request('plain'), signal()))).toEqual(counted(20));
  expect(other.asked).toEqual(['plain']);
  leave.abort();
  expect(await running).toBe('left');
  expect(await waiting).toEqual(counted(20));
});

test('a request with many choices keeps one sampler for itself until they fit, and the others go on', async () => {
  const engines = [createCountingEngine({ tokenMs: 1 }), createCountingEngine({ tokenMs: 1 })];
  for (const inference of engines) await lab.connect({ inference, training: null }, {}, {}, { sequencesMax: 4 });
  const ended: string[] = [];
  const ask = (id: string, more: Partial<GenerateRequest> = {}) =>
    tokensOf(lab.inference.generate(request(id, more), signal())).then(() => ended.push(id));
  const first = Array.from({ length: 4 }, (_, i) =>
    ask(`first-${i}`, { sampling: { ...PLAIN_SAMPLING, seed: 5, maxTokens: 400 } }),
  );
  await vi.waitFor(() => expect(engines.flatMap(({ asked }) => asked)).toHaveLength(4));
  let isServed = false;
  const many = ask('many', { n: 4 }).finally(() => (isServed = true));
  const crowd = ['a', 'b', 'c', 'd', 'e', 'f'].map(async (name) => {
    for (let i = 0; !isServed; i++) await ask(`${name}-${i}`);
  });
  await Promise.all([...first, many, ...crowd]);
  expect(ended.indexOf('a-0')).toBeLessThan(ended.findIndex((id) => id.startsWith('first')));
});

test('the capabilities of several samplers are those that all of them have', async () => {
  await lab.connect({ inference: createCountingEngine(), training: null });
  expect(lab.capabilities).toMatchObject(lab.inference.capabilities);
  await lab.connect(
    { inference: createCountingEngine(), training: null },
    {},
    { constraints: ['regex'], unsupportedSampling: ['minP'], precision: 'bfloat16' },
  );
  expect(lab.inference.capabilities).toMatchObject({
    exactReplay: false, // other precision, other tokens
    constraints: ['regex'],
    unsupportedSampling: ['minP'],
    precision: 'bfloat16',
  });
});

test('once closed, the samplers of a model finish their requests and accept no more', async () => {
  await lab.connect({ inference: createCountingEngine({ tokenMs: 5 }), training: null });
  const long = { sampling: { ...PLAIN_SAMPLING, seed: 5, maxTokens: 4_000 } };
  const running = tokensOf(lab.inference.generate(request('running', long), signal()));
  running.catch(() => {}); // awaited below
  await vi.waitFor(() => expect(lab.inference.status().running).toBe(1), { timeout: 30_000 });
  const starting = tokensOf(lab.inference.generate(request('starting', long), signal()));
  starting.catch(() => {});
  await lab.inference.close();
  for (const answer of [running, starting, tokensOf(lab.inference.generate(request('late'), signal()))])
    await expect(answer).rejects.toMatchObject({
      code: 'engine_unavailable',
      message: expect.stringMatching(/released/) as string,
    });
});
