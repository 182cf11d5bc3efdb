// A command of `whetstone`, run in this process: what it prints, and how it fails.
import { vi } from 'vitest';
import { explain } from '../../../src/commands/explain.ts';
import { createProgram } from '../../../src/commands/program.ts';

export const newProgram = () =>
  createProgram((error) => {
    throw error;
  });

export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  readonly error: unknown;
  /** The text that cli.ts writes after `error: `. */
  readonly said: string;
}

export const runCommand = (...args: readonly string[]): Promise<Printed> => runFrom('whetstone', args);

/** As the user of a local installation runs it. */
export const runWithNpx = (...args: readonly string[]): Promise<Printed> =>
  runFrom('/home/me/project/node_modules/.bin/whetstone', args);

async function runFrom(file: string, args: readonly string[]): Promise<Printed> {
  const argv = ['node', file, ...args];
  const before = process.argv;
  process.argv = argv;
  const stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const text = (spy: typeof stdout) => spy.mock.calls.map(([chunk]) => String(chunk)).join('');
  const { program, remote, flagsInUse } = newProgram();
  try {
    const error = await program.parseAsync(argv).then(
      () => null,
      (reason: unknown) => reason,
    );
    const said = explain(error, {
      lastUrl: remote.lastUrl(),
      hasAnswered: remote.hasAnswered(),
      version: '0.0.0',
      flags: flagsInUse(),
    });
    return { stdout: text(stdout), stderr: text(stderr), error, said };
  } finally {
    stdout.mockRestore();
    stderr.mockRestore();
    process.argv = before;
  }
}
