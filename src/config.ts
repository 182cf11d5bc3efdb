// Every setting of the server, read once from flags and environment, checked, and frozen. Defaults are written here and
// nowhere else, with their unit and their reason. Parts of the server get slices, never the whole.
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { LOG_LEVELS, type LogLevel } from '#base/log';
import { AppError } from '#domain/errors';
import { ROLES, type Role } from '#domain/role';
import { SERVING_PRECISIONS, type ServingPrecision } from '#engine/onnx/models/serving-graph';

const MB = 1_000_000;
const BODY_MB_MAX = 512; // V8 holds at most 2^29 characters in one string
const DAY_SECONDS = 86_400;

export const DEFAULTS = {
  host: '127.0.0.1', // an open port is the operator's decision
  port: 8484,
  data: './.whetstone',
  model: 'starter',
  precision: 'float32' as ServingPrecision, // what was sampled is what is trained, to 1e-4
  schedulingPolicy: 'fcfs' as SchedulingPolicy, // a client must not go before others unless the operator allows it
  maxLogprobs: 20, // as OpenAI; each alternative is 50 bytes of JSON per token
  logLevel: 'info' as LogLevel,
  bodyMb: 16, // a chat of a million tokens of text
  trainingBodyMb: 512, // a token with its logprob is 60 to 150 bytes: millions of tokens; one JS string holds no more
  artifactMb: 10_000, // a file of training data; it is streamed, so that only the disk counts
  pingMs: 15_000, // proxies and clients call a stream dead after 30 to 300 s of silence
  bodyStallMs: 30_000, // mobile networks pause for 10 to 20 s
  bodyBytesPerSecondMin: 1_000, // GPRS
  connectionsMax: 4_096, // 512 streams and their pools, eight times; four times that is a common limit of open files
  headersMs: 60_000, // as Node: balancers open connections before they have a request
  lingerMs: 10_000,
  writeStallMs: 60_000, // clients that print and wait for a user's key
  keepAliveMs: 70_000, // pooled clients keep connections for up to 60 s; closing first resets their next request
  drainSeconds: 20, // container runtimes kill 30 s after SIGTERM
  stepSeconds: 22, // beside the drain; a trainer that must be killed takes 5 s more
  hubDownloadMs: 3_600_000, // tens of gigabytes over a slow line
  queuedJobsMax: 256, // each holds its body on disk
  saveEverySeconds: 30, // work that a killed server repeats at most; saving a small adapter takes milliseconds
  healthDeadlineMs: 3_000, // probes give up after 5 to 10 s
};

/** fcfs: first come, first served, in turns between keys. priority: the request's `priority` goes before that. */
export const SCHEDULING_POLICIES = ['fcfs', 'priority'] as const;
export type SchedulingPolicy = (typeof SCHEDULING_POLICIES)[number];

/** Where rows and blobs live. */
export interface StoreConfig {
  readonly dataDirectory: string;
  /** `postgres://…`; null: SQLite in the data directory. */
  readonly databaseUrl: string | null;
  /** Null: files in the data directory. */
  readonly s3: S3Config | null;
}

export interface ServerConfig extends StoreConfig {
  readonly roles: readonly Role[];
  readonly listen: { readonly host: string; readonly port: number };
  /** Names, directories or Hub ids. The first is the default of chat requests. */
  readonly models: readonly [string, ...string[]];
  /** Of the weights that sample; training is always in float32. */
  readonly precision: ServingPrecision;
  readonly chat: {
    readonly schedulingPolicy: SchedulingPolicy;
    /** Alternatives per token that a request may ask for; −1: the vocabulary. */
    readonly logprobsMax: number;
    /** Render chat templates that come with requests, in a sandbox. */
    readonly trustRequestTemplates: boolean;
  };
  /** Accepted as it is, entity `default`. */
  readonly bootstrapKey: string | null;
  readonly logLevel: LogLevel;
  readonly api: {
    readonly basePath: string;
    readonly bodyBytesMax: number;
    readonly trainingBodyBytesMax: number;
    readonly fileBytesMax: number;
    readonly bodyPace: { readonly stallMs: number; readonly bytesPerSecondMin: number };
    readonly connections: {
      readonly connectionsMax: number;
      readonly headersMs: number;
      readonly lingerMs: number;
      readonly writeStallMs: number;
    };
    readonly pingMs: number;
    readonly keepAliveMs: number;
  };
  readonly hub: {
    readonly home: string;
    readonly token: string | null;
    readonly endpoint: string | null;
    readonly downloadMs: number;
  };
  /** For computed prompts, per base model; null: a share of the machine's. */
  readonly prefixCacheBytes: number | null;
  /** For the rows of a job, per base model; null: a share of the machine's. */
  readonly trainingMemoryBytes: number | null;
  readonly jobs: {
    readonly queuedMax: number;
    /** How often a long job saves its progress; 0: after each gradient step. */
    readonly saveEveryMs: number;
  };
  readonly stop: {
    /** For requests that run. */
    readonly drainMs: number;
    /** For the gradient step that runs, from the same moment on. */
    readonly stepMs: number;
  };
  readonly healthDeadlineMs: number;
}

/** What `serve` takes on the command line. A flag wins over the environment. */
export interface ServeFlags {
  readonly role?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly data?: string | undefined;
  readonly model?: readonly string[] | undefined;
  readonly basePath?: string | undefined;
  readonly precision?: string | undefined;
  readonly schedulingPolicy?: string | undefined;
  readonly maxLogprobs?: string | undefined;
  readonly trustRequestChatTemplate?: boolean | undefined;
  readonly trainingMemory?: string | undefined;
  readonly logLevel?: string | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Throws `invalid_request`, naming the setting. */
export function readServerConfig(flags: ServeFlags, env: Environment): ServerConfig {
  const [first = DEFAULTS.model, ...others] = flags.model ?? [];
  const stores = readStoreConfig(flags.data, env);
  const integer = (name: string, fallback: number, min: number, max: number): number =>
    readInteger(name, setting(env, name) ?? String(fallback), min, max);
  const config: ServerConfig = {
    roles: readRoles(flags.role ?? setting(env, 'WHETSTONE_ROLE'), stores),
    listen: {
      host: flags.host ?? DEFAULTS.host,
      port: readInteger('port', flags.port ?? setting(env, 'WHETSTONE_PORT') ?? String(DEFAULTS.port), 0, 65_535),
    },
    ...stores,
    models: [first, ...others],
    precision: readChoice('precision', flags.precision ?? DEFAULTS.precision, SERVING_PRECISIONS),
    chat: {
      schedulingPolicy: readChoice(
        'scheduling policy',
        flags.schedulingPolicy ?? DEFAULTS.schedulingPolicy,
        SCHEDULING_POLICIES,
      ),
      logprobsMax:
        flags.maxLogprobs === '-1'
          ? -1
          : readInteger('max-logprobs', flags.maxLogprobs ?? String(DEFAULTS.maxLogprobs), 0, 1_000_000),
      trustRequestTemplates: flags.trustRequestChatTemplate ?? false,
    },
    bootstrapKey: setting(env, 'WHETSTONE_API_KEY'),
    logLevel: readChoice(
      'log level',
      flags.logLevel ?? setting(env, 'WHETSTONE_LOG_LEVEL') ?? DEFAULTS.logLevel,
      LOG_LEVELS,
    ),
    api: {
      basePath: readBasePath(flags.basePath ?? setting(env, 'WHETSTONE_BASE_PATH') ?? ''),
      bodyBytesMax: MB * integer('WHETSTONE_BODY_MB_MAX', DEFAULTS.bodyMb, 1, BODY_MB_MAX),
      trainingBodyBytesMax: MB * integer('WHETSTONE_TRAINING_BODY_MB_MAX', DEFAULTS.trainingBodyMb, 1, BODY_MB_MAX),
      fileBytesMax: MB * integer('WHETSTONE_ARTIFACT_MB_MAX', DEFAULTS.artifactMb, 1, 1_000_000),
      bodyPace: { stallMs: DEFAULTS.bodyStallMs, bytesPerSecondMin: DEFAULTS.bodyBytesPerSecondMin },
      connections: {
        connectionsMax: DEFAULTS.connectionsMax,
        headersMs: DEFAULTS.headersMs,
        lingerMs: DEFAULTS.lingerMs,
        writeStallMs: DEFAULTS.writeStallMs,
      },
      pingMs: DEFAULTS.pingMs,
      keepAliveMs: DEFAULTS.keepAliveMs,
    },
    hub: {
      home: setting(env, 'HF_HOME') ?? join(homedir(), '.cache', 'huggingface'),
      token: setting(env, 'HF_TOKEN'),
      endpoint: setting(env, 'HF_ENDPOINT'),
      downloadMs: DEFAULTS.hubDownloadMs,
    },
    prefixCacheBytes: readPrefixCache(setting(env, 'WHETSTONE_PREFIX_CACHE_MB')),
    trainingMemoryBytes:
      flags.trainingMemory === undefined ? null : readGigabytes('training-memory', flags.trainingMemory),
    jobs: {
      queuedMax: DEFAULTS.queuedJobsMax,
      saveEveryMs: 1000 * integer('WHETSTONE_SAVE_SECONDS', DEFAULTS.saveEverySeconds, 0, DAY_SECONDS),
    },
    stop: {
      drainMs: 1000 * integer('WHETSTONE_DRAIN_SECONDS', DEFAULTS.drainSeconds, 0, DAY_SECONDS),
      stepMs: 1000 * integer('WHETSTONE_STEP_SECONDS', DEFAULTS.stepSeconds, 0, DAY_SECONDS),
    },
    healthDeadlineMs: DEFAULTS.healthDeadlineMs,
  };
  return freeze(config);
}

export const readStoreConfig = (data: string | undefined, env: Environment): StoreConfig => ({
  dataDirectory: resolve(data ?? setting(env, 'WHETSTONE_DATA') ?? DEFAULTS.data),
  databaseUrl: readDatabaseUrl(setting(env, 'WHETSTONE_DATABASE_URL')),
  s3: readBlobsUrl(setting(env, 'WHETSTONE_BLOBS_URL')),
});

/** Null: all of them. Throws where servers with parts could not see each other's work. */
function readRoles(text: string | null, { databaseUrl, s3 }: StoreConfig): readonly Role[] {
  if (text === null) return ROLES;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !ROLES.some((role) => role === name));
  if (unknown !== undefined) {
    throw new AppError(
      'invalid_request',
      `The role must be a comma-separated list of ${ROLES.join(', ')}, not "${text}". Leave it out for all of them.`,
    );
  }
  const roles = ROLES.filter((role) => names.includes(role));
  if (roles.length === ROLES.length || (databaseUrl !== null && s3 !== null)) return roles;
  const missing = [
    ...(databaseUrl === null ? ['WHETSTONE_DATABASE_URL=postgres://…'] : []),
    ...(s3 === null ? ['WHETSTONE_BLOBS_URL=s3://…'] : []),
  ].join(' and ');
  throw new AppError(
    'invalid_request',
    `A server with the role ${roles.join(',')} works together with others, and a data directory belongs to one server: set ${missing}, the same for all of them. Or leave --role out.`,
  );
}

function readDatabaseUrl(text: string | null): string | null {
  if (text === null || (/^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text))) return text;
  throw new AppError(
    'invalid_request',
    'WHETSTONE_DATABASE_URL must look like postgres://user:password@host:5432/database. Unset it for SQLite in the data directory.',
  );
}

/** Set to nothing counts as not set. */
const setting = (env: Environment, name: string): string | null => env[name]?.trim() || null;

function readInteger(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new AppError('invalid_request', `${name} must be an integer from ${min} to ${max}, not "${text}".`);
}

function readGigabytes(name: string, text: string): number {
  const value = Number(text);
  if (/^\d+(?:\.\d+)?$/.test(text) && value > 0 && value <= 100_000) return Math.floor(value * 1e9);
  throw new AppError('invalid_request', `${name} must be a number of gigabytes such as 8 or 0.5, not "${text}".`);
}

const readPrefixCache = (text: string | null): number | null =>
  text === null ? null : MB * readInteger('WHETSTONE_PREFIX_CACHE_MB', text, 0, 1_000_000);

function readChoice<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((known) => known === text);
  if (choice !== undefined) return choice;
  throw new AppError('invalid_request', `The ${name} must be one of ${choices.join(', ')}, not "${text}".`);
}

export interface S3Config {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  readonly endpoint: string | null;
  readonly region: string | null;
}

/** `s3://bucket/prefix?endpoint=https://…&region=…` */
function readBlobsUrl(text: string | null): S3Config | null {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  const unknown = [...(url?.searchParams.keys() ?? [])].find((key) => key !== 'endpoint' && key !== 'region');
  const endpoint = url?.searchParams.get('endpoint') ?? null;
  const isGood = url?.protocol === 's3:' && url.hostname !== '' && unknown === undefined;
  if (!isGood || (endpoint !== null && !/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : ''))) {
    throw new AppError(
      'invalid_request',
      `WHETSTONE_BLOBS_URL must look like s3://bucket/prefix?endpoint=https://host&region=name, not "${text}". Keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`,
    );
  }
  const path = url.pathname.replace(/^\/+|\/+$/g, '');
  return {
    bucket: url.hostname,
    prefix: path === '' ? '' : `${path}/`,
    endpoint,
    region: url.searchParams.get('region'),
  };
}

/** `/api/training`; empty for none. */
function readBasePath(text: string): string {
  const path = text.replace(/\/+$/, '');
  if (path === '' || /^(?:\/[A-Za-z0-9._~-]+)+$/.test(path)) return path;
  throw new AppError('invalid_request', `The base path must look like /api/training, not "${text}".`);
}

function freeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) freeze(part as object);
  return Object.freeze(value);
}
