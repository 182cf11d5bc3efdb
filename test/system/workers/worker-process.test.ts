// `whetstone workers run` as an operator starts it: when and how its process ends, and what happens to the engine's process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { isRunning } from '#base/is-running';
import { CLI } from '../../support/cli-command.ts';
import { BOOTSTRAP_KEY } from '../../support/api/test-server.ts';
import { writeTinyChatModel } from '../../support/api/tiny-chat-model.ts';
import { collect, request } from '../../support/contract/inference-engine.ts';
import { openWorkerLab, type WorkerLab } from '../../support/workers/worker-lab.ts';

/** It loads two engines, possibly on a busy machine. */
vi.setConfig({ testTimeout: 180_000 });
const SOON = { timeout: 120_000 };

let model: string;
let home: string;
let lab: WorkerLab;
beforeAll(async () => {
  model = await writeTinyChatModel();
  home = await mkdtemp(join(tmpdir(), 'whetstone-worker-process-'));
  lab = await openWorkerLab(model, {}, basename(model));
});
afterAll(async () => {
  await lab.close();
  await rm(model, { recursive: true, force: true });
  await rm(home, { recursive: true, force: true });
});

const COMMAND = [process.execPath, CLI, 'workers', 'run', '--roles', 'sample'];

function startWorker(args: readonly string[], key = BOOTSTRAP_KEY) {
  return start([...COMMAND, ...args], { WHETSTONE_API_KEY: key });
}

/** `ended`: resolves once no process holds its stderr, which its own children inherit. */
function start([program, ...args]: readonly string[], variables: Readonly<Record<string, string>>) {
  const env = { ...process.env, WHETSTONE_URL: lab.url, HF_HOME: home, WHETSTONE_LOG_FORMAT: 'json', ...variables };
  const child = spawn(program!, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return {
    child,
    ended: once(child, 'close').then(([code]) => ({ code: code as number | null, stderr })),
    /** The newest log line of this event. */
    logged(this: void, event: string): Record<string, unknown> {
      const line = stderr.split('\n').findLast((text) => text.includes(`"${event}"`));
      if (!line) throw new Error(`no ${event} in: ${stderr}`);
      return JSON.parse(line) as Record<string, unknown>;
    },
  };
}

const isThere = (name: string) =>
  vi.waitFor(() => expect(lab.workers.list()).toMatchObject([{ name, state: 'connected' }]), SOON);
const isGone = () => vi.waitFor(() => expect(lab.workers.list()).toEqual([]), SOON);

const makeKey = async () => (await lab.apiKeys.create({ entity: 'default', name: 'k', scopes: ['read'] })).secret;

test.each([
  ['a key that is not valid', async () => [[], 'wk-nobody'] as const, /401: the key is not valid there/],
  ['a key without the scope worker', async () => [[], await makeKey()] as const, /403: the key needs the scope worker/],
  [
    'roles that there are none of',
    async () => [['--roles', 'dance'], BOOTSTRAP_KEY] as const,
    /--roles must be a comma-separated list of/,
  ],
  ['a model that is not there', async () => [['--model', './nowhere'], BOOTSTRAP_KEY] as const, /No model \.\/nowhere/],
])('with %s its process exits with 2 and says why', async (_, given, words) => {
  const [args, key] = await given();
  const { code, stderr } = await startWorker(['--model', model, ...args], key).ended;
  expect(stderr).toMatch(words);
  expect(code).toBe(2);
});

test('with another revision of the model it is refused, exits with 2 and names the file', async () => {
  const renamed = join(home, basename(model));
  await rename(await writeTinyChatModel(), renamed);
  await appendFile(join(renamed, 'config.json'), '\n');
  const { code, stderr } = await startWorker(['--model', renamed]).ended;
  expect(stderr).toMatch(/refuses this worker \(wrong_model\): The worker's config\.json/);
  expect(code).toBe(2);
});

test('when stopped, it leaves its server and exits with 0', async () => {
  const { child, ended } = startWorker(['--model', model, '--name', 'of a process']);
  await isThere('of a process');
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
  await isGone();
});

test('its engine is restarted and named in its log after a kill, while it stays connected', async () => {
  const { child, ended, logged } = startWorker(['--model', model, '--name', 'of two']);
  await isThere('of two');
  process.kill(logged('engine.started')['pid'] as number, 'SIGKILL');
  await vi.waitFor(() => logged('engine.restarted'), SOON);
  expect(logged('engine.exited')).toMatchObject({ engine: 'inference', reason: 'was killed by SIGKILL' });
  expect(lab.workers.list()).toMatchObject([{ name: 'of two', state: 'connected', reconnects: 0 }]);
  expect(await collect(lab.inference, request())).toHaveLength(1);
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
  await isGone();
});

test('when killed, it leaves no engine process', async () => {
  const { child, ended, logged } = startWorker(['--model', model, '--name', 'doomed']);
  await isThere('doomed');
  const engine = logged('engine.started')['pid'] as number;
  expect(isRunning(engine)).toBe(true);
  child.kill('SIGKILL');
  await ended;
  await vi.waitFor(() => expect(isRunning(engine)).toBe(false), SOON);
  await isGone(); // its lease expires
});

test('started by npm, it leaves its server when the shell between them is gone, and its engine ends with it', async () => {
  const quoted = [...COMMAND, '--model', model, '--name', 'of npm'].map((word) => `'${word}'`).join(' ');
  const variables = { WHETSTONE_API_KEY: BOOTSTRAP_KEY, npm_command: 'exec' };
  const { child, ended, logged } = start(['/bin/sh', '-c', `${quoted}; true`], variables);
  await isThere('of npm');
  child.kill('SIGKILL');
  await isGone();
  await ended;
  expect(isRunning(logged('engine.started')['pid'] as number)).toBe(false);
});
