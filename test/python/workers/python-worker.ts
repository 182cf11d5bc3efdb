// whetstone-worker, the Python package of this checkout, as the process that an operator starts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { BOOTSTRAP_KEY } from '../../support/api/test-server.ts';

/** The interpreter of scripts/python-env.sh worker. */
export const WORKER_PYTHON = process.env['WHETSTONE_WORKER_PYTHON'];
const PACKAGE = fileURLToPath(new URL('../../../python/whetstone-worker/src', import.meta.url));

export interface PythonWorker {
  readonly pid: number;
  /** Asks it to leave; rejects if it ends with an error. */
  leave(): Promise<void>;
}

/**
 * Resolves once the server knows it; rejects with its last output if it ends before. `python`: an interpreter other than
 * WORKER_PYTHON.
 */
export async function startPythonWorker(
  server: { readonly url: string; readonly isThere: () => Promise<boolean> | boolean },
  args: readonly string[],
  { python = WORKER_PYTHON!, more = {} }: { python?: string; more?: NodeJS.ProcessEnv } = {},
): Promise<PythonWorker> {
  const env = {
    ...process.env,
    ...more,
    PYTHONPATH: PACKAGE,
    WHETSTONE_URL: server.url,
    WHETSTONE_API_KEY: BOOTSTRAP_KEY,
  };
  const child = spawn(python, ['-m', 'whetstone_worker', 'run', ...args], {
    env,
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const killed = () => child.kill('SIGKILL');
  process.once('exit', killed); // stops it if the test is aborted
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-5_000)));
  const ended = once(child, 'close').then(([code]) => {
    process.off('exit', killed);
    return code as number | null;
  });
  while (!(await server.isThere())) {
    const poll = new Promise<'not yet'>((resolve) => setTimeout(resolve, 20, 'not yet'));
    if ((await Promise.race([ended, poll])) !== 'not yet') throw new Error(`The worker ended:\n${words}`);
  }
  return {
    pid: child.pid!,
    async leave() {
      child.kill('SIGTERM');
      const code = await ended;
      if (code !== 0) throw new Error(`The worker left with code ${code}:\n${words}`);
    },
  };
}
