// Starts Whetstone as a user would, through its command, on a free port and a data directory of its own.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pTimeout from 'p-timeout';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 20_000;

export interface RunningServer {
  readonly url: string;
  readonly apiKey: string;
  stop(): Promise<void>;
}

/** `flags`: more of `whetstone serve`, such as its model. */
export async function startServer(dataDirectory: string, flags: readonly string[] = []): Promise<RunningServer> {
  const child = spawn(process.execPath, [CLI, 'serve', '--port', '0', '--data', dataDirectory, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, WHETSTONE_API_KEY: '' },
  });
  const log: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    log.push(line);
    if (log.length > 20) log.shift();
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  process.once('exit', () => child.kill('SIGKILL'));

  const found: { url?: string | undefined; apiKey?: string | undefined } = {};
  const ready = new Promise<{ url: string; apiKey: string }>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      found.url ??= /^whetstone listening on (\S+)$/.exec(line)?.[1];
      found.apiKey ??= /^api key: (\S+)$/.exec(line)?.[1];
      if (found.url && found.apiKey) resolve({ url: found.url, apiKey: found.apiKey });
    });
    void exited.then((code) =>
      reject(new Error(`the server stopped with code ${code}; its last words:\n${log.join('\n')}`)),
    );
  });
  const message = `the server was not ready after ${START_DEADLINE_MS / 1000} s`;
  return {
    ...(await pTimeout(ready, { milliseconds: START_DEADLINE_MS, message })),
    async stop() {
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_DEADLINE_MS);
      child.kill('SIGTERM');
      await exited;
      clearTimeout(killer);
    },
  };
}
