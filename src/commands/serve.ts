// `whetstone serve`: starts the server, prints its address, and stops it on a signal or when npm, which started it, has ended.
// Two lines on stdout are for programs; on a terminal the next steps are printed as well.
import { constants } from 'node:os';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { atHome } from '#base/at-home';
import { isLoopback } from '#base/loopback';
import { describeVariables, settingOptions } from '#config/describe-settings';
import type { Flags } from '#config/setting';
import type { SETTINGS } from '#config/settings';
import { asCalled } from './as-called.ts';
import { interruptible, sayInterrupted } from './interrupt.ts';
import { say } from './output.ts';
import { isOutTerminal, outColumns } from './terminal.ts';

type ServeFlags = Flags<typeof SETTINGS>;

export interface Started {
  readonly url: string;
  readonly firstKey: string | null;
  readonly localKey: string | null;
  close(reason: string): Promise<void>;
}

/** Provided by program.ts. */
export interface Serving {
  readonly start: (flags: ServeFlags) => Promise<Started>;
  /** Returns a function that stops watching. */
  readonly watchParent: (onGone: () => void) => () => void;
  readonly fail: (error: unknown) => never;
}

const ENDS = ['SIGTERM', 'SIGINT'] as const;

const NOT_STARTED = 'Interrupted while the server was starting. Start it again: downloads continue where they stopped.';

const NOTE = `See also docs/configuration.md. On Ctrl-C or SIGTERM the server finishes running requests and the running gradient step, saves, and exits with 0.`;

export function addServe(program: Command, { start, watchParent, fail }: Serving): void {
  const serve = program.command('serve').description('start the server');
  settingOptions().forEach((option) => serve.addOption(option));
  serve
    .addHelpText(
      'after',
      ({ command }) => `
Environment:
${describeVariables(command.createHelp().helpWidth ?? outColumns() ?? 80)}

${NOTE}`,
    )
    .action(async (flags: ServeFlags) => {
      // During the start there is nothing to finish. The handler is needed because process 1 of a container ignores unhandled signals.
      const giveUp = () => process.exit(128 + constants.signals.SIGTERM);
      process.on('SIGTERM', giveUp);
      const server = await interruptible({ line: () => NOT_STARTED }, () => start(flags));
      process.off('SIGTERM', giveUp);
      process.off('SIGINT', sayInterrupted);
      let stopping = false;
      const stop = (reason: string) => {
        if (stopping) process.exit(130); // second signal: exit at once
        stopping = true;
        unwatch();
        void server.close(reason).then(() => process.exit(0), fail);
      };
      const unwatch = watchParent(() => stop('parent.ended'));
      for (const signal of ENDS) process.on(signal, stop);
      const data = typeof flags.data === 'string' ? flags.data : null;
      say(announce({ ...server, data }, isOutTerminal()));
    });
}

/** One text, written at once: a program that has read the last line has the others too. */
function announce(server: Announced, isTerminal: boolean): string {
  const { url, firstKey } = server;
  const lines = [...(firstKey === null ? [] : [`api key: ${firstKey}`]), `whetstone listening on ${url}`];
  return [...lines, ...(isTerminal ? nextSteps(server) : [])].join('\n');
}

interface Announced extends Omit<Started, 'close'> {
  /** Of `--data`, which other commands do not know; null: they find the directory by themselves. */
  readonly data: string | null;
}

/** Only on a terminal, whose user may read the key in the data directory anyway; it does not belong in a log. */
export function nextSteps({ url, firstKey, localKey, data }: Announced): string[] {
  const isOwn = isLoopback(new URL(url).hostname);
  return [
    '',
    ...(firstKey === null ? [] : ['On this machine the commands below find the key in the data directory.', '']),
    'Next, in another terminal of this directory:',
    ...(data === null ? [] : [exportOf(data)]),
    asCalled('  whetstone chat "What is 23 + 14?"'),
    asCalled('  whetstone models create demo/first'),
    asCalled('  whetstone jobs list'),
    '',
    isOwn && localKey !== null
      ? `Open the dashboard, signed in: ${url}/#key=${encodeURIComponent(localKey)}`
      : `The dashboard is at ${url}/`,
    `The API reference is at ${url}/docs. Ctrl-C stops the server.`,
    '',
  ];
}

/** The directory in one word of a shell. */
function exportOf(data: string): string {
  const path = resolve(atHome(data));
  if (process.platform === 'win32') return `  set "WHETSTONE_DATA=${path}"`;
  return `  export WHETSTONE_DATA=${/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`}`;
}
