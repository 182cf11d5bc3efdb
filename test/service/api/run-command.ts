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

export async function runCommand(...args: readonly string[]): Promise<Printed> {
  const argv = ['node', 'whetstone', ...args];
  const before = process.argv;
  process.argv = argv;
  const stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const text = (spy: typeof stdout) => spy.mock.calls.map(([chunk]) => String(chunk)).join('');
  const { program, remote } = newProgram();
  try {
    const error = await program.parseAsync(argv).then(
      () => null,
      (reason: unknown) => reason,
    );
    const said = explain(error, { lastUrl: remote.lastUrl(), hasAnswered: remote.hasAnswered(), version: '0.0.0' });
    return { stdout: text(stdout), stderr: text(stderr), error, said };
  } finally {
    stdout.mockRestore();
    stderr.mockRestore();
    process.argv = before;
  }
}
