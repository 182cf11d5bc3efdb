// The official openai package for Python: python/clients/check_openai.py talks to a server started here. Needs the
// interpreter that WHETSTONE_PYTHON names (scripts/python-env.sh).
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runPython } from '../../support/python-script.ts';
import { skipWithoutPython } from '../../support/skipping.ts';
import { KEY, MODEL, openStarterServer } from '../../support/clients/starter-server.ts';

const python = process.env['WHETSTONE_PYTHON'];

const SCRIPT = fileURLToPath(new URL('../../../python/clients/check_openai.py', import.meta.url));

describe('openai for Python', skipWithoutPython('WHETSTONE_PYTHON'), () => {
  test('chats, streams, calls tools, parses structured output and maps errors', { timeout: 120_000 }, async () => {
    const server = await openStarterServer();
    try {
      const stdout = await runPython(python!, [SCRIPT, server.baseUrl, KEY, MODEL]);
      expect(stdout.trim()).toBe('ok');
    } finally {
      await server.close();
    }
  });
});
