// The lock of a data directory between processes: real ones, some of them in containers' own process namespaces.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { lockDataDirectory } from '../../../src/server/data-lock.ts';
import { FROM_SOURCE } from '../../support/cli-command.ts';
import { skipUnless } from '../../support/skipping.ts';

const HOLDER = fileURLToPath(new URL('lock-holder.ts', import.meta.url));
const root = await mkdtemp(join(tmpdir(), 'whetstone-lock-'));
afterAll(() => rm(root, { recursive: true, force: true }));

const children: ChildProcess[] = [];
afterEach(() => void children.splice(0).forEach((child) => child.kill('SIGKILL')));

let directories = 0;
async function newDirectory(): Promise<string> {
  const directory = join(root, String(directories++));
  await mkdir(directory);
  return directory;
}

interface Holder {
  ask(line: string): Promise<string>;
  kill(): Promise<void>;
}

/** `within`: a command that starts the process in another namespace. */
function startHolder(within: readonly string[] = []): Holder {
  const [command, ...args] = [...within, process.execPath, ...FROM_SOURCE, HOLDER];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(line) {
      child.stdin.write(`${line}\n`);
      return String((await answers.next()).value);
    },
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

test('of two processes that start at once, one gets the directory, however often', async () => {
  const both = [startHolder(), startHolder()];
  for (let round = 0; round < 100; round++) {
    const directory = await newDirectory();
    if (round % 2 === 1) await writeFile(join(directory, 'server.lock'), '{"pid":4194304}'); // an older version was killed
    const answers = await Promise.all(both.map((each) => each.ask(`lock ${directory}`)));
    expect(answers.filter((answer) => answer === 'locked')).toHaveLength(1);
    expect(answers.find((answer) => answer !== 'locked')).toMatch(/ is in use by .*Stop it, or choose another --data/);
    await Promise.all(both.map((each) => each.ask('release')));
    expect(await readdir(directory)).not.toContain('server.lock');
  }
});

test('the lock of a killed process is free at once, also for two that start at once', async () => {
  const directory = await newDirectory();
  const both = [startHolder(), startHolder()];
  for (let round = 0; round < 3; round++) {
    const killed = startHolder();
    expect(await killed.ask(`lock ${directory}`)).toBe('locked');
    expect(await both[0]!.ask(`lock ${directory}`)).toContain('is in use by the server with process id');
    await killed.kill();
    const answers = await Promise.all(both.map((each) => each.ask(`lock ${directory}`)));
    expect(answers.filter((answer) => answer === 'locked')).toHaveLength(1);
    await Promise.all(both.map((each) => each.ask('release')));
  }
});

const OWN_PROCESSES = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'];
const canSeparate = spawnSync(OWN_PROCESSES[0]!, [...OWN_PROCESSES.slice(1), 'true']).status === 0;

test(
  'containers on one directory exclude each other',
  skipUnless(canSeparate, 'unshare may not run here'),
  async () => {
    const directory = await newDirectory();
    const [first, second] = [startHolder(OWN_PROCESSES), startHolder(OWN_PROCESSES)]; // both are process 1
    expect(await first.ask(`lock ${directory}`)).toBe('locked');
    expect(await second.ask(`lock ${directory}`)).toContain('is in use by the server with process id 1 on');
    await expect(lockDataDirectory(directory)).rejects.toThrow('is in use');
    await first.kill();
    await vi.waitFor(async () => expect(await second.ask(`lock ${directory}`)).toBe('locked')); // it dies after its unshare
  },
);

test('a server that was refused leaves the lock of the other alone', async () => {
  const directory = await newDirectory();
  const lock = await lockDataDirectory(directory);
  await expect(lockDataDirectory(directory)).rejects.toMatchObject({ code: 'invalid_request' });
  expect(await startHolder().ask(`lock ${directory}`)).toContain('is in use');
  await lock.release();
  await lock.release(); // a second release frees nothing of the next holder's
  const next = await lockDataDirectory(directory);
  await lock.release();
  expect(await startHolder().ask(`lock ${directory}`)).toContain('is in use');
  await next.release();
});
