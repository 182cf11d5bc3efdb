// SIGTERM to a real server while it answers and trains: what runs may finish within its limit, what is new is sent elsewhere,
// what takes too long is cut by name at its limit; the process ends with 0, and the job goes on at the next start. No test holds
// a clock to it: what ends without being cut would hold the process up to the deadline of the test.
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TrainingEvent } from '#client/client';
import { createServerProcess, type ServerProcess } from '../../support/crash/server-process.ts';

const MODEL = 'wandb-artifact:///default/p/m';
const DRAIN_SECONDS = 2;
const STEP_SECONDS = 1;

let data: string;
let server: ServerProcess;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'whetstone-stop-'));
});
afterEach(async () => {
  await server.kill('server').catch(() => {});
  await rm(data, { recursive: true, force: true });
});

async function start(env: Readonly<Record<string, string>> = {}): Promise<void> {
  server = await createServerProcess(data, env);
  await server.start();
}

const LIMITS = { WHETSTONE_DRAIN_SECONDS: String(DRAIN_SECONDS), WHETSTONE_STEP_SECONDS: String(STEP_SECONDS) };

/** On a connection of its own. Resolves with the head of the answer. */
async function chat(fields: Readonly<Record<string, unknown>>): Promise<IncomingMessage> {
  const call = request(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
  });
  call.end(JSON.stringify({ messages: [{ role: 'user', content: 'Tell me a story.' }], temperature: 1, ...fields }));
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  return response;
}

const stream = (seed: number, tokens: number) => chat({ stream: true, seed, max_tokens: tokens, ignore_eos: true });

async function submitJob(): Promise<string> {
  const { client } = server;
  const model = await client.registerModel({ project: 'p', name: 'm', base_model: 'whetstone/starter' });
  const trajectory_groups = await Promise.all(
    Array.from({ length: 12 }, async (_, g) => {
      const messages = [{ role: 'user', content: `What is ${10 + g} + 20?` }];
      const { choices } = await client.chat({ model: MODEL, messages, n: 8, temperature: 1, seed: g, max_tokens: 8 });
      return {
        trajectories: choices.map((choice, i) => ({ messages_and_choices: [...messages, choice], reward: i % 3 })),
      };
    }),
  );
  const config = { packed_sequence_length: 32 };
  const job = await client.submitTrainingJob({ model_id: model.id, trajectory_groups, experimental_config: config });
  while ((await client.getTrainingJob(job.id)).progress === 0);
  return job.id;
}

async function eventTypes(jobId: string): Promise<string[]> {
  const events: TrainingEvent[] = [];
  for await (const event of server.client.listEvents(jobId)) events.push(event);
  return events.map(({ type }) => type);
}

test('streams end normally, new requests are refused, the step is saved, the next start continues', async () => {
  const patient = { WHETSTONE_DRAIN_SECONDS: '300', WHETSTONE_STEP_SECONDS: '300' }; // busy machines are slow
  await start({ ...patient, WHETSTONE_SAVE_SECONDS: '86400' }); // nothing is saved but at the stop
  const jobId = await submitJob();
  const streams = await Promise.all(Array.from({ length: 24 }, (_, seed) => stream(seed, 120)));
  const exited = server.stop();
  const refused = await expectRefusal();
  expect(refused).toMatchObject({ 'retry-after': '5', connection: 'close' });
  for (const each of streams) {
    const body = await text(each);
    expect(body.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(body).not.toContain('"error"');
    expect(body).toContain('"finish_reason":"length"');
  }
  expect(await exited).toBe(0);

  const saved = await readFile(join(data, 'blobs', 'jobs', jobId, 'resume', 'current.json'), 'utf8');
  const stepsDone = Number(/"stepsDone":(\d+)/.exec(saved)?.[1]);
  await server.start();
  const before = await eventTypes(jobId);
  expect(before.slice(0, stepsDone + 1).at(-1)).toBe('gradient_step');
  expect(before).not.toContain('training_ended');
  await server.client.follow(jobId, { deadlineMs: 180_000 });
  const after = await eventTypes(jobId);
  expect(after.filter((type) => type === 'training_started')).toHaveLength(1);
  expect(after.length).toBeGreaterThan(before.length);
}, 420_000);

/** Until the server has seen the signal, requests are answered as always. */
async function expectRefusal() {
  for (;;) {
    const response = await chat({ max_tokens: 1 });
    const body = await text(response);
    if (response.statusCode === 200) continue;
    expect(response.statusCode).toBe(503);
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'server_stopping' } });
    return response.headers;
  }
}

test('requests that run longer than the limit end with the reason, streamed or not, and the exit code is 0', async () => {
  await start(LIMITS);
  const streams = await Promise.all(Array.from({ length: 128 }, (_, seed) => stream(seed, 400)));
  const whole = chat({ n: 16, max_tokens: 400, ignore_eos: true });
  const exited = server.stop();
  const ends = await Promise.all(streams.map((each) => text(each)));
  const cut = ends.filter((body) => body.includes('"code":"server_stopping"'));
  expect(cut.length).toBeGreaterThan(0);
  for (const body of ends) expect(body.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(cut[0]).toContain('The server is stopping.');
  const response = await whole;
  expect(response.statusCode).toBe(503);
  expect(response.headers).toMatchObject({ 'retry-after': '5' });
  expect(await exited).toBe(0);
  expect(server.logged('server.drain_cut')).toMatchObject([{ limitMs: 1000 * DRAIN_SECONDS }]);
}, 420_000);

test('a gradient step that does not end is given up after its limit, and done again', async () => {
  await start(LIMITS);
  const jobId = await submitJob();
  expect(server.freeze('training')).toBe(true);
  expect(await server.stop()).toBe(0);
  expect(server.logged('server.step_cut')).toMatchObject([{ limitMs: 1000 * STEP_SECONDS }]);

  await server.start();
  await server.client.follow(jobId, { deadlineMs: 180_000 });
  const types = await eventTypes(jobId);
  const steps = types.length - 2;
  expect(types).toEqual(['training_started', ...new Array<string>(steps).fill('gradient_step'), 'training_ended']);
}, 420_000);
