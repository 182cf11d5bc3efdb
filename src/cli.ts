#!/usr/bin/env node
// The `whetstone` command: runs one command and ends the process. stdout carries results, stderr the log and errors, each in one line. Exit
// codes: 0 done, 1 failed, 2 called wrongly (a flag, an argument or a setting), 130 interrupted.
import { CommanderError } from 'commander';
import { CALLED_WRONGLY, exitCodeOf, explain } from './commands/explain.ts';
import { sayInterrupted } from './commands/interrupt.ts';
import { goOnWithoutErrors, onOutEnd, outFault, writeError } from './commands/terminal.ts';
import { createProgram, inOneLine } from './commands/program.ts';
import { refuseOldNode } from './commands/supported-platform.ts';
import { NODE_MIN, VERSION } from './config/version.ts';

const { program, remote, flagsInUse } = createProgram(fail);

/** Prints a cause and, if it is known, what to do next; a stack only with DEBUG=whetstone, to find a bug in Whetstone itself. */
function fail(error: unknown): never {
  const fault = error instanceof CommanderError ? outFault() : null;
  if (error instanceof CommanderError && fault === null) process.exit(error.exitCode === 0 ? 0 : CALLED_WRONGLY); // it has said why
  writeError(
    `${inOneLine(`error: ${explain(fault ?? error, { lastUrl: remote.lastUrl(), hasAnswered: remote.hasAnswered(), version: VERSION, flags: flagsInUse() })}`)}\n`,
  );
  if (process.env['DEBUG'] === 'whetstone' && error instanceof Error) writeError(`${error.stack}\n`);
  process.exit(process.exitCode ?? exitCodeOf(error));
}

goOnWithoutErrors();
onOutEnd((cause) => (cause === null ? process.exit(process.exitCode ?? 0) : fail(cause)));

process.on('SIGINT', sayInterrupted);
await (async () => {
  refuseOldNode(process.versions.node, NODE_MIN);
  await program.parseAsync();
})().catch(fail);
