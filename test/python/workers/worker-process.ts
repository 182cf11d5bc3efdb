// A worker as the process that an operator starts, of either package.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { BOOTSTRAP_KEY } from '../../support/api/test-server.ts';

export interface WorkerProcess {
  readonly pid: number;
  /** Asks it to leave; rejects if it ends with an error. */
  leave(): Promise<void>;
}

/** The server that a worker joins. */
export interface Joined {
  readonly url: string;
  /** Whether the server knows the worker. */
  readonly isThere: () => Promise<boolean> | boolean;
}

/** Resolves once the server knows it; rejects with its last output if it ends before. */
export async function startWorker(
  { url, isThere }: Joined,
  program: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<WorkerProcess> {
  const env = { ...process.env, ...more, WHETSTONE_URL: url, WHETSTONE_API_KEY: BOOTSTRAP_KEY };
  const child = spawn(program, args, { env, stdio: ['ignore', 'inherit', 'pipe'] });
  const killed = () => child.kill('SIGKILL');
  process.once('exit', killed); // stops it if the test is aborted
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-5_000)));
  const ended = once(child, 'close').then(([code]) => {
    process.off('exit', killed);
    return code as number | null;
  });
  while (!(await isThere())) {
    const poll = new Promise<'not yet'>((resolve) => setTimeout(resolve, 50, 'not yet'));
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
