// The server as `whetstone serve` starts it (SQLite, files, engines in child processes) with real clients: the official
// openai package and our own.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import OpenAI from 'openai';
import { extract } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { ApiError, createClient, TrainingFailedError, type Client, type TrainingEvent } from '#client/client';
import { readServerConfig } from '../../../src/config/server-config.ts';
import { startServer, type RunningServer } from '../../../src/main.ts';
import { skipOutsideLinux } from '../../support/skipping.ts';
import { writeTinyChatModel } from '../../support/api/tiny-chat-model.ts';

let modelDirectory: string;
let dataDirectory: string;
let server: RunningServer;
let client: Client;
let openai: OpenAI;
let base: string;
let key: string;

const configOf = (directory: string) =>
  readServerConfig({ port: '0', data: directory, model: [modelDirectory], basePath: '/api/training' }, {});

beforeAll(async () => {
  modelDirectory = await writeTinyChatModel();
  dataDirectory = await mkdtemp(join(tmpdir(), 'whetstone-data-'));
  base = basename(modelDirectory);
  server = await startServer(configOf(dataDirectory), silentLog);
  key = server.firstKey!;
  connect();
});
afterAll(async () => {
  await server.close();
  await rm(dataDirectory, { recursive: true, force: true });
  await rm(modelDirectory, { recursive: true, force: true });
});

function connect(): void {
  client = createClient({ baseUrl: `${server.url}/api/training/v1/`, apiKey: key });
  openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: key, maxRetries: 0 });
}

const messages = [{ role: 'user' as const, content: 'Say something.' }];

describe('the openai package', () => {
  const request = () => ({ model: base, messages, max_tokens: 12, temperature: 0 });

  test('gets an answer', async () => {
    const answer = await openai.chat.completions.create(request());
    expect(answer.choices[0]!.message.content).not.toBe('');
    expect(answer.usage!.completion_tokens).toBe(12);
    expect(answer._request_id).toMatch(/^[0-9a-f]{32}$/);
  });

  test('streams the same answer', async () => {
    const whole = await openai.chat.completions.create(request());
    const stream = openai.chat.completions.stream({ ...request(), stream_options: { include_usage: true } });
    expect((await stream.finalChatCompletion()).choices[0]!.message.content).toBe(whole.choices[0]!.message.content);
    expect((await stream.totalUsage()).total_tokens).toBe(whole.usage!.total_tokens);
  });

  test('lists models', async () => {
    expect((await openai.models.list()).data.map(({ id }) => id)).toContain(base);
    expect((await openai.models.retrieve(base)).id).toBe(base);
  });

  test('maps our errors to its own', async () => {
    const wrongKey = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'wk-wrong', maxRetries: 0 });
    await expect(wrongKey.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    const unknown = openai.chat.completions.create({ ...request(), model: 'nope' });
    await expect(unknown).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
      type: 'not_found_error',
    });
    const invalid = openai.chat.completions.create({ ...request(), temperature: -1 });
    await expect(invalid).rejects.toBeInstanceOf(OpenAI.UnprocessableEntityError);
    await expect(invalid).rejects.toThrow(/body\.temperature.*greater_than_equal/);
    const tooLong = openai.chat.completions.create({ ...request(), max_tokens: 100_000 });
    await expect(tooLong).rejects.toMatchObject({ status: 400, code: 'context_length_exceeded' });
  });

  test('leaving a stream ends the generation', async () => {
    const stream = await openai.chat.completions.create({ ...request(), max_tokens: 200, stream: true });
    for await (const chunk of stream) if (chunk.choices[0]!.delta.content) break;
    const deadline = Date.now() + 10_000;
    let running = 1;
    while (running > 0 && Date.now() < deadline) {
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      running = Number(/vllm:num_requests_running\{[^}]*\} (\d+)/.exec(metrics)![1]);
    }
    expect(running).toBe(0);
  });
});

/** Two samples for each of two prompts; the reward prefers one of each pair. */
async function rollouts(model: string) {
  return Promise.all(
    ['one', 'two'].map(async (content) => {
      const prompt = [{ role: 'user', content }];
      const { choices } = await client.chat({ model, messages: prompt, n: 2, temperature: 1, max_tokens: 8 });
      return { trajectories: choices.map((choice, i) => ({ messages_and_choices: [...prompt, choice], reward: i })) };
    }),
  );
}

describe('training through our own client', () => {
  test('a job makes the next step, which is listed, callable and downloadable when the job ends', async () => {
    const model = await client.registerModel({ project: 'p', name: 'agent', base_model: base });
    expect(await client.registerModel({ project: 'p', name: 'agent', base_model: base })).toEqual(model);
    const name = `wandb-artifact:///${model.entity}/p/agent`;

    const job = {
      model_id: model.id,
      trajectory_groups: await rollouts(name),
      experimental_config: { learning_rate: 1e-3 },
    };
    const { id } = await client.submitTrainingJob(job, { idempotencyKey: 'first' });
    expect(await client.submitTrainingJob(job, { idempotencyKey: 'first' })).toEqual({ id });
    const events: TrainingEvent[] = [];
    const finished = await client.follow(id, { deadlineMs: 60_000, onEvent: (event) => events.push(event) });

    expect(finished).toMatchObject({ id, status: 'succeeded', step: 1, progress: 1, error_message: null });
    expect(events[0]).toMatchObject({ type: 'training_started', data: { num_sequences: events.length - 2 } });
    expect(
      events
        .slice(1, -1)
        .every(({ type, data }) => type === 'gradient_step' && Object.values(data).every(Number.isFinite)),
    ).toBe(true);
    expect(events.at(-1)!.type).toBe('training_ended');
    const listed: TrainingEvent[] = [];
    for await (const event of client.listEvents(id)) listed.push(event);
    expect(listed).toEqual(events);

    const steps: number[] = [];
    for await (const { step } of client.listCheckpoints(model.id, { order: 'desc' })) steps.push(step);
    expect(steps).toEqual([1, 0]);
    const [latest, before] = await Promise.all([
      client.chat({ model: name, messages }),
      client.chat({ model: `${name}:step0`, messages }),
    ]);
    expect([latest.model, before.model]).toEqual([`${name}:step1`, `${name}:step0`]);

    const files = new Map<string, number>();
    const { content } = await client.downloadCheckpoint(model.id, 'latest');
    for await (const entry of Readable.from(content).pipe(extract())) {
      files.set(entry.header.name, entry.header.size);
      entry.resume();
    }
    expect([...files.keys()].sort()).toEqual(['adapter_config.json', 'adapter_model.safetensors']);

    expect(await client.log(model.id, { split: 'val', trajectory_groups: job.trajectory_groups })).toMatchObject({
      step: 1,
      metrics: { 'val/reward': 0.5 },
    });
    expect(await client.deleteCheckpoints(model.id, [0])).toEqual({ deleted_count: 1, not_found_steps: [] });
  });

  test('data that cannot be learnt from is reported in the record and the events', async () => {
    const model = await client.registerModel({ project: 'p', name: 'nothing', base_model: base });
    const plain = { messages_and_choices: [...messages, { role: 'assistant', content: 'no tokens here' }] };
    const { id } = await client.submitTrainingJob({
      model_id: model.id,
      trajectory_groups: [
        {
          trajectories: [
            { ...plain, reward: 0 },
            { ...plain, reward: 1 },
          ],
        },
      ],
    });
    const events: TrainingEvent[] = [];
    const job = await client.follow(id, { deadlineMs: 60_000, onEvent: (event) => events.push(event) });
    expect(events.map(({ type }) => type)).toEqual(['training_started', 'training_ended']);
    expect(events[0]!.data).toMatchObject({ num_sequences: 0 });
    expect(job.status).toBe('succeeded');
    expect(job.skipped).toHaveProperty('no_trainable_tokens');
  });

  test('a cancelled job ends in training_failed', async () => {
    const model = await client.registerModel({ project: 'p', name: 'cancelled', base_model: base });
    const groups = await rollouts('default/p/cancelled');
    const many = Array.from({ length: 60 }, () => groups).flat();
    const submit = () =>
      client.submitTrainingJob({
        model_id: model.id,
        trajectory_groups: many,
        experimental_config: { packed_sequence_length: 64 },
      });
    const [, { id }] = [await submit(), await submit()];
    await client.cancelTrainingJob(id);
    const waiting = client.follow(id, { deadlineMs: 60_000 });
    await expect(waiting).rejects.toThrow(TrainingFailedError);
    await expect(waiting).rejects.toThrow('cancelled');
    expect((await client.getTrainingJob(id)).status).toBe('cancelled');
    await expect(client.cancelTrainingJob(id)).rejects.toMatchObject({ status: 409, code: 'job_finished' });
  });

  test('errors carry what is needed to ask about them', async () => {
    const error = await client.getModel('nope').catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 404,
      code: 'model_not_found',
      requestId: expect.stringMatching(/./) as unknown,
    });
  });
});

/** Process id of one of our engines; the server under test runs in this process. */
async function enginePid(role: 'inference' | 'training'): Promise<number> {
  const children = (await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')).trim().split(' ');
  for (const pid of children) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (command.includes('worker') && command.includes(`\0${role}\0`)) return Number(pid);
  }
  throw new Error(`no ${role} process among ${children.join(', ')}`);
}

describe('kill -9', skipOutsideLinux(), () => {
  test('of the sampler in the middle of a stream causes a pause, not another answer', async () => {
    const request = { model: base, messages, max_tokens: 150, temperature: 1, seed: 11, n: 2 };
    const undisturbed = await client.chat(request);
    const stream = await openai.chat.completions.create({ ...request, stream: true });
    const texts = ['', ''];
    let chunks = 0;
    for await (const chunk of stream) {
      if (++chunks === 20) process.kill(await enginePid('inference'), 'SIGKILL');
      for (const { index, delta } of chunk.choices) texts[index] += delta.content ?? '';
    }
    expect(texts).toEqual(undisturbed.choices.map(({ message }) => message.content));
  });

  test('of the trainer in the middle of a job loses no event and repeats none', async () => {
    const model = await client.registerModel({ project: 'p', name: 'survivor', base_model: base });
    const groups = await rollouts('default/p/survivor');
    const many = Array.from({ length: 8 }, () => groups).flat();
    const { id } = await client.submitTrainingJob({
      model_id: model.id,
      trajectory_groups: many,
      experimental_config: { packed_sequence_length: 64 },
    });
    const events: TrainingEvent[] = [];
    const onEvent = (event: TrainingEvent) => {
      events.push(event);
      if (events.length === 3) void enginePid('training').then((pid) => process.kill(pid, 'SIGKILL'));
    };
    const job = await client.follow(id, { deadlineMs: 50_000, onEvent });
    expect(job).toMatchObject({ status: 'succeeded', step: 1 });
    expect(new Set(events.map((event) => event.id)).size).toBe(events.length);
    const steps = events.filter(({ type }) => type === 'gradient_step'); // beside them: what the job waits for
    expect(steps.map(({ data }) => (data as { gradient_step?: number }).gradient_step)).toEqual(
      steps.map((_, i) => i + 1),
    );
    expect(events[0]!.data).toMatchObject({ num_sequences: steps.length });
    expect((await client.chat({ model: 'default/p/survivor', messages })).model).toMatch(/:step1$/);
  });
});

describe('starting and stopping', () => {
  test('a second server on the same data is refused with the reason', async () => {
    await expect(startServer(configOf(dataDirectory), silentLog)).rejects.toThrow(
      /in use by the server with process id \d+/,
    );
  });

  test('a taken port is refused with the reason before a model is loaded, and the data stays free', async () => {
    const other = await mkdtemp(join(tmpdir(), 'whetstone-data-'));
    const listen = { host: '127.0.0.1', port: Number(new URL(server.url).port) };
    const taken = { ...configOf(other), models: [join(other, 'nothing')], listen };
    await expect(startServer(taken, silentLog)).rejects.toThrow(/is in use by another program. Choose another/);
    const free = await startServer(configOf(other), silentLog);
    await free.close();
    await rm(other, { recursive: true, force: true });
  });

  test('a restart keeps keys, models and steps, and makes no new key', async () => {
    const before = (await openai.models.list()).data.map(({ id }) => id);
    await server.close();
    server = await startServer(configOf(dataDirectory), silentLog);
    connect();
    expect(server.firstKey).toBeNull();
    expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(before);
    expect((await client.chat({ model: 'default/p/agent', messages })).model).toMatch(/:step1$/);
  });
});
