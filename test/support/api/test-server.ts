// The whole API over SQLite in memory and a tiny real model, and tables of requests to send to it: each row states the request,
// the expected answer, and its side effects.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { afterAll, expect, test } from 'vitest';
import { createApp } from '#api/app';
import type { ApiLimits, ApiServices } from '#api/http/api-services';
import type { Dashboard } from '#api/description/dashboard';
import type { Reference } from '#api/description/reference';
import { createMetrics } from '#api/http/metrics';
import type { Clock } from '#base/clock';
import { silentLog, type Log } from '#base/log';
import type { AnswerParsers } from '#domain/answer-parsers';
import { ROLES, type Role } from '#domain/role';
import type { RequestUse } from '#domain/usage';
import { noTracing, type Tracing } from '#base/tracing';
import type { EngineCapabilities } from '#engine/capabilities';
import type { InferenceEngine } from '#engine/inference-engine';
import { openWorkers, type OpenWorkers, type WorkersOptions } from '#engine/workers/workers';
import { createAccountLimits } from '#services/accounts/account-limits';
import { createApiKeys, type ApiKeys } from '#services/accounts/api-keys';
import { createAdapterCommit } from '#services/artifacts/adapter-commit';
import { createArtifactDrafts } from '#services/artifacts/artifact-drafts';
import { createArtifacts } from '#services/artifacts/artifacts';
import { createBaseModels } from '#services/models/base-models';
import { createChargedBlobs } from '#services/accounts/charged-blobs';
import { createChat } from '#services/chat/chat';
import { createCompletions } from '#services/chat/completions';
import type { ChatSettings } from '#services/chat/request-serving';
import { createCheckpoints } from '#services/models/checkpoints';
import { createAcceptEvaluation } from '#services/evaluations/accept-evaluation';
import { createEpisodeTrees } from '#services/episodes/episode-trees';
import { createEpisodes } from '#services/episodes/episodes';
import { createOnlineTrainings } from '#services/episodes/online-training';
import { createRecorder } from '#services/episodes/recorder';
import { createEvaluations } from '#services/evaluations/evaluations';
import { createHealth } from '#services/health';
import { createIdempotent } from '#services/accounts/idempotency';
import { createDatasetRows } from '#services/jobs/reading-back/dataset-rows';
import { createJobEvents, type JobEvents } from '#services/jobs/job-events';
import { createJobInputs } from '#services/jobs/reading-back/job-inputs';
import { createLogTrajectories } from '#services/jobs/reading-back/log-trajectories';
import { createLoggedTrajectories } from '#services/jobs/reading-back/logged-trajectories';
import { createModels } from '#services/models/models';
import { createSampledTokens } from '#services/chat/sampled-tokens';
import { createEmbed } from '#services/chat/embeddings';
import { createTokenization } from '#services/chat/tokenization';
import { recallTokens } from '#services/jobs/data/recall-tokens';
import { createOverviews } from '#services/overview';
import { createStepHistory } from '#services/jobs/reading-back/step-history';
import { createLiveResponses } from '#services/responses/live-responses';
import { createResponses } from '#services/responses/responses';
import { responseWriter } from '#api/responses/responses-response';
import { createResponseRunner } from '#services/responses/response-runner';
import { createTrainingJobs } from '#services/jobs/training-jobs';
import { createTinker } from '#services/tinker/tinker';
import { createUsage } from '#services/accounts/usage';
import { createRuns } from '#services/runs/runs';
import { createWebhookAddresses } from '#services/webhooks/webhook-address';
import { createWebhooks } from '#services/webhooks/webhooks';
import { createMemoryBlobs } from '#storage/blobs/memory';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { noObserver } from '../a-job-runner.ts';
import { openTinyChatModel, type TinyChatModel } from './tiny-chat-model.ts';
import { openStorageInMemory } from '../storage-in-memory.ts';

export const BASE = 'tiny/chat';
export const FILE_BYTES_MAX = 1_000_000;
export const QUEUED_JOBS_MAX = 4;
export const BACKGROUND_MAX = 6;
const EPISODE_BOUNDS = { openMax: 50, callsMax: 40, tokensMax: 20_000 };
export const EVALUATION_LIMITS = { promptsMax: 8, samplesMax: 4, tokensMax: 500, promptBytesMax: 20_000 };
export const BOOTSTRAP_KEY = 'wk-bootstrap';

/** Receivers of tests listen here. */
export const LOOPBACK_WEBHOOKS = createWebhookAddresses([{ address: '127.0.0.0', prefixBits: 8 }]);

const LIMITS: ApiLimits = {
  basePath: '',
  hosts: null,
  origins: [],
  metricsAccess: 'open',
  weaveTraces: 'drop',
  bodyBytesMax: 64_000,
  trainingBodyBytesMax: 256_000,
  fileBytesMax: FILE_BYTES_MAX,
  bodyPace: { stallMs: 30_000, bytesPerSecondMin: 1_000 },
  connections: {
    connectionsMax: 1_000,
    headersMs: 20_000,
    lingerMs: 1_000,
    lingerMsMax: 60_000,
    lingerBytesMax: 100_000_000,
    writeStallMs: 60_000,
  },
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
  readonly workers: OpenWorkers;
  /** Time stands still until a test advances it. */
  readonly clock: Clock & { advance(ms: number): void };
  close(): Promise<void>;
}

export interface TestServerOptions {
  readonly limits?: Partial<ApiLimits>;
  readonly settings?: Partial<ChatSettings>;
  readonly acceptsTemplates?: boolean;
  readonly tracing?: Tracing;
  readonly roles?: readonly Role[];
  readonly storeRoles?: readonly Role[];
  readonly engine?: Parameters<typeof openTinyChatModel>[1];
  /** Of the model's config.json. */
  readonly modelChanges?: Parameters<typeof openTinyChatModel>[3];
  /** The parser named by the operator, instead of the template's. */
  readonly parsers?: AnswerParsers;
  readonly workerLimits?: WorkersOptions['limits'];
  /** Wraps the real engine, to make it fail. */
  readonly wrapEngine?: (engine: InferenceEngine) => InferenceEngine;
  /** Additional capabilities that the engine declares. */
  readonly capabilities?: Partial<EngineCapabilities>;
  readonly log?: Log;
  readonly episodeBounds?: typeof EPISODE_BOUNDS;
  readonly keepsResponses?: boolean;
  /** False: background requests wait. */
  readonly answersBackground?: boolean;
  readonly dashboard?: Dashboard | null;
  readonly reference?: Reference | null;
  /** Used instead of the server's own. The caller closes them. */
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
  acceptsTemplates = false,
  tracing = noTracing,
  roles = ROLES,
  storeRoles = ROLES,
  engine,
  modelChanges,
  parsers,
  workerLimits = {},
  wrapEngine = (real) => real,
  capabilities,
  given,
  log = silentLog,
  dashboard = null,
  reference = null,
  episodeBounds = EPISODE_BOUNDS,
  keepsResponses = true,
  answersBackground = true,
}: TestServerOptions = {}): Promise<TestServer> {
  const model = given?.model ?? (await openTinyChatModel(BASE, engine, parsers, modelChanges));
  const clock = given?.clock ?? standingClock(Date.UTC(2026, 5, 1));
  const storage = given?.storage ?? (await openStorageInMemory());
  const blobs = createChargedBlobs(given?.blobs ?? createMemoryBlobs(), storage.accounts);
  const sampledTokens = createSampledTokens();
  const usage = createUsage({ storage: storage.usage, log });
  const jobEvents = createJobEvents();
  const baseModels = createBaseModels([
    { ...model, inference: wrapEngine(model.inference), capabilities: { ...model.capabilities, ...capabilities } },
  ]);
  const apiKeys = createApiKeys({ store: storage.apiKeys, clock, log, bootstrapKey: BOOTSTRAP_KEY });
  const limits = createAccountLimits({ storage, clock });
  const models = createModels({ storage, blobs, baseModels, limits, clock, log });
  const artifacts = createArtifacts({ storage, blobs, clock, log, fileBytesMax: FILE_BYTES_MAX, limits });
  const runs = createRuns({ storage, limits, clock, log });
  const commitAdapter = createAdapterCommit({ storage, blobs, baseModels, limits, clock, log });
  const health = createHealth({ storage, baseModels, trainingFaults: () => [], clock, deadlineMs: 1_000 });
  const workersDirectory = await mkdtemp(join(tmpdir(), 'whetstone-workers-'));
  const workers = await openWorkers({ directory: workersDirectory, limits: workerLimits, clock, log });
  const trainingJobs = createTrainingJobs({
    storage,
    blobs,
    jobEvents,
    clock,
    log,
    queuedJobsMax: QUEUED_JOBS_MAX,
    recall: (groups, model) => recallTokens(groups, model, sampledTokens),
    artifacts,
    acceptEvaluation: createAcceptEvaluation({ artifacts, limits: EVALUATION_LIMITS }),
    limits,
    observer: noObserver,
  });
  const trees = createEpisodeTrees(storage.episodes);
  const answering = {
    models,
    recordUsage: (use: RequestUse) => usage.record(use),
    settings: { priorities: false, logprobsMax: 20, ...settings },
    limits,
    recorder: createRecorder({ store: storage.episodes, trees, limits, bounds: episodeBounds, clock }),
    clock,
    log,
  };
  const getJob: typeof trainingJobs.get = (caller, id) => trainingJobs.get(caller, id);
  const chat = createChat({ ...answering, sampledTokens, acceptsTemplates });
  const live = createLiveResponses();
  const responses = createResponses({
    ...{ storage, blobs, chat, limits, live, clock, writer: responseWriter },
    keeps: keepsResponses,
    backgroundMax: BACKGROUND_MAX,
  });
  const background = createResponseRunner({
    ...{ storage, blobs, chat, live, clock, log, writer: responseWriter },
    exclusive: true,
    baseModels: [BASE],
    retryPolicy: { initialDelayMs: 1, maxDelayMs: 20, totalMs: 1_000 },
  });
  const services: ApiServices = {
    apiKeys,
    accountLimits: limits,
    baseModels,
    models,
    usage,
    health,
    clock,
    log,
    chat,
    responses,
    completions: createCompletions({ ...answering, sampledTokens }),
    embed: createEmbed(answering),
    tokenization: createTokenization({ models }),
    artifacts,
    runs,
    episodes: createEpisodes({ storage, baseModels, trees, limits, bounds: episodeBounds, jobEvents, clock, log }),
    onlineTrainings: createOnlineTrainings({ storage, trainingJobs, wake: () => jobEvents.notify(null), clock, log }),
    artifactDrafts: createArtifactDrafts({ storage, blobs, artifacts, limits, commitAdapter, runs, clock }),
    datasetRows: createDatasetRows({ artifacts, baseModels }),
    webhooks: createWebhooks({ store: storage.webhooks, jobEvents, clock, addresses: LOOPBACK_WEBHOOKS }),
    checkpoints: createCheckpoints({ storage, blobs, baseModels, clock, log }),
    trainingJobs,
    jobInputs: createJobInputs({ storage, blobs, baseModels, getJob }),
    evaluations: createEvaluations({ storage, blobs, getJob, clock, log }),
    loggedTrajectories: createLoggedTrajectories({ storage, blobs }),
    stepHistory: createStepHistory({ storage }),
    overviews: createOverviews({ storage, usage, clock }),
    logTrajectories: createLogTrajectories({ storage, blobs, limits, clock }),
    idempotent: createIdempotent(storage.idempotency, clock, log),
    metrics: createMetrics({
      baseModels: () => baseModels.list(),
      workers: () => workers.tallies(),
      episodes: () => storage.episodes.countByStatus(),
      queuedJobs: () => health.queuedJobs(),
      queuedJobsMax: QUEUED_JOBS_MAX,
    }),
    tracing,
    workers,
    tinker: createTinker({
      storage,
      blobs,
      baseModels,
      models,
      limits,
      clock,
      log,
      recordUsage: answering.recordUsage,
      waitMs: 100,
      aliases: new Map(),
    }),
  };
  const app = createApp({
    services,
    limits: { ...LIMITS, ...apiLimits },
    version: '0.0.0-test',
    roles,
    storeRoles,
    dashboard,
    reference,
  });
  await app.ready();
  if (answersBackground) await background.start();
  return {
    app,
    services,
    storage,
    blobs,
    apiKeys,
    jobEvents,
    model,
    workers,
    clock,
    async close() {
      await app.close();
      await background.stop();
      await workers.close();
      await rm(workersDirectory, { recursive: true, force: true });
      if (given) return;
      await model.close();
      await storage.close();
    },
  };
}

/** One server for all tests of a file, closed after them. */
export async function shareTestServer(options?: TestServerOptions): Promise<TestServer> {
  const server = await openTestServer(options);
  afterAll(() => server.close());
  return server;
}

export function standingClock(startMs: number) {
  let nowMs = startMs;
  return { now: () => nowMs, advance: (ms: number) => void (nowMs += ms) };
}

export const asOwner = { authorization: `Bearer ${BOOTSTRAP_KEY}` };

export interface ApiScenario {
  /** A sentence about behaviour. */
  readonly name: string;
  readonly method?: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'OPTIONS' | 'QUERY';
  readonly url: string;
  readonly headers?: Record<string, string>;
  /** An object is sent as JSON; a string as it is, under the Content-Type of `headers` or JSON. */
  readonly body?: unknown;
  readonly status: number;
  /** Matched with `toMatchObject`. */
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
    // light-my-request sends QUERY but its types do not name it.
    method: (method ?? (body === undefined ? 'GET' : 'POST')) as NonNullable<InjectOptions['method']>,
    url,
    headers: { ...asOwner, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined
      ? {}
      : { payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
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
