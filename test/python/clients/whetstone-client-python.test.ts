// whetstone-client against a server on the starter model: the loop of its README unchanged, and
// python/clients/check_whetstone.py. Needs the interpreter that WHETSTONE_CLIENTS_PYTHON names (scripts/python-env.sh clients).
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VERSION } from '../../../src/config/version.ts';
import { readBlocks } from '../../support/install/readme-blocks.ts';
import { runPython } from '../../support/python-script.ts';
import { skipWithoutPython } from '../../support/skipping.ts';
import { KEY, MODEL, openStarterServer, type StarterServer } from '../../support/clients/starter-server.ts';

const python = process.env['WHETSTONE_CLIENTS_PYTHON'];

const PYTHON = fileURLToPath(new URL('../../../python/', import.meta.url));
const PACKAGE = `${PYTHON}whetstone-client/`;

test('its version is that of the API', async () => {
  expect(await readFile(`${PACKAGE}pyproject.toml`, 'utf8')).toContain(`\nversion = "${VERSION}"\n`);
});

describe('whetstone-client for Python', skipWithoutPython('WHETSTONE_CLIENTS_PYTHON'), () => {
  let server: StarterServer;
  beforeAll(async () => {
    server = await openStarterServer();
  });
  afterAll(() => server.close());

  const run = async (...args: readonly string[]): Promise<string> => {
    const variables = { WHETSTONE_URL: server.baseUrl, WHETSTONE_API_KEY: KEY, PYTHONPATH: `${PACKAGE}src` };
    return runPython(python!, args, { env: { ...process.env, ...variables } });
  };

  test('the loop of its README runs unchanged, and the reward rises', { timeout: 300_000 }, async () => {
    const blocks = readBlocks(await readFile(`${PACKAGE}README.md`, 'utf8'));
    const loop = blocks.find(({ language }) => language === 'python')!.code;
    expect(loop.split('\n').length).toBeLessThanOrEqual(40);
    const said = await run('-c', loop);
    const rewards = [...said.matchAll(/^step \d+: (\S+) right, 0 rollouts failed$/gm)].map(([, mean]) => Number(mean));
    expect(rewards, said).toHaveLength(10);
    expect(rewards.at(-1)).toBeGreaterThan(rewards[0]! + 0.15);
  });

  test('coroutines, streams, examples, evaluation and checkpoints', { timeout: 300_000 }, async () => {
    expect(await run(`${PYTHON}clients/check_whetstone.py`, server.baseUrl, KEY, MODEL)).toBe('ok\n');
  });
});
