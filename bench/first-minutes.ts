// `npm run bench -- first-minutes`: how long a new user waits. Clones this checkout and goes the ways of the README: from the clone to
// the first curve of the demo, and from the clone to a server in a project of one's own. Packages come from npm's cache where it has
// them, so run it twice and take the second. Goals on two idle cores: 60 and 90 seconds. There is no peer; prints one line a step.
import { spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { freemem, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { processor } from './processor.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const directory = await mkdtemp(join(tmpdir(), 'whetstone-first-minutes-'));
const clone = join(directory, 'whetstone');
const project = join(directory, 'project');

/** Runs a command line of the README to its end; returns its seconds. */
function run(line: string, cwd: string): number {
  const began = performance.now();
  const { status, stderr } = spawnSync('bash', ['-ec', line], { cwd, encoding: 'utf8', maxBuffer: 1e9 });
  if (status !== 0) throw new Error(`${line}: exit code ${status}\n${stderr}`);
  return report(line, began);
}

/** Runs a command line until it prints a line like this, and stops it; returns the seconds. */
async function runUntil(line: string, wanted: RegExp, cwd: string): Promise<number> {
  const began = performance.now();
  const child = spawn('bash', ['-ec', line], { cwd, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  try {
    for await (const printed of createInterface({ input: child.stdout }))
      if (wanted.test(printed)) return report(`${line}, until it prints ${wanted.source}`, began);
    throw new Error(`${line} ended without a line like ${wanted.source}.`);
  } finally {
    process.kill(-child.pid!, 'SIGTERM');
  }
}

function report(what: string, began: number): number {
  const seconds = (performance.now() - began) / 1000;
  say(`${seconds.toFixed(1).padStart(7)} s  ${what}`);
  return seconds;
}

try {
  say(`${processor().name}, load ${loadavg()[0]!.toFixed(1)}, ${(freemem() / 2 ** 30).toFixed(0)} GiB free\n`);
  const cloned = run(`git clone --quiet ${ROOT} whetstone`, directory);
  const installed = run('npm ci', clone);
  const curve = await runUntil('npm run demo', /^ *step +2 /, clone);
  const packed = run('npm pack', clone);
  await mkdir(project);
  const added = run('npm init --yes && npm install ../whetstone/whetstone-*.tgz', project);
  const served = await runUntil('npx whetstone serve --port 0', /^whetstone listening on /, project);
  say(`\n${(cloned + installed + curve).toFixed(0)} s from the clone to the first curve`);
  say(`${(cloned + installed + packed + added + served).toFixed(0)} s from the clone to a server in your own project`);
} finally {
  await rm(directory, { recursive: true, force: true });
}
