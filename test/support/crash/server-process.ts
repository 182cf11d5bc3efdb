// A whole server as a user runs it, whose processes can be killed one by one and which restarts on the same port.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createClient, type Client } from '#client/client';
import { CLI } from '../cli-command.ts';
import { freePort } from '../free-port.ts';

const API_KEY = 'wk-crash-test';

/** `server` kills its engines too. */
export type Victim = 'server' | 'training' | 'inference';
/** The process that reads the data of jobs: it runs while one is read, and a minute longer. */
type Child = Exclude<Victim, 'server'> | 'reader';

export interface ServerProcess {
  readonly client: Client;
  readonly url: string;
  readonly apiKey: string;
  /** Of the server itself, since its last start. */
  pid(): number;
  start(): Promise<void>;
  /** False if the process was not running: it is being replaced. A killed server has ended when this resolves. */
  kill(victim: Victim): Promise<boolean>;
  /** Which of its engines are running. */
  engines(): Exclude<Victim, 'server'>[];
  /** Stops it, as in an endless computation. False as for `kill`. */
  freeze(victim: Child): boolean;
  /** Exit code. */
  stop(): Promise<number | null>;
  /** The fields of all events of this name that it has logged. */
  logged(event: string): Readonly<Record<string, unknown>>[];
}

export async function createServerProcess(
  data: string,
  env: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
): Promise<ServerProcess> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess;
  let log = '';

  function signalEngine(victim: Victim | Child, signal: NodeJS.Signals): boolean {
    const pid = findEngine(child.pid!, victim);
    if (pid !== null) process.kill(pid, signal);
    return pid !== null;
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exited = once(child, 'exit') as Promise<[number | null]>;
    child.kill(signal);
    return (await exited)[0];
  }

  return {
    client: createClient({ baseUrl: url, apiKey: API_KEY }),
    url,
    apiKey: API_KEY,
    pid: () => child.pid!,
    async start() {
      const own = ['--port', String(port), '--data', data, '--log-level', 'warn'];
      const args = [CLI, 'serve', ...own, ...flags];
      child = spawn(process.execPath, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...process.env,
          WHETSTONE_API_KEY: API_KEY,
          WHETSTONE_SAVE_SECONDS: '0',
          WHETSTONE_LOG_FORMAT: 'json',
          ...env,
        },
      });
      child.stderr!.setEncoding('utf8').on('data', (text: string) => (log += text));
      for await (const line of createInterface({ input: child.stdout! })) {
        if (line.startsWith('whetstone listening on ')) return;
      }
      throw new Error(`the server ended before it listened:\n${log.slice(-2000)}`);
    },
    async kill(victim) {
      if (victim === 'server') {
        await end('SIGKILL');
        return true;
      }
      return signalEngine(victim, 'SIGKILL');
    },
    engines: () => (['training', 'inference'] as const).filter((role) => findEngine(child.pid!, role) !== null),
    freeze: (victim) => signalEngine(victim, 'SIGSTOP'),
    stop: () => end('SIGTERM'),
    logged: (event) =>
      log
        .split('\n')
        .filter((line) => line.startsWith('{') && line.includes(`"${event}"`))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

/** Engines are forked with their role as last argument; the reader of job data with its own file. */
function findEngine(serverPid: number, role: Victim | Child): number | null {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' });
  for (const line of table.split('\n')) {
    const [pid, parent, state, ...args] = line.trim().split(/\s+/);
    if (Number(parent) !== serverPid || state!.startsWith('Z')) continue;
    if (role === 'reader' ? args.some((arg) => arg.includes('job-data-process')) : args.at(-1) === role)
      return Number(pid);
  }
  return null;
}
