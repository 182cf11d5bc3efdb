// `whetstone serve` as installed (dist), for workers only, on one port: killed and restarted on its data.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { CLI } from '../../support/cli-command.ts';
import { freePort } from '../../support/free-port.ts';

export interface DistServer {
  readonly url: string;
  readonly key: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Exit code. */
  stop(): Promise<number | null>;
}

export async function createDistServer(data: string, model: string): Promise<DistServer> {
  const port = await freePort();
  const key = 'wk-cluster-test';
  let child: ChildProcess | null = null;
  let log = '';
  async function end(signal: NodeJS.Signals): Promise<number | null> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const exited = once(child, 'exit') as Promise<[number | null]>;
    child.kill(signal);
    return (await exited)[0];
  }
  return {
    url: `http://127.0.0.1:${port}`,
    key,
    async start() {
      const args = [
        CLI,
        'serve',
        '--worker-model',
        model,
        '--port',
        String(port),
        '--data',
        data,
        '--log-level',
        'warn',
      ];
      child = spawn(process.execPath, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, NODE_OPTIONS: '', WHETSTONE_API_KEY: key },
      });
      child.stderr!.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-5_000)));
      for await (const line of createInterface({ input: child.stdout! })) {
        if (line.startsWith('whetstone listening on ')) return;
      }
      throw new Error(`the server ended before it listened:\n${log}`);
    },
    async kill() {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
  };
}
