// A worker's connection: which keys may connect, malformed messages, connections that break and return, and workers that lie,
// leave or vanish. Each case ends with a named cause, and the server continues.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PLAIN_SAMPLING } from '#domain/sampling';
import { PLAIN_REQUEST, type TokenEvent } from '#engine/inference-engine';
import { encodeMessage } from '#engine/rpc/codec';
import { callsOf, openSocket, sayHello } from '../../support/workers/by-hand.ts';
import {
  countedToken,
  createCountingEngine,
  COUNTING_CONFIG,
  COUNTING_VOCAB,
} from '../../support/workers/counting-engine.ts';
import { MODEL, openWorkerLab, type WorkerLab } from '../../support/workers/worker-lab.ts';

/** A guard against hanging; no test takes a tenth of it. */
const SOON = { timeout: 15_000 };

let directory: string;
let lab: WorkerLab;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'whetstone-connections-'));
  await writeFile(join(directory, 'config.json'), JSON.stringify(COUNTING_CONFIG));
  lab = await openWorkerLab(directory, { leaseMs: 3_000, heartbeatMs: 100 });
});
afterEach(async () => {
  await lab.close();
  await rm(directory, { recursive: true, force: true });
});

const request = (requestId: string, maxTokens = 20, seed = 5) => ({
  ...PLAIN_REQUEST,
  requestId,
  promptTokens: [1, 2, 3],
  adapter: null,
  sampling: { ...PLAIN_SAMPLING, seed, maxTokens },
  n: 1,
});
const signal = () => AbortSignal.timeout(20_000);

async function tokensOf(stream: AsyncIterable<TokenEvent>): Promise<number[]> {
  const tokens: number[] = [];
  for await (const { tokenId } of stream) tokens.push(tokenId);
  return tokens;
}
const counted = (length: number, seed = 5) => Array.from({ length }, (_, i) => countedToken(seed, i));

const makeKey = async (scopes: readonly ('chat' | 'train' | 'read' | 'admin' | 'worker')[]) =>
  (await lab.apiKeys.create({ entity: 'default', name: 'k', scopes })).secret;

test('a worker whose key is revoked is disconnected, with the cause', async () => {
  await lab.close();
  lab = await openWorkerLab(directory, { leaseMs: 3_000, heartbeatMs: 100, keyCheckMs: 20 });
  const { key, secret } = await lab.apiKeys.create({ entity: 'default', name: 'k', scopes: ['worker'] });
  const hand = await sayHello(lab, {}, secret);
  await vi.waitFor(() => expect(lab.isThere()).toBe(true), SOON);
  await lab.apiKeys.revoke(key.id, null);
  expect(await hand.closed).toMatch(/^4003 was disconnected because its key was revoked/);
  expect(lab.isThere()).toBe(false);
});

test('a worker with no role that the server has work for is refused', async () => {
  lab.workers.host({ ...lab.model, uses: ['train'] });
  const hand = await sayHello(lab);
  expect(await hand.closed).toMatch(/^4000/);
  expect(hand.came).toMatchObject([
    { kind: 'refused', code: 'wrong_role', message: expect.stringContaining('only workers that train') as string },
  ]);
});

test.each([
  ['no scope', () => makeKey(['admin']), /Unexpected server response: 403/],
  ['an unknown key', async () => 'wk-nobody', /Unexpected server response: 401/],
])('a key with %s is refused before the connection', async (_name, key, answer) => {
  expect(await openSocket(lab.url, await key()).closed).toMatch(answer);
});

test('a key with the scope worker connects, and an admin key without that scope cannot make one', async () => {
  const hand = openSocket(lab.url, await makeKey(['worker']));
  await hand.opened;
  hand.socket.close();
  const made = await fetch(`${lab.url}/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await makeKey(['admin'])}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'more', scopes: ['worker'] }),
  });
  expect(made.status).toBe(403);
});

const WRONG = 'a'.repeat(64);
test.each([
  ['invalid_hello', { roles: [] }, /roles/],
  ['invalid_hello', { sampler: null }, /sampler: is missing/],
  ['protocol_version', { protocol: 2 }, /version 2 of the protocol, this server version 1/],
  ['unknown_model', { model: { id: 'other', configSha256: WRONG, tokenizerSha256: WRONG } }, /it has: tiny\/worker/],
  ['wrong_model', { model: { id: MODEL, configSha256: WRONG, tokenizerSha256: WRONG } }, /config\.json.*same revision/],
  [
    'wrong_limits',
    { sampler: { contextLength: 10, vocabSize: 7, sequencesMax: 1, adaptersMax: 1, capabilities: null } },
    /capabilities|vocabulary/,
  ],
])('a hello that is %s is refused with that error', async (code, changes, message) => {
  const hand = await sayHello(lab, changes);
  expect(await hand.closed).toMatch(/^4000/);
  expect(hand.came).toEqual([
    { kind: 'refused', code: expect.any(String) as string, message: expect.stringMatching(message) as string },
  ]);
  if (code !== 'wrong_limits') expect(hand.came[0]).toMatchObject({ code });
  expect(lab.workers.list()).toEqual([]);
});

test('a vocabulary that differs from the model’s is refused', async () => {
  const sampler = { contextLength: 10, vocabSize: 7, sequencesMax: 1, adaptersMax: 1, capabilities: lab.capabilities };
  const hand = await sayHello(lab, { sampler });
  expect(await hand.closed).toBe('4000 wrong_limits');
});

test.each([
  ['half a message', (whole: Uint8Array) => whole.slice(0, whole.length / 2), /^4002 invalid frame/],
  [
    'a number out of order',
    () => encodeMessage([7, 0, { kind: 'return', id: 0, value: null }]),
    /^4002 .*message 7 arrived after message 0/,
  ],
  ['more bytes than a message may have', () => Buffer.alloc((64 << 20) + 1), /^1009/],
  ['nothing where a message should be', () => encodeMessage([1, 0, null]), /^4002 sent a message that is not a map/],
  [
    'a kind that there is not',
    () => encodeMessage([1, 0, { kind: 'call', id: 0 }]),
    /^4002 sent .*unknown kind "call"/,
  ],
  [
    'events that are none',
    () => encodeMessage([1, 0, { kind: 'events', events: [7] }]),
    /^4002 sent events that are no/,
  ],
  ['a return of no call', () => encodeMessage([1, 0, { kind: 'return', value: null }]), /^4002 .*without the id/],
])('%s ends the connection of that worker with the cause, and other workers continue', async (_name, spoil, end) => {
  await lab.connect({ inference: createCountingEngine(), training: null });
  const hand = await sayHello(lab);
  await vi.waitFor(() => expect(hand.came).toHaveLength(1), SOON);
  hand.socket.send(spoil(encodeMessage([1, 0, { kind: 'notice', name: 'status', payload: null }])));
  expect(await hand.closed).toMatch(end);
  await vi.waitFor(() => expect(lab.workers.list()).toHaveLength(1), SOON);
  expect(await tokensOf(lab.inference.generate(request('after'), signal()))).toEqual(counted(20));
});

test('a stream continues where it was if its connection breaks', async () => {
  await lab.connect({ inference: createCountingEngine({ tokenMs: 5 }), training: null });
  const stream = lab.inference.generate(request('broken', 100), signal());
  const tokens: number[] = [];
  for await (const { tokenId } of stream) {
    tokens.push(tokenId);
    if (tokens.length === 10 || tokens.length === 50) lab.breakConnections();
  }
  expect(tokens).toEqual(counted(100));
  expect(lab.workers.list()).toHaveLength(1);
});

test('calls of a worker that does not return fail with the cause when its lease ends', async () => {
  const hand = await sayHello(lab);
  await vi.waitFor(() => expect(hand.came).toHaveLength(1), SOON);
  const answer = tokensOf(lab.inference.generate(request('lost'), signal()));
  await vi.waitFor(() => expect(hand.came).toHaveLength(2), SOON);
  hand.socket.terminate();
  await expect(answer).rejects.toMatchObject({
    code: 'engine_unavailable',
    message: expect.stringMatching(/hand .*lost its connection.*did not come back within 3000 ms/) as string,
  });
  expect(lab.workers.list()).toEqual([]);
});

test('a worker that misses three heartbeats is disconnected', async () => {
  const hand = await sayHello(lab);
  await vi.waitFor(() => expect(hand.came).toHaveLength(1), SOON);
  hand.socket.pause(); // which also stops its pongs
  await vi.waitFor(() => expect(lab.workers.list()[0]?.state).toBe('away'), { timeout: 15_000 });
  await vi.waitFor(() => expect(lab.workers.list()).toEqual([]), { timeout: 15_000 });
  hand.socket.terminate();
});

test('wrong answers end their request with the cause, duplicate answers are ignored, and the worker continues', async () => {
  const hand = await sayHello(lab);
  await vi.waitFor(() => expect(hand.came).toHaveLength(1), SOON);
  let seq = 0;
  const say = (message: unknown) => hand.socket.send(encodeMessage([++seq, 0, message]));
  const calls = () => callsOf(hand);
  const event = (tokenId: number, finishReason: string | null) => ({
    choiceIndex: 0,
    tokenId,
    logprob: -1,
    topLogprobs: [],
    finishReason,
  });

  const first = tokensOf(lab.inference.generate(request('liar'), signal()));
  await vi.waitFor(() => expect(calls()).toHaveLength(1), SOON);
  say({ kind: 'events', events: [{ id: calls()[0]!.id, payload: event(COUNTING_VOCAB, null) }] });
  await expect(first).rejects.toMatchObject({
    code: 'engine_failed',
    message: expect.stringMatching(/hand sent the token 260, which is not in the vocabulary of 260/) as string,
  });

  const second = tokensOf(lab.inference.generate(request('honest', 1), signal()));
  await vi.waitFor(() => expect(calls()).toHaveLength(2), SOON);
  const { id } = calls()[1]!;
  say({ kind: 'events', events: [{ id, payload: event(9, 'length') }] });
  say({ kind: 'return', id, value: null });
  say({ kind: 'return', id, value: null });
  say({ kind: 'throw', id: 77, error: null });
  expect(await second).toEqual([9]);
  expect(lab.workers.list()).toMatchObject([{ name: 'hand', state: 'connected' }]);
  hand.socket.close();
});

test.each([
  ['no event', null, 'an event that is not a map'],
  ['no list of others', { choiceIndex: 0, tokenId: 9, logprob: -1, finishReason: null }, 'topLogprobs'],
  [
    'an end that there is not',
    { choiceIndex: 0, tokenId: 9, logprob: -1, topLogprobs: [], finishReason: 'tired' },
    'the unknown finishReason tired',
  ],
])('a token that is %s ends its request with the cause', async (_name, payload, words) => {
  const hand = await sayHello(lab);
  await vi.waitFor(() => expect(hand.came).toHaveLength(1), SOON);
  const answer = tokensOf(lab.inference.generate(request('odd'), signal()));
  await vi.waitFor(() => expect(callsOf(hand)).toHaveLength(1), SOON);
  hand.socket.send(encodeMessage([1, 0, { kind: 'events', events: [{ id: callsOf(hand)[0]!.id, payload }] }]));
  await expect(answer).rejects.toMatchObject({
    code: 'engine_failed',
    message: expect.stringContaining(words) as string,
  });
  expect(lab.workers.list()).toMatchObject([{ state: 'connected' }]);
  hand.socket.close();
});

test.each([
  ['none', null, 'The engine failed.'],
  ['that of a client’s key', { code: 'invalid_api_key', message: 'no', param: 7 }, 'The engine failed.'],
])('an error with a code that is %s is reported as the worker’s fault', async (_name, error, message) => {
  const hand = await sayHello(lab);
  await vi.waitFor(() => expect(hand.came).toHaveLength(1), SOON);
  const answer = tokensOf(lab.inference.generate(request('odd'), signal()));
  await vi.waitFor(() => expect(callsOf(hand)).toHaveLength(1), SOON);
  hand.socket.send(encodeMessage([1, 0, { kind: 'throw', id: callsOf(hand)[0]!.id, error }]));
  await expect(answer).rejects.toMatchObject({ code: 'engine_failed', message });
  hand.socket.close();
});

test('a worker that acknowledges nothing gets no more calls than fit its window: other workers get them', async () => {
  await lab.close();
  lab = await openWorkerLab(directory, { leaseMs: 3_000, unackedBytesMax: 64 << 10 });
  const slow = await sayHello(lab);
  await vi.waitFor(() => expect(slow.came).toHaveLength(1), SOON);
  const long = { ...request('long'), promptTokens: Array.from({ length: 40_000 }, () => 1) };
  const unanswered = [1, 2].map(() => tokensOf(lab.inference.generate(long, signal())));
  const ends = Promise.allSettled(unanswered);
  await vi.waitFor(() => expect(callsOf(slow)).toHaveLength(2), SOON);
  const third = tokensOf(lab.inference.generate(request('third'), signal()));
  await vi.waitFor(() => expect(lab.inference.status()).toMatchObject({ running: 2, waiting: 1 }), SOON);
  await lab.connect({ inference: createCountingEngine(), training: null });
  expect(await third).toEqual(counted(20));
  expect(callsOf(slow)).toHaveLength(2);
  slow.socket.terminate();
  await ends;
});

test('a draining worker finishes its calls and gets no new ones', async () => {
  const [old, fresh] = [createCountingEngine({ tokenMs: 5 }), createCountingEngine()];
  const leaving = await lab.connect({ inference: old, training: null });
  const running = tokensOf(lab.inference.generate(request('before', 100), signal()));
  await vi.waitFor(() => expect(old.asked).toEqual(['before']), SOON);
  await lab.connect({ inference: fresh, training: null });
  const left = leaving.leave(10_000);
  await vi.waitFor(() => expect(lab.workers.list().map(({ state }) => state)).toContain('draining'), SOON);
  for (const id of ['a', 'b', 'c'])
    expect(await tokensOf(lab.inference.generate(request(id), signal()))).toEqual(counted(20));
  expect(await running).toEqual(counted(100));
  await left;
  expect(old.asked).toEqual(['before']);
  await vi.waitFor(() => expect(lab.workers.list()).toHaveLength(1), SOON);
});

test('without a worker a request waits until one connects and answers it', async () => {
  const waiting = tokensOf(lab.inference.generate(request('early'), signal()));
  expect(lab.inference.status()).toMatchObject({ ready: false, waiting: 1 });
  await lab.connect({ inference: createCountingEngine(), training: null });
  expect(await waiting).toEqual(counted(20));
});

test('a request to upgrade to a protocol other than WebSocket is answered as if it had not asked', async () => {
  const { request: send } = await import('node:http');
  const answer = await new Promise<string>((resolve, reject) => {
    const asked = send(
      `${lab.url}/v1/health`,
      { headers: { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' } },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve(`${response.statusCode} ${text}`));
      },
    );
    asked.on('error', reject);
    asked.end();
  });
  expect(answer).toMatch(/^200 .*"status":"ok"/);
});
