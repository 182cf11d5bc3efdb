#!/usr/bin/env node
// The `whetstone` command. Each command reads its flags, calls what does the work, and prints for people; nothing is
// decided here. stdout carries results, stderr the log and errors.
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { silentLog } from '#base/log';
import { AppError } from '#domain/errors';
import { ArtifactFilesError } from './client/artifact-files.ts';
import { ApiError, TrainingFailedError } from './client/client.ts';
import { addArtifacts } from './commands/artifacts.ts';
import { addBackup } from './commands/backup.ts';
import { addChat } from './commands/chat.ts';
import { addCheckpoints } from './commands/checkpoints.ts';
import { addDoctor } from './commands/doctor.ts';
import { addKeys, addLimits } from './commands/keys.ts';
import type { Local } from './commands/local.ts';
import { addModels } from './commands/models.ts';
import { createRemote, say } from './commands/remote.ts';
import { addTrain } from './commands/train.ts';
import { DEFAULTS, readServerConfig, readStoreConfig, type ServeFlags } from './config.ts';
import { keepHeapSteady } from './server/steady-heap.ts';
import { VERSION } from './version.ts';

/** Loaded by the commands that need it: engines and databases would slow down the others. */
const main = () => import('./main.ts');
const stores = () => import('./stores.ts');

const complain = (line: string): void => void process.stderr.write(`${line}\n`);

const program = new Command('whetstone')
  .description('Chat with a model, train it by reinforcement learning or on examples, serve every checkpoint.')
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
    '--role <roles>',
    'what this server does, of api,serve,train: others that share its Postgres and blob store do the rest (default: all, env WHETSTONE_ROLE)',
  )
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
  WHETSTONE_DATABASE_URL          postgres://…: rows in a Postgres that servers may share (default: SQLite in the
                                  data directory)
  WHETSTONE_BLOBS_URL             s3://bucket/prefix?endpoint=…&region=…: adapters, job data and artifacts in an
                                  S3-compatible store, with the usual AWS_… variables (default: the data directory)
  WHETSTONE_API_KEY               a key that is accepted as it is, entity "default"
  WHETSTONE_BODY_MB_MAX           largest request (default ${DEFAULTS.bodyMb})
  WHETSTONE_TRAINING_BODY_MB_MAX  largest training job (default ${DEFAULTS.trainingBodyMb})
  WHETSTONE_ARTIFACT_MB_MAX       largest file of an artifact (default ${DEFAULTS.artifactMb})
  WHETSTONE_PREFIX_CACHE_MB       memory for computed prompts, per base model (default: 1/16 of the machine, at most 1 GiB)
  WHETSTONE_SAVE_SECONDS          how often a job saves its progress; 0: after each gradient step (default ${DEFAULTS.saveEverySeconds})
  WHETSTONE_DRAIN_SECONDS         how long a stop waits for running requests (default ${DEFAULTS.drainSeconds})
  WHETSTONE_STEP_SECONDS          how long a stop waits for the running gradient step, meanwhile (default ${DEFAULTS.stepSeconds})
  HF_HOME, HF_TOKEN, HF_ENDPOINT  where Hub models come from and go to
  OTEL_EXPORTER_OTLP_ENDPOINT     send traces to this OpenTelemetry collector, such as http://localhost:4318

SIGTERM and SIGINT finish running requests and the running gradient step, save it, and exit with 0.`,
  )
  .action(async (flags: ServeFlags) => {
    const config = readServerConfig(flags, process.env);
    keepHeapSteady();
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
    const config = readStoreConfig(data, process.env);
    await (await stores()).migrateStorage(config, silentLog);
    say(`The database of ${config.dataDirectory} is up to date.`);
  });

const local: Local = {
  dataOption: ['--data <directory>', `default ${DEFAULTS.data}, env WHETSTONE_DATA`],
  openKeyring: async (data) => (await stores()).openKeyring(readStoreConfig(data, process.env), silentLog),
};
addKeys(program, local);
addLimits(program, local);

const maintained = {
  dataOption: local.dataOption,
  load: async () => (await import('./maintenance/maintenance.ts')).maintenance,
};
addDoctor(program, maintained);
addBackup(program, maintained);

const remote = createRemote(`http://${DEFAULTS.host}:${DEFAULTS.port}`);
addChat(program, remote);
addModels(program, remote);
addCheckpoints(program, remote, fileURLToPath(new URL('../models/starter', import.meta.url)));
addTrain(program, remote);
addArtifacts(program, remote);

function fail(error: unknown): never {
  if (error instanceof AppError) complain(`error: ${error.message}`);
  else if (error instanceof ApiError)
    complain(`error: ${error.message}${error.requestId ? ` (request ${error.requestId})` : ''}`);
  else if (error instanceof TrainingFailedError || error instanceof ArtifactFilesError)
    complain(`error: ${error.message}`);
  else if (error instanceof TypeError && error.message === 'fetch failed')
    complain('error: no server answers there. Start one with `whetstone serve`, or pass --url.');
  else complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(1);
}

await program.parseAsync().catch(fail);
