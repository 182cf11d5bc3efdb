// All commands of `whetstone`, and their dependencies: each command loads the engines and databases that it needs. cli.ts
// decides how a command ends the process.
import { existsSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { silentLog } from '#base/log';
import { addArtifacts } from './commands/artifacts.ts';
import { addBackup } from './commands/backup.ts';
import { addCompletion } from './commands/completion.ts';
import { addChat } from './commands/chat.ts';
import { addCheckpoints } from './commands/checkpoints.ts';
import { showDownloads } from './commands/download-progress.ts';
import { addDoctor } from './commands/doctor.ts';
import { addJobs } from './commands/jobs.ts';
import { addKeys, addLimits } from './commands/keys.ts';
import type { Local } from './commands/local.ts';
import { addModels } from './commands/models.ts';
import { show, withJson, type JsonFlag } from './commands/output.ts';
import { createRemote, type Remote } from './commands/remote.ts';
import { addServe } from './commands/serve.ts';
import { addTrain } from './commands/train.ts';
import { addWorkers } from './commands/workers.ts';
import { settingOption } from './config/describe-settings.ts';
import { readSettings } from './config/setting.ts';
import { SETTINGS } from './config/settings.ts';
import { readServerConfig, readStoreConfig } from './config.ts';
import { localKeyPath } from './data-directory.ts';
import { readExistingStore } from './existing-store.ts';
import { watchNpmParent } from './server/npm-parent.ts';
import { keepHeapSteady } from './server/steady-heap.ts';
import { STARTER_DIRECTORY } from './starter-directory.ts';
import { refuseUnsupportedPlatform, thisMachine } from './supported-platform.ts';
import { VERSION } from './version.ts';

/** Loaded by the commands that need it: engines and databases would slow down the others. */
function main() {
  refuseUnsupportedPlatform(thisMachine());
  return import('./main.ts');
}
async function runWorker() {
  refuseUnsupportedPlatform(thisMachine());
  return (await import('./run-worker.ts')).runWorker;
}
const stores = () => import('./stores.ts');

/** The key of the server that was started in this directory, or with WHETSTONE_DATA. */
function findLocalKey(): string | null {
  const path = localKeyPath(readSettings({ data: SETTINGS.data }, {}, process.env).data);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
}

/** `fail`: ends the process. Errors of use are thrown as commander's, after a line about them. */
export function createProgram(fail: (error: unknown) => never): { readonly program: Command; readonly remote: Remote } {
  const program = new Command('whetstone')
    .description('Serve a language model, chat with it, and train it by reinforcement learning or on examples.')
    .version(VERSION)
    .enablePositionalOptions()
    .configureOutput({
      outputError: (text, write) =>
        write(`${inOneLine(text).replace(/[^.]$/, '$&.')} See: ${usedCommand(program)} --help\n`),
    })
    .exitOverride()
    .addHelpText(
      'after',
      `
First steps:
  $ whetstone serve            prints its address and, the first time, an API key
  $ whetstone chat "Hello"     in another terminal of the same directory

To use a server elsewhere, set WHETSTONE_URL and WHETSTONE_API_KEY.

Exit codes: 0 done, 1 failed, 2 wrong flag, argument or setting, 130 interrupted with Ctrl-C.`,
    );

  const watchParent = (onGone: () => void) => watchNpmParent(process.env, onGone);
  program.commandsGroup('Run a server:');
  addServe(program, {
    async start(flags) {
      const config = readServerConfig(flags, process.env);
      keepHeapSteady();
      return (await main()).startServer(config, undefined, showDownloads());
    },
    watchParent,
    fail,
  });

  const remote = createRemote(findLocalKey);
  addWorkers(program, remote, { load: runWorker, watchParent });

  program.commandsGroup('Use a server:');
  addChat(program, remote);
  addModels(program, remote);
  addTrain(program, remote);
  addJobs(program, remote);
  addCheckpoints(program, remote, STARTER_DIRECTORY);
  addArtifacts(program, remote);

  program.commandsGroup('Manage the data of a server, on its machine:');
  const local: Local = {
    dataOption: () => settingOption(SETTINGS.data),
    openKeyring: async (data) => (await stores()).openKeyring(readStoreConfig(data, process.env), silentLog),
    openExistingKeyring: async (data) => (await stores()).openKeyring(readExistingStore(data, process.env), silentLog),
  };
  addKeys(program, local);
  addLimits(program, local);

  const maintained = {
    dataOption: local.dataOption,
    load: async () => (await import('./maintenance/maintenance.ts')).maintenance,
  };
  addDoctor(program, maintained, async (flags) =>
    (await import('./server/planned-memory.ts')).readPlannedMemory(readServerConfig(flags, process.env)),
  );
  addBackup(program, maintained);
  withJson(program.command('migrate'))
    .description('update the database of a data directory to this version; serve does so when it starts')
    .addOption(settingOption(SETTINGS.data))
    .action(async ({ data, ...flags }: JsonFlag & { data?: string }) => {
      const config = readStoreConfig(data, process.env);
      await (await stores()).migrateStorage(config, silentLog);
      show(flags, { data: config.dataDirectory, up_to_date: true }, () => [
        `The database of ${config.dataDirectory} is up to date.`,
      ]);
    });

  program.commandsGroup('Other:');
  addCompletion(program);
  program.helpCommand('help [command]', 'show the help of a command');
  return { program, remote };
}

/** As commander words it. */
export const inOneLine = (text: string): string => text.trim().replace(/\s*\n\s*/g, ' ');

/** The commands among the first words. */
function usedCommand(program: Command): string {
  const words: string[] = [program.name()];
  let command: Command | undefined = program;
  for (const word of process.argv.slice(2)) {
    command = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (!command) break;
    words.push(word);
  }
  return words.join(' ');
}
