// The Tinker SDK as published on PyPI, in the newest and the oldest supported release: python/tinker/check_sdk.py talks to a
// server started here. Needs the interpreter that WHETSTONE_TINKER_PYTHON names (scripts/python-env.sh tinker).
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readBlocks } from '../../support/install/readme-blocks.ts';
import { runPython } from '../../support/python-script.ts';
import { skipWithoutPython } from '../../support/skipping.ts';
import { KEY, MODEL, openStarterServer } from '../../support/clients/starter-server.ts';

const python = process.env['WHETSTONE_TINKER_PYTHON'];

const PATIENT = { timeout: 600_000 };
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SCRIPT = join(ROOT, 'python/tinker/check_sdk.py');

/** The programs of docs/tinker.md. */
const DOCUMENTED = readBlocks(readFileSync(join(ROOT, 'docs/tinker.md'), 'utf8'))
  .filter(({ language }) => language === 'python')
  .map(({ code }) => code);

describe('the Tinker SDK', skipWithoutPython('WHETSTONE_TINKER_PYTHON'), () => {
  test('our documents have a program for it', () => expect(DOCUMENTED).toHaveLength(1));

  // In addition to the environment: the oldest release (python/tinker/requirements-earlier.txt).
  const earlier = join(dirname(dirname(python ?? '')), 'earlier');

  test.each([
    ['0.38.0', '', DOCUMENTED],
    ['0.22.4', earlier, []], // our documents are for the newest
  ])(
    '%s trains, samples, saves, loads, publishes and reports refusals',
    PATIENT,
    async (version, packages, programs) => {
      const server = await openStarterServer();
      const url = server.baseUrl.replace(/\/v1$/, '/tinker');
      try {
        const env = {
          ...process.env,
          TINKER_TELEMETRY: '0',
          PYTHONPATH: packages,
          DOCUMENTED: JSON.stringify(programs),
        };
        const others = await server.createKey('others');
        const stdout = await runPython(python!, [SCRIPT, url, KEY, MODEL, others], { env });
        expect(stdout.trim()).toBe(`ok ${version}`);
      } finally {
        await server.close();
      }
    },
  );
});
