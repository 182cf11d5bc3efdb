// The unmodified ART library trains models here: python/clients/check_art*.py talk to a server started here. The oldest and the
// newest tested release have an environment each (scripts/python-env.sh clients and art), each with two releases of wandb.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runPython } from '../../support/python-script.ts';
import { skipUnless, skipWithoutPython } from '../../support/skipping.ts';
import { KEY, KEY_OF_40, MODEL, openStarterServer } from '../../support/clients/starter-server.ts';

const RELEASES = [
  ['0.5.18', 'WHETSTONE_CLIENTS_PYTHON', 'clients'],
  ['0.5.23', 'WHETSTONE_ART_PYTHON', 'art'],
] as const;

const script = (name: string) => fileURLToPath(new URL(`../../../python/clients/${name}`, import.meta.url));

const hasTorch = (python: string): boolean => spawnSync(python, ['-c', 'import torch']).status === 0;

describe.each(RELEASES)('ART %s', (release, variable, environment) => {
  const python = process.env[variable];
  const earlier = python ? join(dirname(dirname(python)), 'earlier') : '';

  /** The output of a script that sees these packages before those of the environment. */
  async function run(packages: string, ...args: readonly string[]): Promise<string> {
    const env = { ...process.env, PYTHONPATH: packages };
    return (await runPython(python!, args, { env })).trim();
  }

  test(
    'registers, rolls out, trains two steps, evaluates old and new ones, cleans up',
    { timeout: 180_000, ...skipWithoutPython(variable) },
    async () => {
      const version = 'from importlib.metadata import version; print(version("openpipe-art"))';
      expect(await run('', '-c', version)).toBe(release);
      const server = await openStarterServer();
      try {
        const printed = await run('', script('check_art.py'), server.baseUrl, KEY, MODEL);
        expect(printed.split('\n').at(-1)).toBe('ok');
      } finally {
        await server.close();
      }
    },
  );

  test.each([
    ['0.31.0', ''],
    ['0.28.0', earlier],
  ])(
    'fine-tunes from a list, a generator and a file, logs, pulls, forks and deletes through wandb %s',
    { timeout: 300_000, ...skipWithoutPython(variable) },
    async (wandb, packages) => {
      if (packages) expect(existsSync(packages), `${packages}: run scripts/python-env.sh ${environment}`).toBe(true);
      expect(await run(packages, '-c', 'import wandb; print(wandb.__version__)')).toBe(wandb);
      const server = await openStarterServer(KEY_OF_40);
      try {
        const root = server.baseUrl.replace(/\/v1$/, '');
        const printed = await run(packages, script('check_art_wandb.py'), root, KEY_OF_40, MODEL);
        expect(printed.split('\n').at(-1)).toBe('ok');
      } finally {
        await server.close();
      }
    },
  );
});

describe('ART’s own recorder', () => {
  const variable = 'WHETSTONE_ART_PYTHON';
  const python = process.env[variable];

  const check = async (name: string) => {
    const server = await openStarterServer();
    try {
      const args = [script('check_art_recorded.py'), name, server.baseUrl, KEY, MODEL];
      const printed = (await runPython(python!, args, {})).trim();
      expect(printed.split('\n').at(-1)).toBe('ok');
    } finally {
      await server.close();
    }
  };

  test(
    'is trained from its calls of chat, completions, Responses and Messages, with the sampled tokens',
    { timeout: 300_000, ...skipWithoutPython(variable) },
    () => check('recorder'),
  );

  test(
    'feeds PipelineTrainer, whose rollouts go on while a step trains',
    {
      timeout: 300_000,
      ...(python
        ? skipUnless(hasTorch(python), 'ART’s pipeline imports torch, which is not there')
        : skipWithoutPython(variable)),
    },
    () => check('pipeline'),
  );
});
