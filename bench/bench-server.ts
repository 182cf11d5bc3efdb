// A server as a user runs it, in a process of its own, on the starter model.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url));

export interface BenchServer {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export async function startBenchServer(data: string, env: Readonly<Record<string, string>> = {}): Promise<BenchServer> {
  const key = 'wk-bench';
  const child = spawn(process.execPath, [CLI, 'serve', '--port', '0', '--data', data, '--log-level', 'warn'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, WHETSTONE_API_KEY: key, ...env },
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^whetstone listening on (\S+)$/.exec(line)?.[1];
    if (!url) continue;
    return {
      url,
      key,
      pid: child.pid!,
      async stop() {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        await exited;
      },
    };
  }
  throw new Error('the server did not start');
}

/** Of the process alone, not of the engines' children; bytes. */
export const residentBytes = (pid: number): number =>
  1024 * Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }));

export const cpuName = (): string => cpus()[0]?.model ?? 'unknown';
