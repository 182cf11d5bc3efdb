#!/usr/bin/env node
// The `whetstone` command: runs one and ends the process. stdout carries results, stderr the log and errors, each in one line. Exit
// codes: 0 done, 1 failed, 2 called wrongly, 130 interrupted.
import { CommanderError } from 'commander';
import { AppError } from '#domain/errors';
import { ArtifactFilesError } from './client/artifact-files.ts';
import { ApiError, TrainingFailedError } from './client/client.ts';
import { createProgram, inOneLine } from './program.ts';

const WRONG_USE = 2;

const { program, remote } = createProgram(fail);

/** A cause, and where it is known what to do next; a stack only for whoever looks for a fault in Whetstone itself. */
function fail(error: unknown): never {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : WRONG_USE); // it has said why
  process.stderr.write(`${inOneLine(`error: ${explain(error)}`)}\n`);
  if (process.env['DEBUG'] === 'whetstone' && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  process.exit(process.exitCode ?? 1);
}

function explain(error: unknown): string {
  if (error instanceof ApiError) return `${error.message}${error.requestId ? ` (request ${error.requestId})` : ''}`;
  if (error instanceof AppError || error instanceof TrainingFailedError || error instanceof ArtifactFilesError)
    return error.message;
  if (error instanceof TypeError && error.message === 'fetch failed')
    return `no server answers at ${remote.lastUrl()}. Start one with \`whetstone serve\`, or name another with --url or WHETSTONE_URL.`;
  if (error instanceof Error && 'syscall' in error) return explainFile(error as NodeJS.ErrnoException);
  const message = error instanceof Error ? error.message : String(error);
  return `${message}. This is a fault of Whetstone: DEBUG=whetstone shows where it comes from.`;
}

/** What the system says of a file; the rarer faults in its own words, which name the file. */
function explainFile({ code, path, message }: NodeJS.ErrnoException): string {
  const faults: Readonly<Record<string, string>> = {
    ENOENT: 'does not exist',
    ENOTDIR: 'goes through a file as if it were a directory',
    EISDIR: 'is a directory, not a file',
    EACCES: 'may not be read or written by you: change its permissions, or name another',
    EPERM: 'may not be read or written by you: change its permissions, or name another',
    EROFS: 'is on a file system that is read-only: name another',
    ENOSPC: 'cannot be written: no space is left on its disk',
  };
  const fault = faults[code ?? ''];
  return fault && path ? `${path} ${fault}.` : message;
}

await program.parseAsync().catch(fail);
