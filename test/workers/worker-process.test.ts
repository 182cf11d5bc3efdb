// `whetstone workers run` as an operator starts it: when and how its process ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { BOOTSTRAP_KEY } from '../api/test-server.ts';
import { writeTinyChatModel } from '../api/tiny-chat-model.ts';
import { openWorkerLab, type WorkerLab } from './worker-lab.ts';

/** It loads two engines, on a machine that does other things too. */
vi.setConfig({ testTimeout: 180_000 });
const SOON = { timeout: 120_000 };
const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

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

function startWorker(args: readonly string[], key = BOOTSTRAP_KEY) {
  const env = { ...process.env, WHETSTONE_URL: lab.url, WHETSTONE_API_KEY: key, HF_HOME: home };
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '-C', 'source', CLI, 'workers', 'run', '--roles', 'sample', ...args],
    { env, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number | null, stderr })) };
}

const makeKey = async () => (await lab.apiKeys.create({ entity: 'default', name: 'k', scopes: ['read'] })).secret;

test.each([
  ['a key that is not valid', async () => [[], 'wk-nobody'] as const, /401: the key is not valid there/],
  ['a key without the scope worker', async () => [[], await makeKey()] as const, /403: the key needs the scope worker/],
  ['roles that there are none of', async () => [['--roles', 'dance'], BOOTSTRAP_KEY] as const, /--roles must be of/],
  ['a model that is not there', async () => [['--model', './nowhere'], BOOTSTRAP_KEY] as const, /No model \.\/nowhere/],
])('with %s its process ends with 2 and says why', async (_, given, words) => {
  const [args, key] = await given();
  const { code, stderr } = await startWorker(['--model', model, ...args], key).ended;
  expect(stderr).toMatch(words);
  expect(code).toBe(2);
});

test('with another revision of the model it is refused, ends with 2 and names the file', async () => {
  const renamed = join(home, basename(model));
  await rename(await writeTinyChatModel(), renamed);
  await appendFile(join(renamed, 'config.json'), '\n');
  const { code, stderr } = await startWorker(['--model', renamed]).ended;
  expect(stderr).toMatch(/refuses this worker \(wrong_model\): Your config\.json/);
  expect(code).toBe(2);
});

test('stopped, it leaves its server and ends with 0', async () => {
  const { child, ended } = startWorker(['--model', model, '--name', 'of a process']);
  await vi.waitFor(() => expect(lab.workers.list()).toMatchObject([{ name: 'of a process' }]), SOON);
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
  await vi.waitFor(() => expect(lab.workers.list()).toEqual([]), SOON);
});
