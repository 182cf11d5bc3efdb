// The wandb library, unmodified, logs runs and artifacts here and reads them back: python/clients/check_wandb*.py talk to a server
// started here.
// Needs the interpreter that WHETSTONE_CLIENTS_PYTHON names (scripts/python-env.sh clients).
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runPython } from '../../support/python-script.ts';
import { skipWithoutPython } from '../../support/skipping.ts';
import { KEY_OF_40, MODEL, openStarterServer } from '../../support/clients/starter-server.ts';

const python = process.env['WHETSTONE_CLIENTS_PYTHON'];

const script = (name: string) => fileURLToPath(new URL(`../../../python/clients/${name}`, import.meta.url));

/** The newest release is in the environment, the oldest tested one in another (scripts/python-env.sh). */
const earlier = python ? join(dirname(dirname(python)), 'earlier') : '';
const RELEASES = [
  ['0.31.0', ''],
  ['0.28.0', earlier],
] as const;

/** Prints "ok" at the end, or fails. */
async function run(packages: string, name: string, ...args: readonly string[]): Promise<void> {
  const env = { ...process.env, PYTHONPATH: packages };
  const stdout = await runPython(python!, [script(name), ...args], { env });
  expect(stdout.trim().split('\n').at(-1)).toBe('ok');
}

describe.each(RELEASES)('the wandb library %s', skipWithoutPython('WHETSTONE_CLIENTS_PYTHON'), (release, packages) => {
  test('is that release', async () => {
    if (packages) expect(existsSync(packages), `${packages}: run scripts/python-env.sh clients`).toBe(true);
    const env = { ...process.env, PYTHONPATH: packages };
    const stdout = await runPython(python!, ['-c', 'import wandb; print(wandb.__version__)'], { env });
    expect(stdout.trim()).toBe(release);
  });

  test('logs a run of 10,000 points, resumes it and reads everything back', async () => {
    const server = await openStarterServer(KEY_OF_40);
    try {
      const root = server.baseUrl.replace(/\/v1$/, '');
      await run(packages, 'check_wandb.py', root, KEY_OF_40);
      const runs = await fetch(`${server.baseUrl}/runs?project=scripts`, {
        headers: { authorization: `Bearer ${KEY_OF_40}` },
      });
      const { data } = (await runs.json()) as { data: { history_lines: number; state: string }[] };
      expect(data.map(({ history_lines, state }) => [history_lines, state])).toEqual([
        [10_001, 'finished'],
        [0, 'failed'],
      ]);
    } finally {
      await server.close();
    }
  });

  test('logs artifacts, reads them back, makes a checkpoint of an adapter', { timeout: 240_000 }, async () => {
    const server = await openStarterServer(KEY_OF_40);
    try {
      await run(packages, 'check_wandb_artifacts.py', server.baseUrl.replace(/\/v1$/, ''), KEY_OF_40, MODEL);
    } finally {
      await server.close();
    }
  });
});
