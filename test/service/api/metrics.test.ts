// /metrics after a chat and a job: the values, that nothing identifies the callers, and that every query of the Grafana
// dashboard finds its metrics.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMetrics } from '#api/http/metrics';
import { observeJobs } from '#api/http/metrics-jobs';
import { measureStorage } from '#api/http/metrics-storage';
import { noTracing } from '#base/tracing';
import { AppError } from '#domain/errors';
import { BASE, chat, openTestServer, QUEUED_JOBS_MAX, send, type TestServer } from '../../support/api/test-server.ts';

const MODEL = { model_name: BASE };

let server: TestServer;
beforeAll(async () => {
  server = await openTestServer();
  const { services, storage } = server;
  const measured = measureStorage(storage, services.metrics.storage);
  await measured.ping();
  const job = await submitJob('first');
  const observer = observeJobs(services.metrics.jobs, noTracing);
  observer.began(job);
  const metrics = { loss: 0.5, entropy: 1, grad_norm: 2, kl_div: 0.1, kl_policy_ref: 0.2, 'of a client': 9 };
  observer.stepped(job, { baseModel: BASE, step: 1, of: 1, metrics, startMs: 1_000, endMs: 3_000 });
  const ofCheckpoint = { 'train/reward': 0.75, 'val/secret': 1 };
  observer.measured(job, { baseModel: BASE, metrics: ofCheckpoint, skipped: { equal_rewards: 3 } });
  observer.ended(job, 'succeeded');
});
afterAll(() => server.close());

async function submitJob(name: string) {
  const model = await send(server, {
    url: '/v1/preview/models',
    body: { project: 'secret-project', name, base_model: BASE },
  });
  const body = { model_id: model.json<{ id: string }>().id, trajectory_groups: [] };
  const { id } = (await send(server, { url: '/v1/preview/training-jobs', body })).json<{ id: string }>();
  return (await server.storage.jobs.find(id))!;
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function parseSamples(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels = '', value] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line)!;
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key!, text!] as const);
      return { name: name!, labels: Object.fromEntries(pairs), value: Number(value) };
    });
}

const readText = async () => (await send(server, { url: '/metrics', headers: { authorization: '' } })).body;
const read = async () => parseSamples(await readText());

/** The value of the sample with exactly these labels. */
async function value(name: string, labels: Readonly<Record<string, string>> = MODEL): Promise<number | undefined> {
  const key = (of: Readonly<Record<string, string>>) => JSON.stringify(Object.entries(of).sort());
  return (await read()).find((sample) => sample.name === name && key(sample.labels) === key(labels))?.value;
}

describe('chats', () => {
  test('are counted under the names of vLLM', async () => {
    const before = await read();
    const response = await send(server, { url: '/v1/chat/completions', body: chat({ n: 2, max_tokens: 4 }) });
    const { usage, choices } = response.json<{
      usage: { prompt_tokens: number; completion_tokens: number };
      choices: { finish_reason: string }[];
    }>();
    expect(choices.map((choice) => choice.finish_reason)).toEqual(['length', 'length']);
    const after = await read();
    const grown = (name: string, labels = {}) => {
      const find = (samples: Sample[]) =>
        samples.find(
          (sample) =>
            sample.name === name &&
            Object.entries({ ...MODEL, ...labels }).every(([key, text]) => sample.labels[key] === text),
        )?.value ?? 0;
      return find(after) - find(before);
    };
    expect(grown('vllm:prompt_tokens_total')).toBe(usage.prompt_tokens);
    expect(grown('vllm:generation_tokens_total')).toBe(usage.completion_tokens);
    expect(grown('vllm:request_success_total', { finished_reason: 'length' })).toBe(2);
    expect(grown('vllm:time_to_first_token_seconds_count')).toBe(1);
    expect(grown('vllm:inter_token_latency_seconds_count')).toBe(usage.completion_tokens - 2);
    expect(grown('vllm:e2e_request_latency_seconds_count')).toBe(1);
    expect(grown('vllm:request_prompt_tokens_sum')).toBe(usage.prompt_tokens);
    expect(grown('vllm:request_generation_tokens_count')).toBe(2);
    expect(grown('vllm:prefix_cache_queries_total')).toBe(usage.prompt_tokens);
  });

  test('whose prompt was already computed are cache hits', async () => {
    const body = chat({ messages: [{ role: 'user', content: 'The same words again and again. '.repeat(8) }] });
    await send(server, { url: '/v1/chat/completions', body });
    const before = (await value('vllm:prefix_cache_hits_total'))!;
    const { usage } = (await send(server, { url: '/v1/chat/completions', body })).json<{
      usage: { prompt_tokens_details: { cached_tokens: number } };
    }>();
    expect(usage.prompt_tokens_details.cached_tokens).toBeGreaterThan(0);
    expect(await value('vllm:prefix_cache_hits_total')).toBe(before + usage.prompt_tokens_details.cached_tokens);
  });

  test('that were aborted count as aborted, with the tokens they had', async () => {
    const { metrics, clock } = server.services;
    const reason = (finished_reason: string) => value('vllm:request_success_total', { ...MODEL, finished_reason });
    const [aborted, generated] = [(await reason('abort'))!, (await value('vllm:generation_tokens_total'))!];
    const observation = metrics.chat.begin({ baseModel: BASE, promptTokens: 3, choices: 2, startMs: 0, clock });
    observation.token(0);
    observation.token(1);
    observation.finish(1, { reason: 'stop' });
    observation.end(null, 'abort');
    expect(await reason('abort')).toBe(aborted + 1);
    expect(await value('vllm:generation_tokens_total')).toBe(generated + 2);
  });
});

describe('jobs', () => {
  test('count their steps, how long those took, and how they ended', async () => {
    const labels = { ...MODEL, type: 'rl' };
    expect(await value('whetstone_training_gradient_steps_total', labels)).toBe(1);
    expect(await value('whetstone_training_step_seconds_sum', labels)).toBe(2);
    expect(await value('whetstone_training_jobs_ended_total', { type: 'rl', status: 'succeeded' })).toBe(1);
    expect(await value('whetstone_training_jobs_ended_total', { type: 'sft', status: 'failed' })).toBe(0);
    expect(await value('whetstone_queue_limit', { queue: 'training_jobs' })).toBe(QUEUED_JOBS_MAX);
    expect(await value('whetstone_training_jobs', { status: 'queued' })).toBe(1);
    expect(await value('whetstone_training_jobs', { status: 'running' })).toBe(0);
  });

  test('that go back to the queue are not running and have not ended', async () => {
    const observer = observeJobs(server.services.metrics.jobs, noTracing);
    const job = await submitJob('second');
    const ended = async () =>
      (await read())
        .filter(({ name }) => name === 'whetstone_training_jobs_ended_total')
        .reduce((sum, { value }) => sum + value, 0);
    const before = await ended();
    observer.began(job);
    expect(await value('whetstone_training_jobs', { status: 'running' })).toBe(1);
    observer.ended(job, 'stopped');
    expect(await value('whetstone_training_jobs', { status: 'running' })).toBe(0);
    expect(await ended()).toBe(before);
    observer.ended(job, 'cancelled'); // while still in the queue
    expect(await value('whetstone_training_jobs', { status: 'running' })).toBe(0);
    expect(await ended()).toBe(before + 1);
  });
});

describe('storage', () => {
  test('metrics distinguish server faults from refusals that an operation intends', async () => {
    const store = {
      rows: {
        find: () => Promise.reject(new AppError('storage_unavailable', 'The disk is full.')),
        create: () => Promise.reject(new AppError('model_not_found', 'The model is gone.')),
        count: () => Promise.resolve(3),
      },
    };
    const measured = measureStorage(store, server.services.metrics.storage);
    await expect(measured.rows.find()).rejects.toThrow('The disk is full.');
    await expect(measured.rows.create()).rejects.toThrow('The model is gone.');
    expect(await measured.rows.count()).toBe(3);
    expect(await value('whetstone_storage_faults_total', { operation: 'rows.find' })).toBe(1);
    expect(await value('whetstone_storage_faults_total', { operation: 'rows.create' })).toBe(0);
    expect(await value('whetstone_storage_operation_seconds_count', { operation: 'rows.count' })).toBe(1);
  });

  test('that fails leaves the other metrics readable', async () => {
    const broken = await openTestServer();
    broken.storage.jobs.count = () => Promise.reject(new Error('disk gone'));
    const { statusCode, body } = await send(broken, { url: '/metrics' });
    expect(statusCode).toBe(200);
    expect(body).toContain('whetstone_training_jobs{status="queued"} Nan');
    await broken.close();
  });
});

test('requests in flight are those without an answer yet', async () => {
  expect(await value('whetstone_http_requests_in_flight', {})).toBe(1); // this one
});

test('nothing in the metrics identifies the caller, the content or the key', async () => {
  const { secret, key } = await server.apiKeys.create({ entity: 'secret-entity', name: 'secret-name' });
  const headers = { authorization: `Bearer ${secret}`, 'x-request-id': 'secret-request' };
  await send(server, { url: '/v1/chat/completions', headers, body: chat({ user: 'secret-user' }) });
  await send(server, { url: '/v1/chat/completions', headers, body: chat({ model: 'secret-model' }) });
  await send(server, { url: '/v1/secret-path', headers });
  const text = await readText();
  expect(text).not.toContain('secret');
  expect(text).not.toContain(key.id);
});

test('every metric states its unit or what it counts', async () => {
  const text = await readText();
  const helps = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].filter(([, name]) => !/_(nodejs|process)_/.test(name!));
  expect(helps.length).toBeGreaterThan(20);
  for (const [, name, help] of helps) {
    if (name!.endsWith('_seconds')) expect(help, name).toContain('in seconds');
    if (name!.includes('tokens')) expect(help, name).toMatch(/tokens/i);
  }
});

test('metrics of training have a few fixed names, never those of clients', async () => {
  const latest = (await read()).filter(({ name }) => name === 'whetstone_training_latest');
  expect(Object.fromEntries(latest.map(({ labels, value: number }) => [labels['quantity'], number]))).toEqual({
    loss: 0.5,
    entropy: 1,
    grad_norm: 2,
    kl_div: 0.1,
    kl_policy_ref: 0.2,
    'train/reward': 0.75,
  });
  const labels = { reason: 'equal_rewards', type: 'rl', ...MODEL };
  expect(await value('whetstone_training_skipped_total', labels)).toBe(3);
});

const A_WORKER = {
  ...{ model: BASE, name: 'gpu-1', count: 1, running: 0, waiting: 0, sessions: 0, adapters: 0, silentMs: 0 },
  ...{ tokens: 1, reconnects: 0, calls: 1, waitedMs: 1, messageBytes: 1 },
};

describe('the Grafana dashboard', () => {
  interface Dashboard {
    readonly schemaVersion: number;
    readonly templating: { readonly list: readonly { name: string; definition?: string }[] };
    readonly panels: readonly { id: number; title: string; targets?: readonly { expr: string }[] }[];
  }
  const path = new URL('../../../deploy/grafana/whetstone.json', import.meta.url);
  const dashboard = JSON.parse(readFileSync(path, 'utf8')) as Dashboard;
  const queries = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

  test('has panels with unique ids, each with queries', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(queries.length).toBeGreaterThan(20);
  });

  test('queries only metrics and labels that the server has', async () => {
    const withWorker = createMetrics({
      ...{ baseModels: () => [], workers: () => [A_WORKER], queuedJobs: async () => 0, queuedJobsMax: 1 },
      episodes: async () => ({ open: 1, rewarded: 0, trained: 0, expired: 0 }),
    });
    const samples = [...(await read()), ...parseSamples(await withWorker.text())];
    const labelsOf = (name: string) =>
      new Set(samples.filter((sample) => sample.name === name).flatMap(({ labels }) => Object.keys(labels)));
    const variables = dashboard.templating.list.flatMap(({ name, definition = '' }) => {
      const [, metric, label] = /^label_values\(([\w:]+), (\w+)\)$/.exec(definition) ?? [];
      return metric ? [{ title: `variable ${name}`, expr: `count by (${label}) (${metric})` }] : [];
    });
    expect(variables).toHaveLength(1);
    for (const { title, expr } of [...queries, ...variables]) {
      const metrics = [...expr.matchAll(/\b((?:vllm:|whetstone_)[\w:]+)(?:\{([^}]*)\})?/g)];
      expect(metrics.length, title).toBeGreaterThan(0);
      const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels]) => labels!.split(/,\s*/));
      for (const [, name, matchers = ''] of metrics) {
        expect(
          samples.some((sample) => sample.name === name),
          `${title}: ${name}`,
        ).toBe(true);
        const asked = [...matchers.matchAll(/(\w+)\s*[=!]~?/g)].map(([, label]) => label!);
        for (const label of [...asked, ...grouped])
          expect(labelsOf(name!), `${title}: ${name} by ${label}`).toContain(label);
      }
    }
  });
});
