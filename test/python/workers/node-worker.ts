// `whetstone workers run`, the worker of this package, as the process that an operator starts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { BOOTSTRAP_KEY as KEY } from '../../support/api/test-server.ts';
import { CLI } from '../../support/cli-command.ts';
import type { PythonWorker } from './python-worker.ts';

/** Resolves once the server lists one more worker; rejects with its last output if it ends before. */
export async function startNodeWorker(
  url: string,
  roles: string,
  isThere: () => Promise<boolean>,
): Promise<PythonWorker> {
  const args = [CLI, 'workers', 'run', '--model', 'starter', '--roles', roles];
  const env = { ...process.env, WHETSTONE_URL: url, WHETSTONE_API_KEY: KEY };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-5_000)));
  const killed = () => child.kill('SIGKILL');
  process.once('exit', killed); // stops it if the test is aborted
  const ended = once(child, 'close').then(() => process.off('exit', killed));
  while (!(await isThere())) {
    const poll = new Promise<'not yet'>((resolve) => setTimeout(resolve, 100, 'not yet'));
    if ((await Promise.race([ended, poll])) !== 'not yet') throw new Error(`The worker ended:\n${words}`);
  }
  return {
    pid: child.pid!,
    async leave() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
