#!/usr/bin/env node
// The `whetstone` command. Each command reads its flags, calls what does the work, and prints for people; nothing is
// decided here. stdout carries results, stderr the log and errors.
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { AppError } from '#domain/errors';
import type { ApiKeys } from '#services/api-keys';
import { ApiError, createClient, type Client, type RlJobRequest, type TrainingEvent } from './client/client.ts';
import { DEFAULTS, readDataDirectory, readServerConfig, type ServeFlags } from './config.ts';
import { VERSION } from './version.ts';

/** Loaded by the commands that need it: engines and databases would slow down the others. */
const main = () => import('./main.ts');

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

const program = new Command('whetstone')
  .description('Chat with a model, train it by reinforcement learning, serve every checkpoint.')
  .version(VERSION)
  .showHelpAfterError()
  .addHelpText(
    'after',
    `
First steps:
  $ whetstone serve                     prints its address and, the first time, an API key
  $ export WHETSTONE_API_KEY=wk-…
  $ whetstone chat "Hello"`,
  );

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

program
  .command('serve')
  .description('start the server')
  .option('--host <address>', `address to listen on (default ${DEFAULTS.host}; 0.0.0.0 for all)`)
  .option('--port <number>', `port; 0 picks a free one (default ${DEFAULTS.port}, env WHETSTONE_PORT)`)
  .option('--data <directory>', `database, adapters and job data (default ${DEFAULTS.data}, env WHETSTONE_DATA)`)
  .option(
    '--model <name>',
    'base model: "starter", a directory, or a Hub id such as Qwen/Qwen3-0.6B; may be repeated',
    collect,
    [],
  )
  .option(
    '--precision <name>',
    `weights for sampling: float32, or int8 for large models: less memory, faster, rounded logprobs (default ${DEFAULTS.precision})`,
  )
  .option(
    '--scheduling-policy <name>',
    `fcfs: first come, first served, in turns between keys; priority: smaller "priority" of a request first (default ${DEFAULTS.schedulingPolicy})`,
  )
  .option(
    '--max-logprobs <number>',
    `alternatives per token that a request may ask for; -1: all (default ${DEFAULTS.maxLogprobs})`,
  )
  .option(
    '--training-memory <gigabytes>',
    'memory for the rows of a training job, per base model: longer rollouts need more (default: 40 % of the machine)',
  )
  .option('--trust-request-chat-template', 'render chat templates that come with requests, in a sandbox with limits')
  .option('--base-path <path>', 'answer under this prefix too, such as /api/training (env WHETSTONE_BASE_PATH)')
  .option(
    '--log-level <level>',
    `debug, info, warn, error or silent (default ${DEFAULTS.logLevel}, env WHETSTONE_LOG_LEVEL)`,
  )
  .addHelpText(
    'after',
    `
Environment:
  WHETSTONE_API_KEY               a key that is accepted as it is, entity "default"
  WHETSTONE_BODY_MB_MAX           largest request (default ${DEFAULTS.bodyMb})
  WHETSTONE_TRAINING_BODY_MB_MAX  largest training job (default ${DEFAULTS.trainingBodyMb})
  WHETSTONE_ARTIFACT_MB_MAX       largest file of an artifact (default ${DEFAULTS.artifactMb})
  WHETSTONE_SAVE_SECONDS          how often a job saves its progress; 0: after each gradient step (default ${DEFAULTS.saveEverySeconds})
  HF_HOME, HF_TOKEN, HF_ENDPOINT  where Hub models come from and go to

SIGTERM and SIGINT finish running requests and exit with 0.`,
  )
  .action(async (flags: ServeFlags) => {
    const config = readServerConfig(flags, process.env);
    const server = await (await main()).startServer(config);
    let stopping = false;
    const stop = (signal: NodeJS.Signals) => {
      if (stopping) process.exit(130); // asked twice: at once
      stopping = true;
      void server.close(signal).then(
        () => process.exit(0),
        (error: unknown) => fail(error),
      );
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    // One write: whoever waits for the second line has the first.
    const key = server.firstKey === null ? '' : `api key: ${server.firstKey}\n`;
    say(`${key}whetstone listening on ${server.url}`);
  });

program
  .command('migrate')
  .description('bring the database of a data directory up to date; serve does this by itself')
  .option('--data <directory>', `default ${DEFAULTS.data}, env WHETSTONE_DATA`)
  .action(async ({ data }: { data?: string }) => {
    const directory = readDataDirectory(data, process.env);
    await (await main()).migrateDataDirectory(directory);
    say(`${directory} is up to date.`);
  });

const keys = program.command('keys').description('make and revoke API keys, in the data directory of a server');
const dataOption = ['--data <directory>', `default ${DEFAULTS.data}, env WHETSTONE_DATA`] as const;

keys
  .command('create')
  .description('make a key and print it; it is shown only now')
  .option('--entity <name>', 'whose models and jobs the key sees', 'default')
  .option('--name <text>', 'to recognise it in the list', 'cli')
  .option(...dataOption)
  .action(async ({ entity, name, data }: { entity: string; name: string; data?: string }) => {
    await withKeyring(data, async (keyring) => say((await keyring.create({ entity, name })).secret));
  });

keys
  .command('list')
  .description('list keys')
  .option(...dataOption)
  .action(async ({ data }: { data?: string }) => {
    await withKeyring(data, async (keyring) => {
      for (const key of await keyring.list()) {
        const state = key.revokedAtMs === null ? '' : `  revoked ${new Date(key.revokedAtMs).toISOString()}`;
        say(`${key.id}  ${key.entity}  ${key.name}  made ${new Date(key.createdAtMs).toISOString()}${state}`);
      }
    });
  });

keys
  .command('revoke <id>')
  .description('revoke a key at once; the id is in `keys list`')
  .option(...dataOption)
  .action(async (id: string, { data }: { data?: string }) => {
    await withKeyring(data, async (keyring) => {
      const outcome = await keyring.revoke(id);
      if (outcome === 'not_found') throw new AppError('not_found', `No key ${id}. \`whetstone keys list\` shows them.`);
      say(outcome === 'revoked' ? `revoked ${id}` : `${id} was revoked before`);
    });
  });

async function withKeyring(data: string | undefined, use: (keyring: ApiKeys) => Promise<void>): Promise<void> {
  const keyring = await (await main()).openKeyring(readDataDirectory(data, process.env));
  try {
    await use(keyring.apiKeys);
  } finally {
    await keyring.close();
  }
}

interface RemoteFlags {
  readonly url?: string;
  readonly key?: string;
}

/** A command that talks to a server over HTTP. */
const remote = (parent: Command, nameAndArguments: string): Command =>
  parent
    .command(nameAndArguments)
    .option('--url <url>', `the server (default http://${DEFAULTS.host}:${DEFAULTS.port}, env WHETSTONE_URL)`)
    .option('--key <key>', 'API key (env WHETSTONE_API_KEY)');

function connect({ url, key }: RemoteFlags): Client {
  const apiKey = key ?? process.env.WHETSTONE_API_KEY;
  if (!apiKey) throw new AppError('invalid_api_key', 'No API key: set WHETSTONE_API_KEY or pass --key.');
  return createClient({
    baseUrl: url ?? process.env.WHETSTONE_URL ?? `http://${DEFAULTS.host}:${DEFAULTS.port}`,
    apiKey,
  });
}

interface ChatFlags extends RemoteFlags {
  readonly model?: string;
  readonly system?: string;
  readonly temperature?: string;
  readonly maxTokens?: string;
}

remote(program, 'chat [message]')
  .description('say something to a model; without a message: a conversation')
  .option('--model <name>', 'base model, or entity/project/name[@step] (default: the server’s)')
  .option('--system <text>', 'system message')
  .option('--temperature <number>')
  .option('--max-tokens <number>')
  .action(async (message: string | undefined, flags: ChatFlags) => {
    const client = connect(flags);
    const messages: { role: string; content: string }[] = flags.system
      ? [{ role: 'system', content: flags.system }]
      : [];
    const answer = async (content: string) => {
      messages.push({ role: 'user', content });
      let text = '';
      for await (const piece of client.chatStream({
        messages,
        ...(flags.model ? { model: flags.model } : {}),
        ...(flags.temperature ? { temperature: Number(flags.temperature) } : {}),
        ...(flags.maxTokens ? { max_tokens: Number(flags.maxTokens) } : {}),
      })) {
        process.stdout.write(piece);
        text += piece;
      }
      say('');
      messages.push({ role: 'assistant', content: text });
    };
    if (message !== undefined) return answer(message);
    const lines = createInterface({ input: process.stdin, output: process.stderr, prompt: '> ' });
    lines.prompt();
    for await (const line of lines) {
      if (line.trim() !== '') await answer(line);
      lines.prompt();
    }
  });

const models = remote(program, 'models')
  .description('list what a chat request can name as its model')
  .action(async (flags: RemoteFlags) => {
    for (const { id } of await connect(flags).listCallableModels()) say(id);
  });

remote(models, 'create <model>')
  .description('register a model to train; <model> is project/name')
  .option('--base-model <id>', 'default: the first that the server hosts')
  .option('--from <checkpoint>', 'fork: start from a copy of this checkpoint, entity/project/name@step')
  .action(async (name: string, flags: RemoteFlags & { baseModel?: string; from?: string }) => {
    const client = connect(flags);
    const [project, model] = name.split('/');
    if (!project || !model) throw new AppError('invalid_request', `Name the model project/name, not "${name}".`);
    const base_model = flags.baseModel ?? (await client.listBaseModels())[0]!;
    const from_checkpoint = flags.from ?? null;
    const { id } = await client.registerModel({
      project,
      name: model,
      base_model,
      from_checkpoint,
      return_existing: false,
    });
    say(id);
  });

const checkpoints = program.command('checkpoints').description('list and download the steps of a model');

remote(checkpoints, 'list <model>')
  .description('steps and their metrics; <model> is project/name or a model id')
  .action(async (name: string, flags: RemoteFlags) => {
    const client = connect(flags);
    for await (const { step, metrics } of client.listCheckpoints(await modelId(client, name))) {
      const shown = Object.entries(metrics).map(([metric, value]) => `${metric}=${Number(value.toPrecision(5))}`);
      say(`${String(step).padStart(6)}  ${shown.join('  ')}`);
    }
  });

remote(checkpoints, 'download <model> [step]')
  .description('save the adapter as a tar (PEFT directory); step is a number or latest')
  .option('--out <file>', 'default: <name>-step<step>.tar')
  .action(async (name: string, step: string | undefined, flags: RemoteFlags & { out?: string }) => {
    const client = connect(flags);
    const id = await modelId(client, name);
    const chosen = step === undefined || step === 'latest' ? 'latest' : Number(step);
    const out = flags.out ?? `${name.split('/').at(-1)}-${chosen === 'latest' ? 'latest' : `step${chosen}`}.tar`;
    const content = await client.downloadCheckpoint(id, chosen);
    await pipeline(Readable.fromWeb(content), createWriteStream(out));
    say(out);
  });

/** `project/name`, `entity/project/name` or an id. */
async function modelId(client: Client, name: string): Promise<string> {
  const [project, model] = name.split('/').slice(-2);
  if (model === undefined) return (await client.getModel(name)).id;
  for await (const { id } of client.listModels({ project: project!, name: model })) return id;
  throw new AppError('model_not_found', `No model ${name}. \`whetstone models\` lists what there is.`);
}

remote(program, 'train <file>')
  .description('submit an RL job from a JSON file (model_id, trajectory_groups, experimental_config) and follow it')
  .option('--timeout <seconds>', 'give up waiting after this long; the job goes on', '3600')
  .action(async (file: string, flags: RemoteFlags & { timeout: string }) => {
    const client = connect(flags);
    const body = JSON.parse(await readFile(file, 'utf8')) as RlJobRequest;
    const { id } = await client.submitTrainingJob(body, { idempotencyKey: randomUUID() });
    say(`job ${id}`);
    const job = await client.waitForJob(id, { deadlineMs: Number(flags.timeout) * 1000, onEvent: printEvent });
    say(`step ${job.step}`);
  });

function printEvent({ type, data }: TrainingEvent): void {
  const shown = Object.entries(data).map(
    ([key, value]) => `${key}=${typeof value === 'number' ? Number(value.toPrecision(5)) : JSON.stringify(value)}`,
  );
  say([type, ...shown].join('  '));
}

function fail(error: unknown): never {
  if (error instanceof AppError) complain(`error: ${error.message}`);
  else if (error instanceof ApiError)
    complain(`error: ${error.message}${error.requestId ? ` (request ${error.requestId})` : ''}`);
  else if (error instanceof TypeError && error.message === 'fetch failed')
    complain('error: no server answers there. Start one with `whetstone serve`, or pass --url.');
  else complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(1);
}

await program.parseAsync().catch(fail);
