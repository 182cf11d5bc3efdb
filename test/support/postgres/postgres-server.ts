// A Postgres for the tests, from the binaries of this machine, in a directory that is removed with it. Null if there are none.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pRetry from 'p-retry';
import pg from 'pg';
import { freePort } from '../free-port.ts';

export interface PostgresServer {
  /** The URL of a new, empty database. */
  createDatabase(): Promise<string>;
  /** Ends every connection. `immediate`: as a crash does, in the middle of their work; otherwise it notifies them. */
  restart(how: 'fast' | 'immediate'): Promise<void>;
  stop(): Promise<void>;
}

const START_MS_MAX = 30_000;

/** Where Debian installs them, newest first; otherwise the PATH. */
async function findBinaries(): Promise<string | null> {
  const root = '/usr/lib/postgresql';
  const versions = await readdir(root).catch((): string[] => []);
  for (const version of versions.sort((a, b) => Number(b) - Number(a))) {
    const bin = join(root, version, 'bin');
    if ((await readdir(bin).catch((): string[] => [])).includes('initdb')) return bin;
  }
  const found = await promisify(execFile)('which', ['initdb']).catch(() => null);
  return found && join(found.stdout.trim(), '..');
}

export async function startPostgres(): Promise<PostgresServer | null> {
  const bin = await findBinaries();
  if (bin === null) return null;
  // Postgres refuses to run as root.
  const user: { uid?: number; gid?: number } = process.getuid?.() === 0 ? idsOf('postgres') : {};
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-postgres-'));
  if (user.uid !== undefined) await chown(directory, user.uid, user.gid!);
  const data = join(directory, 'data');
  await promisify(execFile)(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'whetstone', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    user,
  );
  const port = await freePort();
  const settings = [
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `unix_socket_directories=${directory}`,
    '-c',
    'fsync=off',
  ];
  const start = () =>
    spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...settings], { stdio: 'ignore', ...user });
  let child = start();
  async function end(signal: NodeJS.Signals): Promise<void> {
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
  const url = (database: string) => `postgres://whetstone@127.0.0.1:${port}/${database}`;
  await untilReady(url('postgres'));
  let databases = 0;
  return {
    async createDatabase() {
      const name = `test_${databases++}`;
      await query(url('postgres'), `create database ${name}`);
      return url(name);
    },
    async restart(how) {
      await end(how === 'fast' ? 'SIGINT' : 'SIGQUIT'); // like pg_ctl
      child = start();
      await untilReady(url('postgres'));
    },
    async stop() {
      await end('SIGINT'); // does not wait for connections
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function idsOf(name: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

const untilReady = (url: string): Promise<void> =>
  pRetry(() => query(url, 'select 1'), { retries: Infinity, minTimeout: 50, factor: 1, maxRetryTime: START_MS_MAX });
