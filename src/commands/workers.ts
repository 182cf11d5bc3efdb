// `whetstone workers`: lists the workers of a server, and runs this machine as a worker.
import { availableParallelism, hostname } from 'node:os';
import type { Command } from 'commander';
import type { Worker } from '#client/client';
import { AppError, type ErrorCode, UsageError } from '#domain/errors';
import type { RunWorkerOptions } from '#server/run-worker';
import { sayInterrupted } from './interrupt.ts';
import { show, table, withJson, withoutWords, type JsonFlag } from './output.ts';
import type { Remote, RemoteFlags } from './remote.ts';
import type { Serving } from './serve.ts';

const WORKER_ROLES = ['sample', 'train'] as const satisfies RunWorkerOptions['roles'];

/** Resolves when the worker has left its server. */
export type RunWorker = (options: RunWorkerOptions, stop: AbortSignal) => Promise<void>;

interface RunFlags extends RemoteFlags {
  readonly model: string;
  readonly modelId?: string | undefined;
  readonly roles: string;
  readonly name: string;
}

/** Provided by program.ts. */
interface Working extends Pick<Serving, 'watchParent'> {
  readonly load: () => Promise<RunWorker>;
}

export function addWorkers(program: Command, remote: Remote, { load, watchParent }: Working): void {
  const list = async (flags: RemoteFlags & JsonFlag) =>
    show(flags, await remote.connect(flags).listWorkers(), (found) =>
      table('No workers are connected.', HEADER, found.map(cellsOfWorker)),
    );
  const workers = withoutWords(withJson(remote.command(program, 'workers')))
    .description('list the workers that are connected to a server, or run one on this machine')
    .action(list);
  withJson(remote.command(workers, 'list'))
    .alias('ls')
    .description('the same as `whetstone workers` alone')
    .action(list);

  remote
    .command(workers, 'run')
    .description('run a worker on this machine: it samples from or trains a model that a server has in --worker-model')
    .requiredOption(
      '--model <name>',
      'model, named as in the server’s --worker-model: "starter", a directory, a GGUF file, or a Hub id',
    )
    .option(
      '--model-id <id>',
      'the server’s name of the model, where a directory or file here has another; default: the Hub id or the directory’s name',
    )
    .option('--roles <roles>', `comma-separated list of ${WORKER_ROLES.join(', ')}`, WORKER_ROLES.join(','))
    .option('--name <text>', 'name of the worker in lists and logs', `${hostname()}, ${availableParallelism()} cores`)
    .action(async ({ model, modelId, roles, name, ...flags }: RunFlags) => {
      const { url, key } = remote.address(flags);
      process.off('SIGINT', sayInterrupted);
      const stopping = new AbortController();
      watchParent(() => stopping.abort());
      process.once('SIGTERM', () => stopping.abort());
      process.once('SIGINT', () => stopping.abort());
      const run = await load();
      try {
        await run({ url, key, model, modelId, roles: readRoles(roles), name }, stopping.signal);
      } catch (error) {
        if (error instanceof AppError && REFUSALS.includes(error.code)) process.exitCode = REFUSED;
        throw error;
      }
    })
    .addHelpText(
      'after',
      '\nExit codes: 0 the worker has left its server, 2 the server refuses it for good, 1 another failure.',
    );
}

const HEADER = [
  'NAME',
  'STATE',
  'ROLES',
  'BASE MODEL',
  'RUNNING',
  'WAITING',
  'TRAINING',
  'ADAPTERS',
  'TOKENS',
  'RECONNECTS',
  'HEARD',
];

function cellsOfWorker(worker: Worker): string[] {
  const { name, state, base_model: model, roles, running, waiting, adapters, sessions, tokens } = worker;
  const numbers = [running, waiting, sessions, adapters.length, tokens, worker.reconnects].map(String);
  return [name, state, roles.join(','), model, ...numbers, `${worker.silent_seconds.toFixed(1)} s ago`];
}

/** The exit code of every refused worker (docs/worker-protocol.md): a supervisor need not restart it. */
const REFUSED = 2;
const REFUSALS: readonly ErrorCode[] = [
  'invalid_request',
  'invalid_api_key',
  'missing_scope',
  'not_found',
  'base_model_not_found',
  'bad_model_files',
];

function readRoles(text: string): RunWorkerOptions['roles'] {
  const named = text.split(',').map((role) => role.trim());
  const roles = WORKER_ROLES.filter((role) => named.includes(role));
  if (roles.length === named.length) return roles;
  throw new UsageError(`--roles must be a comma-separated list of ${WORKER_ROLES.join(', ')}, not "${text}".`);
}
