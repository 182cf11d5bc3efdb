// What the settings of a server mean for its parts: each part gets its own slice. Read once, and frozen. The
// settings, with their defaults, are in config/settings.ts; limits that cannot be configured are here, with their reasons.
import { basename, resolve } from 'node:path';
import type { LogFormat, LogLevel } from '#base/log';
import type { ApiLimits } from '#api/http/api-services';
import type { AllowedHosts } from '#api/http/browsers';
import { isLoopback } from '#base/loopback';
import type { AnswerParsers } from '#domain/answer-parsers';
import type { EpisodeBounds } from '#domain/episode';
import { UsageError } from '#domain/errors';
import type { Network } from '#domain/network';
import { ADAPTERS_PROJECT } from '#domain/model-name';
import { ROLES, type Role } from '#domain/role';
import { DEFAULT_ENTITY } from '#services/accounts/api-keys';
import type { EvaluationLimits } from '#services/evaluations/accept-evaluation';
import type { MemoryLimits } from '#engine/backend';
import type { KVCacheDtype, ServingPrecision, TrainingPrecision } from '#engine/capabilities';
import { readSettings, type Environment, type Flags, type ValuesOf } from './setting.ts';
import { hubConfig, type HubConfig } from './hub-settings.ts';
import { SETTINGS, STORE_SETTINGS, type SCHEDULING_POLICIES } from './settings.ts';
import type { NamedAdapter, S3Config } from './value-types.ts';

const MB = 1_000_000;
const DAY_MS = 86_400_000;

const BOUNDS = {
  pingMs: 15_000, // proxies and clients treat a stream as dead after 30 to 300 s of silence
  bodyStallMs: 30_000, // mobile networks pause for 10 to 20 s
  bodyBytesPerSecondMin: 1_000, // GPRS
  connectionsMax: 4_096, // 512 streams and their pools, eight times; four times that is a common limit of open files
  headersMs: 60_000, // as in Node: load balancers open connections before they have a request
  lingerMs: 10_000,
  lingerMsMax: 120_000, // 150 MB at 10 Mbit/s; a slower client only holds a place
  lingerBytesMax: 1_000 * MB, // a body of training data, twice: many clients send all of it before they read an answer
  keepAliveMs: 70_000, // pooled clients keep connections for up to 60 s; closing first resets their next request
  queuedJobsMax: 256, // each holds its body on disk
  healthDeadlineMs: 3_000, // probes give up after 5 to 10 s
  backgroundResponsesMax: 1_024, // each holds its request on disk
  evaluationSamplesMax: 64, // per prompt: an estimate of pass@k; each is a place in the sampler's batch
  evaluationPromptBytesMax: 8 * MB, // read completely for every page of answers
};

export type SchedulingPolicy = (typeof SCHEDULING_POLICIES)[number];

/** Where rows and blobs are stored. */
export interface StoreConfig {
  readonly dataDirectory: string;
  /** `postgres://…`; null: SQLite in the data directory. */
  readonly databaseUrl: string | null;
  /** Null: files in the data directory. */
  readonly s3: S3Config | null;
}

/** An adapter that was trained elsewhere, and the model of which it becomes a checkpoint. */
export interface ForeignAdapter {
  readonly entity: string;
  readonly project: string;
  readonly name: string;
  readonly directory: string;
}

export interface ServerConfig extends StoreConfig {
  readonly roles: readonly Role[];
  readonly listen: { readonly host: string; readonly port: number };
  /** Names, directories or Hub ids. The first of these and of the worker models is the default of chat requests. */
  readonly models: readonly string[];
  /** Named in the same way: their engines are workers that connect. */
  readonly workerModels: readonly string[];
  /** PEFT directories that become checkpoints when the server starts. */
  readonly adapters: readonly ForeignAdapter[];
  /** Other names of models, for Tinker clients. */
  readonly tinkerAliases: ReadonlyMap<string, string>;
  /** Of the weights used for sampling. */
  readonly precision: ServingPrecision;
  /** Of the keys and values that sampling keeps. */
  readonly kvCacheDtype: KVCacheDtype;
  /** Of the frozen weights under trained adapters. */
  readonly trainingPrecision: TrainingPrecision;
  /** The syntax of tool calls and reasoning for all models of this server. */
  readonly parsers: AnswerParsers;
  /** A file that replaces the chat templates of its models; null: each has its own. */
  readonly chatTemplate: string | null;
  readonly chat: {
    readonly schedulingPolicy: SchedulingPolicy;
    /** Alternatives per token that a request may ask for; −1: the vocabulary. */
    readonly logprobsMax: number;
    /** Renders chat templates that come with requests, in a sandbox. */
    readonly trustRequestTemplates: boolean;
  };
  /** Accepted as a key, for the entity `default`. */
  readonly bootstrapKey: string | null;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly api: ApiLimits;
  readonly hub: HubConfig;
  /** For weights, caches and training; null: the memory of the machine or its container. */
  readonly memoryBytes: number | null;
  /** Per base model; null: a share of the memory. */
  readonly memoryLimits: MemoryLimits;
  /** Niceness of the embedded trainer's process. */
  readonly trainerNice: number;
  /** A stream that is not read for this long gives its place in the batch to waiting requests. */
  readonly unreadMs: number;
  readonly jobs: {
    readonly queuedMax: number;
    /** How often a long job saves its progress; 0: after each gradient step. */
    readonly saveEveryMs: number;
    /** For trajectories, after their job has ended; null: forever. */
    readonly keepDataMs: number | null;
  };
  readonly responses: {
    /** 0: none are kept. */
    readonly keepMs: number;
    /** Background responses that wait or are being answered. */
    readonly backgroundMax: number;
  };
  readonly episodes: EpisodeBounds & {
    /** Without activity for this long an episode expires, and is deleted the same time later. */
    readonly keepMs: number;
  };
  readonly evaluation: EvaluationLimits;
  readonly stop: {
    /** Time for running requests. */
    readonly drainMs: number;
    /** Time for the running gradient step, from the same moment on. */
    readonly stepMs: number;
  };
  /** Null: the key of the data directory. */
  readonly secretKey: Buffer | null;
  /** Private addresses that webhooks may call. */
  readonly webhookNetworks: readonly Network[];
  readonly healthDeadlineMs: number;
}

/** The command-line options of `serve`. */
export type ServeFlags = Flags<typeof SETTINGS>;

/** Throws `invalid_request` that names the setting. */
export function readServerConfig(flags: ServeFlags, env: Environment): ServerConfig {
  const settings = readSettings(SETTINGS, flags, env);
  const stores = readStoreConfig(flags.data, env);
  return freeze<ServerConfig>({
    ...stores,
    roles: rolesWithin(settings.role, stores),
    listen: { host: settings.host, port: settings.port },
    models: settings.model ?? (settings.workerModel.length > 0 ? [] : ['starter']),
    workerModels: settings.workerModel,
    adapters: settings.adapter.map(foreignAdapter),
    tinkerAliases: new Map(settings.tinkerAlias),
    precision: settings.precision,
    kvCacheDtype: settings.kvCacheDtype === 'auto' ? 'float32' : settings.kvCacheDtype,
    trainingPrecision: trainingPrecisionOf(settings),
    parsers: { tools: settings.toolCallParser, reasoning: settings.reasoningParser },
    chatTemplate: settings.chatTemplate === null ? null : resolve(settings.chatTemplate),
    chat: {
      schedulingPolicy: settings.schedulingPolicy,
      logprobsMax: settings.maxLogprobs,
      trustRequestTemplates: settings.trustRequestChatTemplate,
    },
    bootstrapKey: settings.apiKey,
    logLevel: settings.logLevel,
    logFormat: settings.logFormat,
    api: {
      basePath: settings.basePath,
      hosts: hostsOf(settings.host, settings.allowedHost),
      origins: settings.allowedOrigin,
      metricsAccess: settings.metricsAccess,
      weaveTraces: settings.weaveTraces,
      bodyBytesMax: MB * settings.bodyMbMax,
      trainingBodyBytesMax: MB * settings.trainingBodyMbMax,
      fileBytesMax: MB * settings.artifactMbMax,
      bodyPace: { stallMs: BOUNDS.bodyStallMs, bytesPerSecondMin: BOUNDS.bodyBytesPerSecondMin },
      connections: {
        connectionsMax: BOUNDS.connectionsMax,
        headersMs: BOUNDS.headersMs,
        lingerMs: BOUNDS.lingerMs,
        lingerMsMax: BOUNDS.lingerMsMax,
        lingerBytesMax: BOUNDS.lingerBytesMax,
        writeStallMs: 1000 * settings.unreadEndSeconds,
      },
      pingMs: BOUNDS.pingMs,
      keepAliveMs: BOUNDS.keepAliveMs,
    },
    hub: hubConfig(settings),
    memoryBytes: settings.memory,
    memoryLimits: {
      contextLengthMax: settings.maxModelLen,
      cacheBytes: settings.kvCache,
      prefixCacheBytes: settings.prefixCacheMb === null ? null : MB * settings.prefixCacheMb,
      adapterBytes: settings.adaptersMb === null ? null : MB * settings.adaptersMb,
      trainingMemoryBytes: settings.trainingMemory,
    },
    trainerNice: settings.trainerNice,
    unreadMs: 1000 * settings.unreadSeconds,
    jobs: {
      queuedMax: BOUNDS.queuedJobsMax,
      saveEveryMs: 1000 * settings.saveSeconds,
      keepDataMs: settings.keepDataDays === null ? null : DAY_MS * settings.keepDataDays,
    },
    responses: { keepMs: DAY_MS * settings.keepResponsesDays, backgroundMax: BOUNDS.backgroundResponsesMax },
    episodes: {
      openMax: settings.episodesMax,
      callsMax: settings.episodeCallsMax,
      tokensMax: settings.episodeTokensMax,
      keepMs: DAY_MS * settings.episodeDays,
    },
    evaluation: {
      promptsMax: settings.evaluationPromptsMax,
      samplesMax: BOUNDS.evaluationSamplesMax,
      tokensMax: settings.evaluationTokensMax,
      promptBytesMax: BOUNDS.evaluationPromptBytesMax,
    },
    stop: { drainMs: 1000 * settings.drainSeconds, stepMs: 1000 * settings.stepSeconds },
    secretKey: settings.secretKey,
    webhookNetworks: settings.allowedWebhookNetwork,
    healthDeadlineMs: BOUNDS.healthDeadlineMs,
  });
}

/** A name without a project belongs to the project of adapters, of the entity that the first key has. */
function foreignAdapter({ name, directory: given }: NamedAdapter): ForeignAdapter {
  const directory = resolve(given);
  const [own, project = ADAPTERS_PROJECT, entity = DEFAULT_ENTITY] = (name ?? basename(directory)).split('/').reverse();
  return { entity, project, name: own!, directory };
}

export function readStoreConfig(data: ServeFlags['data'], env: Environment): StoreConfig {
  const { data: directory, databaseUrl, blobsUrl } = readSettings(STORE_SETTINGS, { data }, env);
  return { dataDirectory: resolve(directory), databaseUrl, s3: blobsUrl };
}

/**
 * On loopback there may be no proxy and no firewall before the server, only its user's browser. A server that listens on all
 * addresses is called by host names that only its operator knows.
 */
function hostsOf(host: string, allowed: readonly string[]): AllowedHosts | null {
  if (isLoopback(host)) return { names: allowed, anyAddress: false };
  const anyAddress = host === '0.0.0.0' || host === '::';
  if (anyAddress && allowed.length === 0) return null;
  return { names: [host.toLowerCase(), ...allowed], anyAddress };
}

/**
 * A data directory belongs to one server, which may leave out chat or training, but not the parts that keep its models, jobs and keys.
 * Servers that divide the roles need a store that they all share.
 */
function rolesWithin(roles: readonly Role[], { databaseUrl, s3 }: StoreConfig): readonly Role[] {
  if (roles.length === ROLES.length || (databaseUrl !== null && s3 !== null)) return roles;
  if (databaseUrl === null && roles.includes('api') && roles.length > 1) return roles;
  const missing = [
    ...(databaseUrl === null ? ['WHETSTONE_DATABASE_URL=postgres://…'] : []),
    ...(s3 === null ? ['WHETSTONE_BLOBS_URL=s3://…'] : []),
  ].join(' and ');
  const alone =
    databaseUrl === null
      ? 'A single server that only chats needs --role api,serve, and one that only trains --role api,train.'
      : 'Or leave --role out.';
  throw new UsageError(
    `A server with the role ${roles.join(',')} shares its data with other servers, and a data directory belongs to one server: set ${missing}, the same for all of them. ${alone}`,
  );
}

/** Without a trainer on this server the setting would have no effect. */
function trainingPrecisionOf({
  trainingPrecision,
  role,
  model,
  workerModel,
}: Pick<ValuesOf<typeof SETTINGS>, 'trainingPrecision' | 'role' | 'model' | 'workerModel'>): TrainingPrecision {
  const why = !role.includes('train')
    ? `a server with the role ${role.join(',')} does not train`
    : model === null && workerModel.length > 0
      ? 'the trainers of --worker-model are workers, which choose for themselves'
      : null;
  if (trainingPrecision === 'float32' || why === null) return trainingPrecision;
  throw new UsageError(
    `--training-precision ${trainingPrecision} (WHETSTONE_TRAINING_PRECISION) is for trainers of this server, and ${why}. Leave it out.`,
  );
}

function freeze<T extends object>(value: T): T {
  if (Buffer.isBuffer(value)) return value; // cannot be frozen
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) freeze(part as object);
  return Object.freeze(value);
}
