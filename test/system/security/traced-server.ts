// The built server under strace, with its own home and temporary directory: which names its processes look up, which
// addresses they connect to, which files they make. Null if strace is missing or may not trace.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient, type Client } from '#client/client';
import { CLI } from '../../support/cli-command.ts';

const API_KEY = 'wk-traced';
const CALLS =
  'trace=network,open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mknod,mknodat';

export interface TracedServer {
  readonly client: Client;
  readonly dataDirectory: string;
  readonly temporaryDirectory: string;
  stop(): Promise<SystemCalls>;
  remove(): Promise<void>;
}

export interface SystemCalls {
  /** Reads of the hosts file, calls of the name service, packets to port 53. */
  readonly lookups: readonly string[];
  /** Internet addresses outside loopback. */
  readonly addresses: readonly string[];
  /** Paths that were created: files, directories, links. */
  readonly made: readonly string[];
}

export async function startTracedServer(): Promise<TracedServer | null> {
  if (spawnSync('strace', ['-f', '-o', '/dev/null', process.execPath, '--version']).status !== 0) return null;
  const root = await mkdtemp(join(tmpdir(), 'whetstone-traced-'));
  const [home, temporaryDirectory, dataDirectory] = ['home', 'tmp', 'data'].map((name) => join(root, name));
  await Promise.all([mkdir(home!), mkdir(temporaryDirectory!)]);
  const trace = join(root, 'trace');
  const command = [process.execPath, CLI, 'serve', '--port', '0', '--data', dataDirectory!];
  const child = spawn('strace', ['-f', '-qq', '-y', '-e', CALLS, '-e', 'signal=none', '-o', trace, ...command], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      TMPDIR: temporaryDirectory,
      WHETSTONE_API_KEY: API_KEY,
      WHETSTONE_LOG_LEVEL: 'warn',
    },
  });
  const exited = once(child, 'exit');
  const baseUrl = await readAddress(child.stdout);
  return {
    client: createClient({ baseUrl, apiKey: API_KEY }),
    dataDirectory: dataDirectory!,
    temporaryDirectory: temporaryDirectory!,
    async stop() {
      const [first] = (await readFile(trace, 'utf8')).split(' ', 1);
      process.kill(Number(first), 'SIGTERM'); // the server: strace would only detach from it
      await exited;
      return readTrace(await readFile(trace, 'utf8'), root);
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

async function readAddress(stdout: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const address = /^whetstone listening on (\S+)/.exec(line);
    if (address) return address[1]!;
  }
  throw new Error('The traced server ended before it listened.');
}

/** Parses strace's lines. The arguments are on the line where a call starts, so the lines that resume interrupted calls are skipped. */
export function readTrace(trace: string, workingDirectory: string): SystemCalls {
  const calls: SystemCalls & Record<keyof SystemCalls, string[]> = { lookups: [], addresses: [], made: [] };
  for (const line of trace.split('\n')) {
    const call = /^\d+ +(\w+)\((.*)/.exec(line);
    if (!call) continue;
    const [, name, rest] = call as unknown as [string, string, string];
    if (/"\/etc\/hosts"|nscd\/socket|htons\(53\)/.test(rest)) calls.lookups.push(line);
    const address = SPEAKING.test(name) && INTERNET_ADDRESS.exec(rest);
    if (address && !/^(127\.|::1$|::ffff:127\.)/.test(address[1] ?? address[2]!)) calls.addresses.push(line);
    if (MAKING.test(name) || (/^open/.test(name) && rest.includes('O_CREAT'))) {
      if (!/\) += -1 /.test(line)) calls.made.push(pathMade(rest, workingDirectory));
    }
  }
  return calls;
}

const SPEAKING = /^(connect|bind|sendto|sendmsg|sendmmsg)$/;
const INTERNET_ADDRESS = /sa_family=AF_INET6?,.*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")/;
const MAKING = /^(creat|mkdir|rename|link|symlink|mknod)/;

/** The last path of the call, relative to the directory before it: `openat(24</tmp>, "name", …`, `rename("from", "to")`. */
function pathMade(rest: string, workingDirectory: string): string {
  const paths = [...rest.matchAll(/(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"/g)];
  const [, directory, path] = paths.at(-1)!;
  return resolve(directory ?? workingDirectory, path!);
}
