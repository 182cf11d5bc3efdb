// Spans as a collector receives them: a small collector listens here, and the environment of a server names it.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { observeJobs } from '#api/http/metrics-jobs';
import { silentLog, type Log } from '#base/log';
import { NO_SPAN, noTracing, openTracing, planTracing, type Tracing } from '#base/tracing';
import { AppError } from '#domain/errors';
import type { InferenceEngine } from '#engine/inference-engine';
import {
  asOwner,
  BASE,
  chat,
  openTestServer,
  send,
  type TestServer,
  type TestServerOptions,
} from '../../support/api/test-server.ts';

/** The parts of opentelemetry/proto/trace/v1/trace.proto that are read. */
const PROTO = `
  syntax = "proto3";
  message Traces { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9; repeated Event events = 11; repeated Link links = 13; Status status = 15;
  }
  message Event { string name = 2; }
  message Link { bytes trace_id = 1; bytes span_id = 2; }
  message Status { int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value {
    string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; Strings array_value = 5;
  } }
  message Strings { repeated AnyValue values = 1; }`;
const TRACES = protobuf.parse(PROTO).root.lookupType('Traces');

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>> & { readonly arrayValue?: { values: { stringValue: string }[] } };
}

interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly events: readonly { name: string }[];
  readonly links: readonly { traceId: string; spanId: string }[];
  readonly status: { code: number } | null;
}

interface SentTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

interface Collector {
  readonly url: string;
  readonly bodies: Buffer[];
  readonly paths: string[];
  spans(): SentSpan[];
  /** The only span of this name. */
  span(name: string): SentSpan;
  resource(): Record<string, unknown>;
  close(): Promise<void>;
}

async function openCollector(answer: 'at once' | 'never' = 'at once'): Promise<Collector> {
  const bodies: Buffer[] = [];
  const paths: string[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks));
      paths.push(request.url!);
      if (answer === 'at once') response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sent = () =>
    bodies.map((body) => {
      const options = { bytes: String, longs: String, defaults: true };
      return TRACES.toObject(TRACES.decode(body), options) as SentTraces;
    });
  const spans = () =>
    sent().flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    paths,
    spans,
    span(name) {
      const named = spans().filter((span) => span.name === name);
      expect(named, `spans named ${name} among ${spans().map((span) => span.name)}`).toHaveLength(1);
      return named[0]!;
    },
    resource: () => attributesOf(sent()[0]!.resourceSpans[0]!.resource),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function attributesOf({ attributes }: { attributes: readonly KeyValue[] }): Record<string, unknown> {
  const plain = ({ arrayValue, stringValue, intValue, doubleValue, boolValue }: KeyValue['value']) =>
    arrayValue?.values.map((each) => each.stringValue) ??
    stringValue ??
    (intValue === undefined ? undefined : Number(intValue)) ??
    doubleValue ??
    boolValue;
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
}

const hex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex');

let collector: Collector;
let open: TestServer[] = [];
let tracing: Tracing;

beforeEach(async () => {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name];
  collector = await openCollector();
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url;
});
afterEach(async () => {
  for (const server of open) await server.close();
  open = [];
  await collector.close();
});

async function openTracedServer(options: TestServerOptions = {}): Promise<TestServer> {
  tracing = await openTracing({ version: '0.0.0-test', log: silentLog });
  const server = await openTestServer({ ...options, tracing });
  open.push(server);
  return server;
}

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';
const TRACEPARENT = `00-${TRACE_ID}-${PARENT_ID}-01`;
const SERVER_KIND = 2;
const ERROR_STATUS = 2;

describe('a chat request', () => {
  test('is a span in the trace of its caller, with the generation as its child', async () => {
    process.env['OTEL_SERVICE_NAME'] = 'whetstone-in-a-test';
    process.env['OTEL_RESOURCE_ATTRIBUTES'] = 'deployment.environment.name=test';
    const server = await openTracedServer();
    const headers = { traceparent: TRACEPARENT, 'x-request-id': 'request-7' };
    const response = await send(server, { url: '/v1/chat/completions', headers, body: chat({ max_tokens: 4 }) });
    const { usage } = response.json<{ usage: { prompt_tokens: number; completion_tokens: number } }>();
    await tracing.close();

    expect(collector.paths).toContain('/v1/traces');
    expect(collector.resource()).toMatchObject({
      'service.name': 'whetstone-in-a-test',
      'service.version': '0.0.0-test',
      'deployment.environment.name': 'test',
    });
    const request = collector.span('POST /v1/chat/completions');
    expect([hex(request.traceId), hex(request.parentSpanId), request.kind]).toEqual([TRACE_ID, PARENT_ID, SERVER_KIND]);
    expect(attributesOf(request)).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
      'whetstone.request_id': 'request-7',
    });
    const generation = collector.span(`chat ${BASE}`);
    expect([generation.traceId, generation.parentSpanId]).toEqual([request.traceId, request.spanId]);
    expect(attributesOf(generation)).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'whetstone',
      'gen_ai.request.model': BASE,
      'gen_ai.usage.input_tokens': usage.prompt_tokens,
      'gen_ai.usage.output_tokens': 4,
      'gen_ai.usage.cache_read.input_tokens': 0,
      'gen_ai.response.finish_reasons': ['length'],
    });
    expect(generation.events.map(({ name }) => name)).toEqual(['first_token']);
  });

  test('leaves no prompt, answer, key, entity or path in the sent spans', async () => {
    const server = await openTracedServer();
    const { secret } = await server.apiKeys.create({ entity: 'secret-entity', name: 'secret-name' });
    const headers = { authorization: `Bearer ${secret}` };
    const body = chat({ messages: [{ role: 'user', content: 'secret prompt' }], user: 'secret-user' });
    const { choices } = (await send(server, { url: '/v1/chat/completions', headers, body })).json<{
      choices: { message: { content: string } }[];
    }>();
    await send(server, { url: '/v1/chat/completions', headers, body: chat({ model: 'secret-model' }) });
    await send(server, { url: '/v1/preview/models/secret-id?secret=1', headers });
    await tracing.close();
    const sent = Buffer.concat(collector.bodies).toString();
    expect(sent).toContain('gen_ai.usage.output_tokens');
    expect(sent).not.toContain('secret');
    expect(sent).not.toContain(secret);
    expect(sent).not.toContain(choices[0]!.message.content);
  });

  test('that fails in the engine is marked with its error code', async () => {
    const wrapEngine = (engine: InferenceEngine): InferenceEngine => ({
      contextLength: engine.contextLength,
      vocabSize: engine.vocabSize,
      prepare: (constraint, payer, signal) => engine.prepare(constraint, payer, signal),
      loadAdapter: (adapter) => engine.loadAdapter(adapter),
      unloadAdapter: (id) => engine.unloadAdapter(id),
      status: () => engine.status(),
      close: () => engine.close(),
      generate: () => {
        throw new AppError('engine_failed', 'secret prompt');
      },
    });
    const server = await openTracedServer({ wrapEngine });
    const response = await send(server, { url: '/v1/chat/completions', body: chat() });
    expect(response.statusCode).toBe(500);
    await tracing.close();
    const generation = collector.span(`chat ${BASE}`);
    expect(attributesOf(generation)).toMatchObject({ 'error.type': 'engine_failed' });
    expect(generation.status?.code).toBe(ERROR_STATUS);
    const request = collector.span('POST /v1/chat/completions');
    expect(attributesOf(request)).toMatchObject({ 'error.type': '500', 'http.response.status_code': 500 });
    expect(Buffer.concat(collector.bodies).toString()).not.toContain('secret prompt');
    const metrics = (await send(server, { url: '/metrics' })).body;
    expect(metrics).toContain(`vllm:request_success_total{model_name="${BASE}",finished_reason="error"} 1`);
  });

  test('whose client leaves ends its span, which says so', async () => {
    const server = await openTracedServer();
    const url = await server.app.listen({ port: 0, host: '127.0.0.1' });
    const leaving = new AbortController();
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...asOwner, 'content-type': 'application/json' },
      body: JSON.stringify(chat({ stream: true, max_tokens: 400, ignore_eos: true })),
      signal: leaving.signal,
    });
    await response.body!.getReader().read();
    leaving.abort();
    const aborted = async () => /finished_reason="abort"\} 1/.test(await server.services.metrics.text());
    await expect.poll(aborted).toBe(true);
    await tracing.close();
    const request = collector.span('POST /v1/chat/completions');
    expect(request.events.map(({ name }) => name)).toEqual(['client.left']);
    expect(attributesOf(collector.span(`chat ${BASE}`))).toMatchObject({ 'gen_ai.response.finish_reasons': [] });
  });
});

test('an unknown path is a span without a route', async () => {
  const server = await openTracedServer();
  await send(server, { url: '/v1/nothing-here' });
  await tracing.close();
  expect(attributesOf(collector.span('GET'))).not.toHaveProperty('http.route');
});

test('a caller’s decision not to sample is respected: nothing is sent', async () => {
  const server = await openTracedServer();
  await send(server, { url: '/v1/health', headers: { traceparent: TRACEPARENT.replace(/01$/, '00') } });
  await tracing.close();
  expect(collector.spans()).toEqual([]);
});

test('OTEL_TRACES_SAMPLER decides for requests without a caller’s trace', async () => {
  process.env['OTEL_TRACES_SAMPLER'] = 'always_off';
  const server = await openTracedServer();
  await send(server, { url: '/v1/health' });
  await tracing.close();
  expect(collector.spans()).toEqual([]);
});

test('an attempt at a job has its own trace, linked to the request that submitted the job', async () => {
  const server = await openTracedServer();
  const model = { project: 'p', name: 'traced', base_model: BASE };
  const { id: model_id } = (await send(server, { url: '/v1/preview/models', body: model })).json<{ id: string }>();
  const body = { model_id, trajectory_groups: [] };
  const { id } = (await send(server, { url: '/v1/preview/training-jobs', body })).json<{ id: string }>();
  const job = { ...(await server.storage.jobs.find(id))!, attempt: 2 };
  const observer = observeJobs(server.services.metrics.jobs, tracing);
  const startMs = Date.now();
  observer.began(job);
  observer.stepped(job, { baseModel: BASE, step: 1, of: 2, metrics: { loss: 0.25 }, startMs, endMs: startMs + 40 });
  observer.stepped(job, {
    baseModel: BASE,
    step: 2,
    of: 2,
    metrics: {},
    startMs: startMs + 50,
    endMs: startMs + 60,
  });
  observer.ended(job, 'failed', new AppError('row_too_long', 'A row of somebody is too long.'));
  await tracing.close();

  const submitted = collector.span('POST /v1/preview/training-jobs');
  const attempt = collector.span('training_job rl');
  expect(attempt.parentSpanId).toBe('');
  expect(attempt.traceId).not.toBe(submitted.traceId);
  expect(attempt.links).toMatchObject([{ traceId: submitted.traceId, spanId: submitted.spanId }]);
  expect(attributesOf(attempt)).toEqual({
    'whetstone.job.id': id,
    'whetstone.job.type': 'rl',
    'whetstone.job.attempt': 2,
    'whetstone.job.outcome': 'failed',
    'gen_ai.request.model': BASE,
    'error.type': 'row_too_long',
  });
  const steps = collector.spans().filter(({ name }) => name === 'gradient_step');
  expect(steps.map(attributesOf)).toEqual([
    { 'whetstone.step': 1, 'whetstone.steps': 2, 'whetstone.loss': 0.25 },
    { 'whetstone.step': 2, 'whetstone.steps': 2 },
  ]);
  expect(steps.map(({ parentSpanId }) => parentSpanId)).toEqual([attempt.spanId, attempt.spanId]);
  const tookNs = steps.map((step) => BigInt(step.endTimeUnixNano) - BigInt(step.startTimeUnixNano));
  expect(tookNs).toEqual([40_000_000n, 10_000_000n]);
});

describe('a collector', () => {
  function listening(): { log: Log; warnings: string[] } {
    const warnings: string[] = [];
    return { log: { ...silentLog, warn: (event) => void warnings.push(event) }, warnings };
  }

  test('that does not answer delays the shutdown of the server by 3 s, and no longer', async () => {
    const silent = await openCollector('never');
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = silent.url;
    const { log, warnings } = listening();
    const stuck = await openTracing({ version: '0', log });
    stuck.serve('GET /', {}, {}).end();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }); // only the test moves the clock
    try {
      let isClosed = false;
      const closed = stuck.close().then(() => (isClosed = true));
      while (silent.bodies.length === 0) await new Promise(setImmediate); // it received the request
      await vi.advanceTimersByTimeAsync(2_999);
      expect(isClosed).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      await closed;
    } finally {
      vi.useRealTimers();
    }
    expect(warnings).toContain('tracing.not_flushed');
    await silent.close();
  });

  test('is not needed: without an endpoint spans do nothing', async () => {
    delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
    expect(await openTracing({ version: '0', log: silentLog })).toBe(noTracing);
    const span = noTracing.serve('GET /', {}, {});
    expect([span, span.child('x'), noTracing.work('x', 'id', {})]).toEqual([NO_SPAN, NO_SPAN, NO_SPAN]);
  });

  test('that speaks another protocol gets a warning, and the server starts', async () => {
    process.env['OTEL_EXPORTER_OTLP_PROTOCOL'] = 'grpc';
    const { log, warnings } = listening();
    expect(await openTracing({ version: '0', log })).toBe(noTracing);
    expect(warnings).toEqual(['tracing.unsupported']);
    delete process.env['OTEL_EXPORTER_OTLP_PROTOCOL'];
  });
});

describe('the environment', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
  test.each([
    ['nothing set', {}, null],
    ['an empty endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, null],
    ['an endpoint', endpoint, 'on'],
    ['an endpoint for traces', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/v1/traces' }, 'on'],
    ['the SDK disabled', { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }, null],
    ['no exporter', { ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, null],
    ['our exporter among others', { ...endpoint, OTEL_TRACES_EXPORTER: 'console, otlp' }, 'on'],
    [
      'another exporter',
      { ...endpoint, OTEL_TRACES_EXPORTER: 'zipkin' },
      { unsupported: 'OTEL_TRACES_EXPORTER=zipkin' },
    ],
    ['our protocol', { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }, 'on'],
    [
      'another protocol for traces',
      { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' },
      { unsupported: 'OTEL_EXPORTER_OTLP_PROTOCOL=http/json' },
    ],
  ])('%s', (_name, env, plan) => {
    expect(planTracing(env)).toEqual(plan);
  });
});
