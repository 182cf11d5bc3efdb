// The contracts of samplers and trainers, run against any worker that connects, in any language: `npm run conformance:worker`
// starts this (docs/worker-protocol.md, section 8). The worker must serve a tiny model from a directory; it connects once and
// stays connected.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { mkdir, rename } from 'node:fs/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { WorkerReport } from '#domain/worker';
import { BOOTSTRAP_KEY } from '../../support/api/test-server.ts';
import { inferenceEngineContract } from '../../support/contract/inference-engine.ts';
import { trainingEngineContract } from '../../support/contract/training-engine.ts';
import { writeTinyModel } from '../../support/serving/tiny-model.ts';
import { skipUnless } from '../../support/skipping.ts';
import { backPressureContract, LITTLE_ROOM } from '../../support/workers/back-pressure.ts';
import { writeByteTokenizer } from '../../support/workers/byte-tokenizer.ts';
import { openWorkerLab } from '../../support/workers/worker-lab.ts';

const IS_ASKED = process.env['WHETSTONE_CONFORMANCE'] === 'yes';
/** A shell runs it; null: the worker is started by hand. */
const COMMAND = process.env['WHETSTONE_CONFORMANCE_COMMAND'] || null;
const WAIT_MS = Number(process.env['WHETSTONE_CONFORMANCE_WAIT_SECONDS'] ?? 600) * 1_000;
const LEAVE_MS = 60_000;
const MODEL = 'conformance';
const ONLY_ASKED = skipUnless(false, 'npm run conformance:worker runs it, with a worker of yours');
const BY_HAND = 'the worker was started by hand';

vi.setConfig({ hookTimeout: 300_000, testTimeout: 300_000 });

const say = (line: string): void => void process.stderr.write(`${line}\n`);

if (IS_ASKED) await testWorker();
else test('a worker of another language keeps the contracts', ONLY_ASKED, () => {});

async function testWorker(): Promise<void> {
  const tiny = await writeTinyModel();
  const directory = join(`${tiny.directory}-of-worker`, MODEL);
  await mkdir(`${tiny.directory}-of-worker`);
  await rename(tiny.directory, directory);
  await writeByteTokenizer(directory);
  const lab = await openWorkerLab(directory, LITTLE_ROOM, MODEL);
  const env = {
    WHETSTONE_URL: lab.url,
    WHETSTONE_API_KEY: BOOTSTRAP_KEY,
    WHETSTONE_MODEL: directory,
    WHETSTONE_MODEL_ID: MODEL,
  };
  for (const [name, value] of Object.entries(env)) say(`${name}=${value}`);
  const command = COMMAND === null ? null : startCommand(COMMAND, env);
  const { name, version, roles } = await meetWorker(() => lab.workers.list(), command?.ended ?? null);
  say(`${name} ${version} is here: ${roles.join(', ')}`);

  const open = async () => lab.workers.host(lab.model);
  const { inference, training } = await open();
  const capabilities = { ...inference.capabilities, ...training.capabilities };
  if (roles.includes('sample')) {
    inferenceEngineContract(`${name} as a sampler`, {
      capabilities,
      isBounded: false,
      open: async () => (await open()).inference,
    });
    backPressureContract(name, async () => ({ ...lab, close: async () => {} }));
  }
  if (roles.includes('train')) {
    trainingEngineContract(`${name} as a trainer`, {
      capabilities,
      isBounded: false,
      open: async () => (await open()).training,
    });
  }
  describe('at its end', skipUnless(command !== null, BY_HAND), () => {
    test('asked to stop by SIGTERM, it leaves the server and exits with 0', async () => {
      expect(await command!.stop()).toBe(0);
      await expect.poll(() => lab.workers.list(), { timeout: LEAVE_MS }).toEqual([]);
    });
  });
  afterAll(async () => {
    await command?.stop();
    await lab.close();
  });
}

/** The first worker that connects. */
async function meetWorker(
  list: () => readonly WorkerReport[],
  ended: Promise<number | null> | null,
): Promise<WorkerReport> {
  say(`Waiting up to ${WAIT_MS / 1_000} s for a worker …`);
  let end: number | null | undefined;
  void ended?.then((code) => (end = code));
  for (const startMs = performance.now(); performance.now() - startMs < WAIT_MS;) {
    const [worker] = list();
    if (worker) return worker;
    if (end !== undefined) throw new Error(`The command ended with code ${end} before a worker had connected.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`No worker connected within ${WAIT_MS / 1_000} s.`);
}

function startCommand(command: string, env: Readonly<Record<string, string>>) {
  const child = spawn(`exec ${command}`, {
    shell: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const killed = () => child.kill('SIGKILL');
  process.once('exit', killed);
  const ended = once(child, 'close').then(([code]) => {
    process.off('exit', killed);
    return code as number | null;
  });
  return {
    ended,
    /** Returns its exit code. */
    stop() {
      const timer = setTimeout(killed, LEAVE_MS);
      child.kill('SIGTERM');
      return ended.finally(() => clearTimeout(timer));
    },
  };
}
