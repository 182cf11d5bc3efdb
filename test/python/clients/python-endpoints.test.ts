// The official openai and anthropic packages for Python on the endpoints other than chat: python/clients/check_endpoints.py talks
// to a server started here. Needs the interpreter that WHETSTONE_CLIENTS_PYTHON names (scripts/python-env.sh clients).
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runPython } from '../../support/python-script.ts';
import { skipWithoutPython } from '../../support/skipping.ts';
import { KEY, MODEL, openStarterServer } from '../../support/clients/starter-server.ts';

const python = process.env['WHETSTONE_CLIENTS_PYTHON'];

const SCRIPT = fileURLToPath(new URL('../../../python/clients/check_endpoints.py', import.meta.url));

describe('openai and anthropic for Python', skipWithoutPython('WHETSTONE_CLIENTS_PYTHON'), () => {
  test('complete, respond and send messages, whole, streamed and with calls', { timeout: 180_000 }, async () => {
    const server = await openStarterServer();
    try {
      const stdout = await runPython(python!, [SCRIPT, server.baseUrl, KEY, MODEL]);
      expect(stdout.trim()).toBe('ok');
    } finally {
      await server.close();
    }
  });
});
