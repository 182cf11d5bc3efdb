// Runs a server as a user would, in a process of its own, on the starter model.
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
  /** Inspector URLs of the server and its engines (live-memory.ts), including ended ones; empty unless requested. */
  readonly inspectors: readonly string[];
  stop(): Promise<void>;
}

export async function startBenchServer(
  data: string,
  env: Readonly<Record<string, string>> = {},
  { inspected = false, flags = [] }: { readonly inspected?: boolean; readonly flags?: readonly string[] } = {},
): Promise<BenchServer> {
  const key = 'wk-bench';
  const node = inspected ? ['--inspect=127.0.0.1:0'] : []; // its children get it too
  const child = spawn(
    process.execPath,
    [...node, CLI, 'serve', '--port', '0', '--data', data, '--log-level', 'warn', ...flags],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, WHETSTONE_API_KEY: key, ...env },
    },
  );
  process.once('exit', () => child.kill()); // also when the benchmark fails
  const inspectors: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    const inspector = /^Debugger listening on (ws:\/\/\S+)$/.exec(line)?.[1];
    if (inspector) inspectors.push(inspector);
    else if (!INSPECTOR_CHAT.test(line)) process.stderr.write(`${line}\n`);
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^whetstone listening on (\S+)$/.exec(line)?.[1];
    if (!url) continue;
    return {
      url,
      key,
      pid: child.pid!,
      inspectors,
      async stop() {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        await exited;
      },
    };
  }
  throw new Error('the server did not start');
}

const INSPECTOR_CHAT =
  /^(?:For help, see: https:\/\/nodejs\.org\/|Debugger (?:attached|ending on )|Waiting for the debugger to disconnect)/;

/** Memory of the server process alone, without the engines' children; bytes. */
export const residentBytes = (pid: number): number =>
  1024 * Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }));

export const cpuName = (): string => cpus()[0]?.model ?? 'unknown';
