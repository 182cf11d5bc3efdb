// inspect-ai, unmodified, evaluates the starter and a trained model under each vendor whose API the server speaks: python/sdks/check_inspect.py.
// Needs the interpreter that WHETSTONE_SDKS_PYTHON names (scripts/python-env.sh sdks).
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runPython } from '../../support/python-script.ts';
import { skipWithoutPython } from '../../support/skipping.ts';
import { KEY, MODEL, openStarterServer } from '../../support/clients/starter-server.ts';

const python = process.env['WHETSTONE_SDKS_PYTHON']!;
const script = fileURLToPath(new URL('../../../python/sdks/check_inspect.py', import.meta.url));

test(
  'inspect-ai calls models by the names that the guide lists',
  { timeout: 180_000, ...skipWithoutPython('WHETSTONE_SDKS_PYTHON') },
  async () => {
    const server = await openStarterServer();
    try {
      const registered = await fetch(`${server.baseUrl}/preview/models`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ project: 'p', name: 'agent', base_model: MODEL }),
      });
      expect(registered.status).toBe(200);
      const printed = await runPython(python, [script, server.baseUrl, KEY, MODEL, 'p/agent', 'p/agent:step0']);
      expect(printed.trim().split('\n').at(-1)).toBe('ok');
    } finally {
      await server.close();
    }
  },
);
