// Runs a program with third-party libraries in its own Python. A library with native threads may crash silently: the error has
// the signal or exit code, and Python itself prints the stack of every thread. One that hangs is ended in the same way.
import { execFile, type ExecFileOptions } from 'node:child_process';
import { promisify } from 'node:util';

/** What execFile rejects with. */
interface Ended {
  readonly code?: number | string;
  readonly signal?: string | null;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** Ten times what the longest program takes. The tests that run one wait longer, so that they see where it hangs. */
const LIMIT_MS = 400_000;

/** Warnings of libraries are long; the cause is at the end. */
const TAIL = 8000;

/** stdout of a program that exited with 0. */
export async function runPython(
  python: string,
  args: readonly string[],
  { env = process.env, ...options }: Omit<ExecFileOptions, 'encoding'> = {},
): Promise<string> {
  const limits = { maxBuffer: 64 * 2 ** 20, timeout: LIMIT_MS, killSignal: 'SIGABRT' } as const;
  const watched = { ...limits, ...options, env: { ...env, PYTHONFAULTHANDLER: '1' } };
  try {
    return (await promisify(execFile)(python, args, watched)).stdout;
  } catch (error) {
    const { code, signal, stdout = '', stderr = '' } = error as Ended;
    const how = signal ? `was ended by ${signal}` : `ended with ${code}`;
    throw new Error(`${args.join(' ')} ${how}.\nstdout: ${stdout.slice(-TAIL)}\nstderr: ${stderr.slice(-TAIL)}`, {
      cause: error,
    });
  }
}
