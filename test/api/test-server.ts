// The whole API over memory storage and a tiny real model, and tables of requests to send to it: each row says what goes
// in, what comes out, and what it left behind.
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { expect, test } from 'vitest';
import { createApp } from '#api/app';
import type { ApiLimits, ApiServices } from '#api/api-services';
import { createMetrics } from '#api/metrics';
import type { Clock } from '#base/clock';
import { silentLog, type Log } from '#base/log';
import type { Role } from '#domain/role';
import { noTracing, type Tracing } from '#base/tracing';
import type { InferenceEngine } from '#engine/inference-engine';
import { createAccountLimits } from '#services/account-limits';
import { createApiKeys, type ApiKeys } from '#services/api-keys';
import { createArtifacts } from '#services/artifacts';
import { createBaseModels } from '#services/base-models';
import { createChargedBlobs } from '#services/charged-blobs';
import { createChat, type ChatSettings } from '#services/chat';
import type { TemplateSandbox } from '#text/template-sandbox/template-sandbox';
import { createCheckpoints } from '#services/checkpoints';
import { createHealth } from '#services/health';
import { createIdempotent } from '#services/idempotency';
import { createJobEvents, type JobEvents } from '#services/job-events';
import { createLogTrajectories } from '#services/log-trajectories';
import { createModels } from '#services/models';
import { createSampledTokens, recallTokens } from '#services/sampled-tokens';
import { createTrainingJobs } from '#services/training-jobs';
import { createUsage } from '#services/usage';
import { createWebhooks } from '#services/webhooks';
import { createMemoryBlobs } from '#storage/blobs/memory';
import { createMemoryStorage } from '#storage/memory';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { openTinyChatModel, type TinyChatModel } from './tiny-chat-model.ts';

export const BASE = 'tiny/chat';
export const FILE_BYTES_MAX = 1_000_000;
export const QUEUED_JOBS_MAX = 4;
export const BOOTSTRAP_KEY = 'wk-bootstrap';

const LIMITS: ApiLimits = {
  basePath: '',
  bodyBytesMax: 64_000,
  trainingBodyBytesMax: 256_000,
  fileBytesMax: FILE_BYTES_MAX,
  bodyPace: { stallMs: 30_000, bytesPerSecondMin: 1_000 },
  connections: { connectionsMax: 1_000, headersMs: 20_000, lingerMs: 1_000, writeStallMs: 60_000 },
  pingMs: 10_000,
  keepAliveMs: 70_000,
};

export interface TestServer {
  readonly app: FastifyInstance;
  readonly services: ApiServices;
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly apiKeys: ApiKeys;
  readonly jobEvents: JobEvents;
  readonly model: TinyChatModel;
  /** Time stands still until a test moves it. */
  readonly clock: Clock & { advance(ms: number): void };
  close(): Promise<void>;
}

export interface TestServerOptions {
  readonly limits?: Partial<ApiLimits>;
  readonly settings?: Partial<ChatSettings>;
  readonly sandbox?: TemplateSandbox | null;
  readonly tracing?: Tracing;
  readonly roles?: readonly Role[];
  readonly engine?: Parameters<typeof openTinyChatModel>[1];
  /** Put around the real engine, to make it fail. */
  readonly wrapEngine?: (engine: InferenceEngine) => InferenceEngine;
  readonly log?: Log;
  /** Instead of those of the server's own. Who gives them closes them. */
  readonly given?: {
    readonly storage: Storage;
    readonly blobs: BlobStore;
    readonly model: TinyChatModel;
    readonly clock: TestServer['clock'];
  };
}

export async function openTestServer({
  limits: apiLimits,
  settings,
  sandbox = null,
  tracing = noTracing,
  roles,
  engine,
  wrapEngine = (real) => real,
  given,
  log = silentLog,
}: TestServerOptions = {}): Promise<TestServer> {
  const model = given?.model ?? (await openTinyChatModel(BASE, engine));
  const clock = given?.clock ?? standingClock(Date.UTC(2026, 5, 1));
  const storage = given?.storage ?? createMemoryStorage();
  const blobs = createChargedBlobs(given?.blobs ?? createMemoryBlobs(), storage.accounts);
  const sampledTokens = createSampledTokens();
  const usage = createUsage({ storage: storage.usage, log });
  const jobEvents = createJobEvents();
  const baseModels = createBaseModels([{ ...model, inference: wrapEngine(model.inference) }]);
  const apiKeys = createApiKeys({ store: storage.apiKeys, clock, log, bootstrapKey: BOOTSTRAP_KEY });
  const limits = createAccountLimits({ storage, clock });
  const models = createModels({ storage, blobs, baseModels, limits, clock, log });
  const artifacts = createArtifacts({ storage, blobs, clock, log, fileBytesMax: FILE_BYTES_MAX, limits });
  const health = createHealth({ storage, baseModels, trainingFaults: () => [], clock, deadlineMs: 1_000 });
  const services: ApiServices = {
    apiKeys, accountLimits: limits, baseModels, models, usage, health, clock, log,
    chat: createChat({
      models,
      sampledTokens,
      recordUsage: (use) => usage.record(use),
      sandbox,
      settings: { priorities: false, logprobsMax: 20, ...settings },
      limits,
      clock,
      log,
    }),
    artifacts,
    webhooks: createWebhooks({ store: storage.webhooks, jobEvents, clock }),
    checkpoints: createCheckpoints({ storage, blobs, baseModels, log }),
    trainingJobs: createTrainingJobs({ storage, blobs, jobEvents, clock, log, queuedJobsMax: QUEUED_JOBS_MAX, recall: (body, model) => recallTokens(body, model, baseModels, sampledTokens), artifacts, limits }),
    logTrajectories: createLogTrajectories({ storage, blobs, limits }),
    idempotent: createIdempotent(storage.idempotency, clock),
    metrics: createMetrics({ baseModels: () => baseModels.list(), queuedJobs: () => health.queuedJobs(), queuedJobsMax: QUEUED_JOBS_MAX }),
    tracing,
  }; // prettier-ignore
  const app = createApp({
    services,
    limits: { ...LIMITS, ...apiLimits },
    version: '0.0.0-test',
    ...(roles && { roles }),
  });
  await app.ready();
  return {
    app, services, storage, blobs, apiKeys, jobEvents, model, clock,
    async close() {
      await app.close();
      if (given) return;
      await model.close();
      await storage.close();
    },
  }; // prettier-ignore
}

function standingClock(startMs: number) {
  let nowMs = startMs;
  return { now: () => nowMs, advance: (ms: number) => void (nowMs += ms) };
}

export const asOwner = { authorization: `Bearer ${BOOTSTRAP_KEY}` };

export interface ApiScenario {
  /** A sentence about behaviour. */
  readonly name: string;
  readonly method?: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'OPTIONS';
  readonly url: string;
  readonly headers?: Record<string, string>;
  /** An object is sent as JSON; a string as it is, under the Content-Type of `headers` or JSON. */
  readonly body?: unknown;
  readonly status: number;
  /** Matched as by `toMatchObject`. */
  readonly answer?: unknown;
  readonly answerHeaders?: Record<string, unknown>;
  readonly then?: (response: LightMyRequestResponse, server: TestServer) => void | Promise<void>;
}

export function runScenarios(server: () => TestServer, scenarios: readonly ApiScenario[]): void {
  for (const scenario of scenarios) {
    test(scenario.name, async () => {
      const response = await send(server(), scenario);
      expect(response.statusCode, response.body).toBe(scenario.status);
      if (scenario.answer !== undefined) expect(response.json()).toMatchObject(scenario.answer as object);
      for (const [header, value] of Object.entries(scenario.answerHeaders ?? {}))
        expect(response.headers[header]).toEqual(value);
      await scenario.then?.(response, server());
    });
  }
}

export function send(
  { app }: TestServer,
  { method, url, headers, body }: Pick<ApiScenario, 'method' | 'url' | 'headers' | 'body'>,
): Promise<LightMyRequestResponse> {
  const options: InjectOptions = {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    url,
    headers: { ...asOwner, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
  return app.inject(options);
}

export const chat = (fields: Readonly<Record<string, unknown>> = {}) => ({
  model: BASE,
  messages: [{ role: 'user', content: 'Say something.' }],
  max_tokens: 8,
  seed: 1,
  ...fields,
});

/** Items of `detail` without the echo of the input. */
export const faults = (response: LightMyRequestResponse) =>
  response
    .json<{ detail: { loc: (string | number)[]; type: string }[] }>()
    .detail.map(({ loc, type }) => `${loc.join('.')} ${type}`);

/** vitest's matchers, with a type. */
export const containing = (text: string): unknown => expect.stringContaining(text);
export const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
