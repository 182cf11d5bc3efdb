#!/usr/bin/env node
// The `whetstone` command: runs one and ends the process. stdout carries results, stderr the log and errors, each in one line. Exit
// codes: 0 done, 1 failed, 2 called wrongly (a flag, an argument or a setting), 130 interrupted.
import { CommanderError } from 'commander';
import { CALLED_WRONGLY, exitCodeOf, explain } from './commands/explain.ts';
import { sayInterrupted } from './commands/interrupt.ts';
import { createProgram, inOneLine } from './program.ts';
import { VERSION } from './version.ts';

const { program, remote } = createProgram(fail);

/** A cause, and where it is known what to do next; a stack only for whoever looks for a fault in Whetstone itself. */
function fail(error: unknown): never {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : CALLED_WRONGLY); // it has said why
  process.stderr.write(`${inOneLine(`error: ${explain(error, { lastUrl: remote.lastUrl(), version: VERSION })}`)}\n`);
  if (process.env['DEBUG'] === 'whetstone' && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  process.exit(process.exitCode ?? exitCodeOf(error));
}

process.on('SIGINT', sayInterrupted);
await program.parseAsync().catch(fail);
