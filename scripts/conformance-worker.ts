// `npm run conformance:worker -- --command "…"`: checks whether a worker, in any language, fulfils the contracts of a sampler and of a
// trainer (test/service/workers/any-worker.test.ts). Exits with 0 if it does.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';

interface Flags {
  readonly command?: string;
  readonly wait: string;
}

const { command, wait } = new Command('conformance:worker')
  .description('Tests a worker: starts a server for it, prints its address, and calls whatever connects.')
  .option(
    '--command <line>',
    'starts the worker, with the printed variables in its environment; without it, start one by hand',
  )
  .option('--wait <seconds>', 'for the worker to connect', '600')
  .parse()
  .opts<Flags>();

const env = {
  ...process.env,
  WHETSTONE_CONFORMANCE: 'yes',
  WHETSTONE_CONFORMANCE_COMMAND: command ?? '',
  WHETSTONE_CONFORMANCE_WAIT_SECONDS: wait,
};
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));
const args = [
  vitest,
  'run',
  '--root',
  root,
  '--project',
  'service',
  '--reporter',
  'verbose',
  'test/service/workers/any-worker.test.ts',
];
const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env });
process.exitCode = status ?? 1;
