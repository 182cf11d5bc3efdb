// `whetstone serve`: starts the server, prints its address, and stops it on a signal or when npm, which started it, has ended.
// Two lines on stdout are for programs; on a terminal the next steps are printed as well.
import { constants } from 'node:os';
import type { Command } from 'commander';
import { describeVariables, settingOptions } from '#config/describe-settings';
import type { Flags } from '#config/setting';
import type { SETTINGS } from '#config/settings';
import { interruptible, sayInterrupted } from './interrupt.ts';
import { say } from './output.ts';

type ServeFlags = Flags<typeof SETTINGS>;

export interface Started {
  readonly url: string;
  readonly firstKey: string | null;
  close(reason: string): Promise<void>;
}

/** Provided by cli.ts. */
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
${describeVariables(command.createHelp().helpWidth ?? process.stdout.columns ?? 80)}

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
      say(announce(server, process.stdout.isTTY));
    });
}

/** One text, written at once: a program that has read the last line has the others too. */
function announce({ url, firstKey }: Pick<Started, 'url' | 'firstKey'>, isTerminal: boolean): string {
  const lines = [...(firstKey === null ? [] : [`api key: ${firstKey}`]), `whetstone listening on ${url}`];
  return [...lines, ...(isTerminal ? nextSteps(url, firstKey !== null) : [])].join('\n');
}

const DEFAULT_URL = 'http://127.0.0.1:8484';

function nextSteps(url: string, isFirst: boolean): string[] {
  const command = process.env['npm_command'] === 'exec' ? 'npx whetstone' : 'whetstone';
  return [
    '',
    ...(isFirst
      ? ['The key is shown only once. On this machine the commands below find it in the data directory.', '']
      : []),
    'Next, in another terminal of this directory:',
    ...(url === DEFAULT_URL ? [] : [`  export WHETSTONE_URL=${url}`]),
    `  ${command} chat "What is 23 + 14?"`,
    `  ${command} models create demo/first`,
    `  ${command} jobs list`,
    `The dashboard is at ${url}/, the API reference at ${url}/docs. Ctrl-C stops the server.`,
    '',
  ];
}
