// Every setting of the server, declared once: `serve --help`, docs/configuration.md (npm run generate:config), ranges and
// defaults come from here. What a value means for the parts of a server is server-config.ts.
import { REASONING_PARSER_NAMES, TOOL_PARSER_NAMES } from '#domain/answer-parsers';
import { METRICS_ACCESS } from '#domain/metrics-access';
import { ROLES } from '#domain/role';
import { WEAVE_TRACES } from '#domain/weave-traces';
import { SAMPLER_LIMITS } from '#engine/sampler-limits';
import { EPISODE_SETTINGS } from './episode-settings.ts';
import { HUB_SETTINGS } from './hub-settings.ts';
import { MEMORY_SETTINGS } from './memory-settings.ts';
import { PRECISION_SETTINGS } from './precision-settings.ts';
import { LOG_SETTINGS } from './log-settings.ts';
import { setting } from './setting.ts';
import { TRAINING_SETTINGS } from './training-settings.ts';
import {
  adapters,
  aliases,
  apiKey,
  basePath,
  choice,
  choices,
  directory,
  file,
  hostNames,
  integer,
  key,
  networks,
  origins,
  postgresUrl,
  s3Url,
  switchedOn,
  text,
  texts,
} from './value-types.ts';

/** fcfs: first come, first served, shared fairly between keys. priority: the request's `priority` goes before that. */
export const SCHEDULING_POLICIES = ['fcfs', 'priority'] as const;

const BODY_MB_MAX = 512; // V8 holds at most 2^29 characters in one string
const DAY_SECONDS = 86_400;

const LISTENING = {
  host: setting({
    flag: '--host <address>',
    value: text,
    default: '127.0.0.1',
    help: 'address to listen on; 0.0.0.0 for all',
    reason: 'an open port is the operator’s decision',
  }),
  port: setting({
    flag: '--port <number>',
    variable: 'WHETSTONE_PORT',
    value: integer(0, 65_535),
    default: 8484,
    help: 'port; 0 picks a free one',
  }),
  basePath: setting({
    flag: '--base-path <path>',
    variable: 'WHETSTONE_BASE_PATH',
    value: basePath,
    default: '',
    defaultText: 'none',
    help: 'answer under this prefix too, such as /api/training',
  }),
  allowedHost: setting({
    flag: '--allowed-host <name>',
    variable: 'WHETSTONE_ALLOWED_HOST',
    value: hostNames,
    default: [],
    defaultText: 'localhost and the address in --host; with 0.0.0.0 any',
    help: 'also answer requests that address the server by this host name; may be repeated',
    reason: 'any web page can make its own host name resolve to 127.0.0.1',
  }),
  allowedOrigin: setting({
    flag: '--allowed-origin <origin>',
    variable: 'WHETSTONE_ALLOWED_ORIGIN',
    value: origins,
    default: [],
    defaultText: 'none',
    help: 'let pages of this origin call the server from a browser, such as http://localhost:3000; * for all; may be repeated',
  }),
  metricsAccess: setting({
    flag: '--metrics-access <who>',
    variable: 'WHETSTONE_METRICS_ACCESS',
    value: choice(METRICS_ACCESS),
    default: 'open',
    help: 'who may read /metrics: everybody who reaches the server (open), holders of an API key (key), or this machine (loopback)',
    reason: 'labels name no entity, and scrapers come without a key',
  }),
  weaveTraces: setting({
    flag: '--weave-traces <what>',
    variable: 'WHETSTONE_WEAVE_TRACES',
    value: choice(WEAVE_TRACES),
    default: 'drop',
    help: 'what happens to traces that scripts send with weave: drop accepts and counts them, refuse answers with an error. No trace is stored',
    reason: 'a script whose traces are refused retries them before it exits',
  }),
};

/** Of all commands that work on a store. */
export const STORE_SETTINGS = {
  data: setting({
    flag: '--data <directory>',
    variable: 'WHETSTONE_DATA',
    value: directory,
    default: './.whetstone',
    help: 'directory of the database, adapters and job data',
  }),
  databaseUrl: setting({
    variable: 'WHETSTONE_DATABASE_URL',
    value: postgresUrl,
    default: null,
    defaultText: 'SQLite in the data directory',
    help: 'postgres://…: keep rows in a Postgres database, which several servers may share',
    secret: true,
  }),
  blobsUrl: setting({
    variable: 'WHETSTONE_BLOBS_URL',
    value: s3Url,
    default: null,
    defaultText: 'the data directory',
    help: 's3://bucket/prefix?endpoint=…&region=…: keep adapters, job data and artifacts in an S3-compatible store; credentials come from the usual AWS_… variables',
    secret: true,
  }),
};

const MODELS = {
  role: setting({
    flag: '--role <roles>',
    variable: 'WHETSTONE_ROLE',
    value: choices(ROLES, 'Leave it out for all of them.'),
    default: ROLES,
    defaultText: 'all',
    help: 'what this server does: a comma-separated list of api, serve and train. Servers that divide the roles share a Postgres and a blob store. A single server has all roles; with api,serve it only chats, with api,train it only trains',
  }),
  model: setting({
    flag: '--model <name>',
    value: texts,
    default: null,
    defaultText: 'starter; none beside --worker-model',
    help: 'base model to run on this machine: "starter", a directory, a GGUF file, or a Hub id such as Qwen/Qwen3-0.6B, also with @revision, or with :Q8_0 for its GGUF file; may be repeated',
  }),
  workerModel: setting({
    flag: '--worker-model <name>',
    value: texts,
    default: [],
    defaultText: 'none',
    help: 'base model that runs on workers that connect to this server, named as for --model; this server does not read its weights; may be repeated',
  }),
  adapter: setting({
    flag: '--adapter <name=directory>',
    variable: 'WHETSTONE_ADAPTER',
    value: adapters,
    default: [],
    defaultText: 'none',
    help: 'serve a LoRA adapter in PEFT format, for a model of this server, as adapters/NAME, and let jobs train it further; without a name, that of the directory; may be repeated',
  }),
  tinkerAlias: setting({
    flag: '--tinker-alias <name=model>',
    variable: 'WHETSTONE_TINKER_ALIAS',
    value: aliases,
    default: [],
    defaultText: 'none',
    help: 'another name by which Tinker clients may call a model, such as Qwen/Qwen3-8B=whetstone/starter; may be repeated',
    reason: 'recipes accept only the names of well-known models',
  }),
  ...PRECISION_SETTINGS,
  ...MEMORY_SETTINGS,
  ...HUB_SETTINGS,
};

const CHAT = {
  schedulingPolicy: setting({
    flag: '--scheduling-policy <name>',
    value: choice(SCHEDULING_POLICIES),
    default: 'fcfs',
    help: 'fcfs: first come, first served, shared fairly between keys; priority: requests with a smaller "priority" first',
    reason: 'a client must not overtake others unless the operator allows it',
  }),
  maxLogprobs: setting({
    flag: '--max-logprobs <number>',
    value: integer(-1, 1_000_000),
    default: 20,
    help: 'alternatives per token that a request may ask for; -1: the whole vocabulary',
    reason: 'as OpenAI; each alternative is 50 bytes of JSON per token',
  }),
  chatTemplate: setting({
    flag: '--chat-template <file>',
    variable: 'WHETSTONE_CHAT_TEMPLATE',
    value: file,
    default: null,
    defaultText: 'each model’s own',
    help: 'Jinja file to use instead of the chat templates of this server’s models: for base models, which have none',
  }),
  toolCallParser: setting({
    flag: '--tool-call-parser <name>',
    variable: 'WHETSTONE_TOOL_CALL_PARSER',
    value: choice(TOOL_PARSER_NAMES),
    default: null,
    defaultText: 'read from each model’s chat template',
    help: 'how the models of this server write tool calls, by vLLM’s names (docs/tool-syntaxes.md)',
    reason: 'templates show it; fine-tuned models may write differently',
  }),
  reasoningParser: setting({
    flag: '--reasoning-parser <name>',
    variable: 'WHETSTONE_REASONING_PARSER',
    value: choice(REASONING_PARSER_NAMES),
    default: null,
    defaultText: 'read from each model’s chat template',
    help: 'how the models of this server separate thinking from the answer, by vLLM’s names (docs/tool-syntaxes.md)',
  }),
  trustRequestChatTemplate: setting({
    flag: '--trust-request-chat-template',
    value: switchedOn,
    default: false,
    help: 'render chat templates that requests bring, each within a budget of steps and characters',
  }),
  keepResponsesDays: setting({
    variable: 'WHETSTONE_KEEP_RESPONSES_DAYS',
    value: integer(0, 36_500),
    default: 30,
    help: 'delete responses (POST /v1/responses) after this many days; 0: store none, and refuse requests that ask to store one',
    reason: 'as OpenAI; they contain what users wrote',
  }),
  prefixCacheMb: setting({
    variable: 'WHETSTONE_PREFIX_CACHE_MB',
    value: integer(0, 1_000_000),
    default: null,
    defaultText: '1/16 of --memory, at most 1 GiB, divided among the models, or what is left',
    help: 'memory for computed prompts in MB, per base model',
  }),
  adaptersMb: setting({
    variable: 'WHETSTONE_ADAPTERS_MB',
    value: integer(1, 1_000_000),
    default: null,
    defaultText: '1/16 of --memory, at most 2 GiB, divided among the models, or what is left',
    help: 'memory in MB for adapters that are answering or answered recently, per base model',
  }),
  unreadSeconds: setting({
    variable: 'WHETSTONE_UNREAD_SECONDS',
    value: integer(1, DAY_SECONDS),
    default: SAMPLER_LIMITS.unreadMs / 1000,
    help: 'a stream that its client does not read for this many seconds gives its place in the batch to waiting requests, until the client reads again',
    reason: 'even a slow terminal reads within tenths of a second',
  }),
  unreadEndSeconds: setting({
    variable: 'WHETSTONE_UNREAD_END_SECONDS',
    value: integer(1, DAY_SECONDS),
    default: 60,
    help: 'an answer that its client does not read for this many seconds is ended',
    reason: 'a client may stop reading until its user presses a key',
  }),
};

const REQUESTS = {
  apiKey: setting({
    variable: 'WHETSTONE_API_KEY',
    value: apiKey,
    default: null,
    defaultText: 'none',
    help: 'an API key that the server accepts beside those it has made: all scopes, entity "default"',
    secret: true,
  }),
  bodyMbMax: setting({
    variable: 'WHETSTONE_BODY_MB_MAX',
    value: integer(1, BODY_MB_MAX),
    default: 16,
    help: 'largest request, in MB',
    reason: 'a chat of a million tokens of text',
  }),
  trainingBodyMbMax: setting({
    variable: 'WHETSTONE_TRAINING_BODY_MB_MAX',
    value: integer(1, BODY_MB_MAX),
    default: 512,
    help: 'largest training job, in MB',
    reason:
      'a token with its logprob takes 60 to 150 bytes, so this is millions of tokens; a JavaScript string cannot be longer',
  }),
  artifactMbMax: setting({
    variable: 'WHETSTONE_ARTIFACT_MB_MAX',
    value: integer(1, 1_000_000),
    default: 10_000,
    help: 'largest file of an artifact, in MB',
    reason: 'a large file of training data; it is streamed, so only the disk limits it',
  }),
};

export const STOP_SETTINGS = {
  drainSeconds: setting({
    variable: 'WHETSTONE_DRAIN_SECONDS',
    value: integer(0, DAY_SECONDS),
    default: 20,
    help: 'seconds that a stopping server waits for running requests',
    reason: 'container runtimes kill a process 30 s after SIGTERM',
  }),
  stepSeconds: setting({
    variable: 'WHETSTONE_STEP_SECONDS',
    value: integer(0, DAY_SECONDS),
    default: 22,
    help: 'seconds that a stopping server waits for the running gradient step, counted from the same moment',
    reason: 'killing a trainer takes up to 5 s more',
  }),
};

const RUNNING = {
  secretKey: setting({
    variable: 'WHETSTONE_SECRET_KEY',
    value: key,
    default: null,
    defaultText: 'secret.key in the data directory; none with Postgres',
    help: 'encrypts the secrets of webhooks in the database; all servers that share a Postgres need the same key',
    secret: true,
  }),
  allowedWebhookNetwork: setting({
    flag: '--allowed-webhook-network <network>',
    variable: 'WHETSTONE_ALLOWED_WEBHOOK_NETWORK',
    value: networks,
    default: [],
    defaultText: 'none',
    help: 'let webhooks call this private address or network, such as 10.1.0.0/16 or 127.0.0.1; may be repeated',
    reason: 'anybody who may register webhooks could otherwise probe the operator’s network',
  }),
  ...STOP_SETTINGS,
  ...LOG_SETTINGS,
  /** Read by the library of OpenTelemetry itself, with others of its own. */
  tracesUrl: setting({
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    value: text,
    default: null,
    defaultText: 'none',
    help: 'send traces to this OpenTelemetry collector, such as http://localhost:4318',
  }),
};

/** By subject, in the order of the documentation. */
export const SECTIONS = {
  Listening: LISTENING,
  Storage: STORE_SETTINGS,
  Models: MODELS,
  Chat: CHAT,
  Episodes: EPISODE_SETTINGS,
  Training: TRAINING_SETTINGS,
  Requests: REQUESTS,
  Running: RUNNING,
};

export const SETTINGS = {
  ...LISTENING,
  ...STORE_SETTINGS,
  ...MODELS,
  ...CHAT,
  ...EPISODE_SETTINGS,
  ...TRAINING_SETTINGS,
  ...REQUESTS,
  ...RUNNING,
};
