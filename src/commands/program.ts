// All commands of `whetstone`, and their dependencies: each command loads the engines and databases that it needs. cli.ts
// decides how a command ends the process.
import { existsSync, readFileSync } from 'node:fs';
import { Command, Help } from 'commander';
import { silentLog } from '#base/log';
import { asCalled } from './as-called.ts';
import { addArtifacts } from './artifacts.ts';
import { addBackup } from './backup.ts';
import { addCompletion } from './completion.ts';
import { addChat } from './chat.ts';
import { addCheckpoints } from './checkpoints.ts';
import { showDownloads } from './download-progress.ts';
import { addData } from './data.ts';
import { addDoctor } from './doctor.ts';
import { addEpisodes } from './episodes.ts';
import { addJobs } from './jobs.ts';
import { addKeys, addLimits } from './keys.ts';
import type { Local } from './local.ts';
import { addModels } from './models.ts';
import { addProbe } from './probe.ts';
import { show, withJson, type JsonFlag } from './output.ts';
import { createRemote, type Remote } from './remote.ts';
import { writeError, writeOut } from './terminal.ts';
import { addServe } from './serve.ts';
import { addTrain } from './train.ts';
import { addUsage } from './usage.ts';
import { addWebhooks } from './webhooks.ts';
import { addWorkers } from './workers.ts';
import { settingOption } from '#config/describe-settings';
import { readSettings } from '#config/setting';
import { SETTINGS } from '#config/settings';
import { readServerConfig, readStoreConfig } from '#config/server-config';
import { localKeyPath } from '#config/data-directory';
import { readExistingStore } from '#config/existing-store';
import { findServedModel, findServerUrl } from '#server/lock-holder';
import { watchNpmParent } from '#server/npm-parent';
import type { RunWorkerOptions } from '#server/run-worker';
import { keepHeapSteady } from '#server/steady-heap';
import { STARTER_DIRECTORY } from '#config/starter-directory';
import { refuseUnsupportedPlatform, thisMachine } from './supported-platform.ts';
import { VERSION } from '#config/version';
import { UsageError } from '#domain/errors';

/** Loaded by the commands that need it: engines and databases would slow down the others. */
function main() {
  refuseUnsupportedPlatform(thisMachine());
  return import('#main');
}
async function runWorker() {
  refuseUnsupportedPlatform(thisMachine());
  const worker = await import('#server/run-worker');
  return (options: RunWorkerOptions, stop: AbortSignal) => worker.runWorker(options, stop, showDownloads());
}
const stores = () => import('#server/open-stores');

/** Of the server that was started in this directory, or with WHETSTONE_DATA. */
const dataDirectory = () => readSettings({ data: SETTINGS.data }, {}, process.env).data;
function findKey(): string | null {
  const path = localKeyPath(dataDirectory());
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
}
const findUrl = () => findServerUrl(dataDirectory());
const findModel = (id: string) => findServedModel(dataDirectory(), id);

export interface Program {
  readonly program: Command;
  readonly remote: Remote;
  /** Of the command that the user called, such as `--json`. */
  readonly flagsInUse: () => readonly string[];
}

/** `fail`: ends the process. Errors of use are thrown as commander's, after a line about them. */
export function createProgram(fail: (error: unknown) => never): Program {
  const program = new Command('whetstone')
    .description('Serve a language model, chat with it, and train it by reinforcement learning or on examples.')
    .version(VERSION)
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => writeOut(asCalled(text)),
      writeErr: (text) => writeError(asCalled(text)),
      outputError: (text, write) =>
        write(`${inOneLine(text).replace(/[^.]$/, '$&.')} See: ${asCalled(`${callOfUser(program).words} --help`)}\n`),
    })
    .configureHelp({
      boxWrap: (text, width) => new Help().boxWrap(asCalled(text), width), // wrapped as it is shown
      formatItem: besideOrBelow,
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

  const remote = createRemote({ findUrl, findKey, findModel });
  addWorkers(program, remote, { load: runWorker, watchParent });

  program.commandsGroup('Use a server:');
  addChat(program, remote);
  addModels(program, remote);
  addProbe(program, remote);
  addTrain(program, remote);
  addJobs(program, remote);
  addEpisodes(program, remote);
  addCheckpoints(program, remote, STARTER_DIRECTORY);
  addArtifacts(program, remote);
  addUsage(program, remote);
  addWebhooks(program, remote);
  addData(program, async (request, flags) =>
    (await import('#server/check-data-file')).checkDataFile(request, readServerConfig(flags, process.env)),
  );

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
    load: async () => (await import('#maintenance/maintenance')).maintenance,
  };
  addDoctor(program, maintained, async (flags) =>
    (await import('#server/planned-memory')).readPlannedMemory(readServerConfig(flags, process.env)),
  );
  addBackup(program, maintained);
  withJson(program.command('migrate'))
    .description('update the database of a data directory to this version; serve does so when it starts')
    .addOption(settingOption(SETTINGS.data))
    .action(async ({ data, ...flags }: JsonFlag & { data?: string }) => {
      const config = readExistingStore(data, process.env);
      await (await stores()).migrateStorage(config, silentLog);
      const database =
        config.databaseUrl === null ? `The database of ${config.dataDirectory}` : 'The Postgres database';
      show(flags, { data: config.dataDirectory, up_to_date: true }, () => [`${database} is up to date.`]);
    });

  program.commandsGroup('Other:');
  addCompletion(program);
  program
    .helpCommand(false) // commander's own prints all of the help for a word that is no command, and does not say so
    .command('help [command...]')
    .description('show the help of a command')
    .action((words: readonly string[]) => {
      let command = program;
      for (const word of words) {
        const next = commandNamed(word, command);
        if (!next) throw new UsageError(`There is no command ${words.join(' ')}. All commands: whetstone --help`);
        command = next;
      }
      command.help();
    });
  const flagsInUse = () => callOfUser(program).command.options.flatMap(({ long }) => long ?? []);
  return { program, remote, flagsInUse };
}

/** Commander's way, but on a narrow terminal the description stands below: beside, commander would leave it to the terminal to break it. */
function besideOrBelow(term: string, termWidth: number, description: string, helper: Help): string {
  const width = helper.helpWidth ?? 80;
  const isNarrow = width - termWidth - ITEM_INDENT - 2 < helper.minWidthToWrap;
  if (!isNarrow || description === '') return new Help().formatItem.call(helper, term, termWidth, description, helper);
  const below = ' '.repeat(3 * ITEM_INDENT);
  const lines = helper.boxWrap(description, Math.max(helper.minWidthToWrap, width - below.length)).split('\n');
  return [`${' '.repeat(ITEM_INDENT)}${term}`, ...lines.map((line) => below + line)].join('\n');
}

/** Commander's. */
const ITEM_INDENT = 2;

/** As commander words it. */
export const inOneLine = (text: string): string => text.trim().replace(/\s*\n\s*/g, ' ');

const commandNamed = (word: string, { commands }: Command): Command | undefined =>
  commands.find((each) => each.name() === word || each.aliases().includes(word));

/** The command that the first words name. */
function callOfUser(program: Command): { readonly words: string; readonly command: Command } {
  const words: string[] = [program.name()];
  let command = program;
  for (const word of process.argv.slice(2)) {
    const next = commandNamed(word, command);
    if (!next) break;
    command = next;
    words.push(word);
  }
  return { words: words.join(' '), command };
}
