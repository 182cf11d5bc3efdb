// Evaluations whose server dies or stops midway: the next server continues with the first missing answer, and stored answers
// stay unchanged. Also: evaluations yield to client requests.
import { beforeAll, expect, test, vi } from 'vitest';
import { evaluationBlobs } from '#domain/blob-names';
import type { GenerateRequest } from '#engine/inference-engine';
import type { Chat } from '#services/chat/chat';
import {
  answersOf,
  aRunner,
  ask,
  endJob,
  evaluated,
  JOBS,
  submitEvaluated,
  untilEnded,
} from '../../support/api/evaluation-lab.ts';
import { register } from '../../support/api/registered-model.ts';
import { BASE, containing, send, shareTestServer } from '../../support/api/test-server.ts';

const requests: GenerateRequest[] = [];
const server = await shareTestServer({
  wrapEngine: (real) => ({
    ...real,
    contextLength: real.contextLength,
    vocabSize: real.vocabSize,
    status: () => real.status(),
    prepare: (...args) => real.prepare(...args),
    loadAdapter: (adapter) => real.loadAdapter(adapter),
    unloadAdapter: (id) => real.unloadAdapter(id),
    close: () => real.close(),
    generate(request, signal) {
      requests.push(request);
      return real.generate(request, signal);
    },
  }),
});
const PROMPTS = Array.from({ length: 6 }, (_, i) => ask(`Question ${i}?`));
const EVALUATION = { prompts: PROMPTS, samples: 2, max_tokens: 6, temperature: 1, seed: 9 };

let model_id: string;
beforeAll(async () => void (model_id = await register(server, 'killed')));

async function aJob(): Promise<string> {
  const id = await submitEvaluated(server, model_id, EVALUATION);
  await endJob(server, id);
  return id;
}

const answeredOf = async (id: string) => (await server.storage.evaluations.find(id))!.answeredCount;
const tokensOf = async (id: string) =>
  (await answersOf(server, id)).map(({ answers }) => answers!.map(({ token_ids }) => token_ids));

/** Answers so many prompts; the others wait until they are released, as in a server that hangs. */
function chatThatHangs(after: number) {
  let [asked, open] = [0, () => {}];
  const gate = new Promise<void>((resolve) => (open = resolve));
  const chat: Chat = {
    ...server.services.chat,
    async start(...args) {
      if (++asked > after) await gate;
      return server.services.chat.start(...args);
    },
  };
  return { chat, open, asked: () => asked };
}

async function storedBytes(id: string): Promise<Map<string, string>> {
  const { blobs } = server;
  const names = (await blobs.list(evaluationBlobs(model_id, id))).map(({ name }) => name);
  return new Map(await Promise.all(names.map(async (name) => [name, String(await blobs.find(name))] as const)));
}

test('another server continues with the missing prompts, and the late one writes nothing', async () => {
  const undisturbed = await aJob();
  await evaluated(server, undisturbed);
  const id = await aJob();
  const hanging = chatThatHangs(2);
  const dead = aRunner(server, { chat: hanging.chat, exclusive: false });
  await dead.start();
  await vi.waitFor(async () => expect(await answeredOf(id)).toBe(2), { timeout: 30_000 });
  const before = await storedBytes(id);

  server.clock.advance(60_000); // its lease lapses
  const counting = chatThatHangs(Infinity);
  const other = aRunner(server, { chat: counting.chat, exclusive: false });
  await other.start();
  await untilEnded(server, id);
  await other.stop();
  expect(counting.asked()).toBe(PROMPTS.length - 2);
  const after = await storedBytes(id);
  for (const [name, bytes] of before) expect(after.get(name), name).toBe(bytes);
  expect(await tokensOf(id)).toEqual(await tokensOf(undisturbed));

  hanging.open();
  await dead.stop();
  expect(await storedBytes(id)).toEqual(after);
  expect(await server.storage.evaluations.find(id)).toMatchObject({
    status: 'succeeded',
    answeredCount: 6,
    attempt: 2,
  });
}, 60_000);

test('a server that shuts down releases it at once', async () => {
  const id = await aJob();
  const hanging = chatThatHangs(1);
  const first = aRunner(server, { chat: hanging.chat, exclusive: false });
  await first.start();
  await vi.waitFor(async () => expect(await answeredOf(id)).toBe(1), { timeout: 30_000 });
  const stopped = first.stop();
  hanging.open();
  await stopped;
  expect(await server.storage.evaluations.find(id)).toMatchObject({ status: 'running' });
  const next = aRunner(server, { exclusive: false }); // the clock stands still: no lease lapses
  await next.start();
  await untilEnded(server, id);
  await next.stop();
  expect(await server.storage.evaluations.find(id)).toMatchObject({ status: 'succeeded', answeredCount: 6 });
}, 60_000);

test('one that ends its server again and again fails with that cause', async () => {
  const id = await aJob();
  const { evaluations } = server.storage;
  for (let death = 0; death < 10; death++) {
    await evaluations.releaseLeases();
    expect(await evaluations.claim('w', server.clock.now(), 1_000, [BASE])).toMatchObject({ jobId: id });
  }
  await evaluated(server, id);
  expect(await evaluations.find(id)).toMatchObject({
    status: 'failed',
    errorMessage: containing('stopped during each of 10 attempts'),
  });
});

test('it keeps its answers if it is cancelled while it runs', async () => {
  const id = await aJob();
  const hanging = chatThatHangs(1);
  const runner = aRunner(server, { chat: hanging.chat });
  await runner.start();
  await vi.waitFor(async () => expect(await answeredOf(id)).toBe(1), { timeout: 30_000 });
  await send(server, { method: 'POST', url: `${JOBS}/${id}/evaluation/cancel` });
  hanging.open();
  await untilEnded(server, id);
  await runner.stop();
  const { status, answeredCount } = (await server.storage.evaluations.find(id))!;
  expect(status).toBe('cancelled');
  expect((await answersOf(server, id)).filter(({ answers }) => answers !== null)).toHaveLength(answeredCount);
}, 60_000);

test('a model that is deleted meanwhile takes all of it along', async () => {
  const gone = await register(server, 'deleted-meanwhile');
  const id = await submitEvaluated(server, gone, EVALUATION);
  await endJob(server, id);
  const hanging = chatThatHangs(1);
  const runner = aRunner(server, { chat: hanging.chat });
  await runner.start();
  await vi.waitFor(async () => expect(await answeredOf(id)).toBe(1), { timeout: 30_000 });
  await send(server, { method: 'DELETE', url: `/v1/preview/models/${gone}` });
  hanging.open();
  await vi.waitFor(async () => expect(await server.blobs.list(`evaluations/${gone}`)).toEqual([]), { timeout: 30_000 });
  await runner.stop();
  expect(await server.blobs.list(`evaluations/${gone}`)).toEqual([]);
}, 60_000);

test('its requests run after every client request, on the account of the key that submitted the job', async () => {
  requests.length = 0;
  const id = await aJob();
  await evaluated(server, id);
  expect(requests).toHaveLength(PROMPTS.length);
  for (const { priority, payer } of requests)
    expect({ priority, payer }).toEqual({ priority: 2 ** 31 - 1, payer: 'bootstrap' });
});
