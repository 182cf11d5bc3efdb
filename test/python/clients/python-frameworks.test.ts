// Python libraries that call models, each unmodified: python/frameworks has a short program for each, which talks to a server
// started here. Needs the interpreter that WHETSTONE_FRAMEWORKS_PYTHON names (scripts/python-env.sh frameworks).
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runPython } from '../../support/python-script.ts';
import { skipUnlessLong, skipWithoutPython } from '../../support/skipping.ts';
import { KEY, MODEL, openStarterServer, type StarterServer } from '../../support/clients/starter-server.ts';

const python = process.env['WHETSTONE_FRAMEWORKS_PYTHON'];

const folder = fileURLToPath(new URL('../../../python/frameworks', import.meta.url));
/** They must not send requests to any host but the server. */
const QUIET = {
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
  LANGSMITH_TRACING: 'false',
  HF_HUB_OFFLINE: '1',
};
/** A limit for hanging programs. */
const TIMEOUT_MS = 600_000;

describe('in Python', skipWithoutPython('WHETSTONE_FRAMEWORKS_PYTHON'), () => {
  let server: StarterServer;
  beforeAll(async () => {
    server = await openStarterServer();
  });
  afterAll(() => server.close());

  const run = async (args: readonly string[], env: Record<string, string> = {}) => {
    const options = { cwd: folder, env: { ...process.env, ...QUIET, ...env } };
    return (await runPython(python!, args, options)).trim();
  };

  async function expectOk(name: string): Promise<void> {
    const said = await run([`check_${name}.py`, server.baseUrl, KEY, MODEL]);
    expect(said.split('\n').at(-1)).toBe('ok');
  }
  test.each(['litellm', 'pydantic_ai', 'openai_agents', 'verifiers'])(
    '%s does what it is for',
    { timeout: TIMEOUT_MS },
    expectOk,
  );

  const LONG = { timeout: TIMEOUT_MS, ...skipUnlessLong() };
  test.each(['instructor', 'outlines', 'dspy', 'names'])('%s does what it is for', LONG, expectOk);

  test('LangChain’s standard suite passes', LONG, async () => {
    const settings = ['asyncio_mode=auto', 'asyncio_default_test_loop_scope=session'].flatMap((each) => ['-o', each]);
    const said = await run(['-m', 'pytest', '-q', '-p', 'no:cacheprovider', ...settings, 'langchain_standard.py'], {
      WHETSTONE_BASE_URL: server.baseUrl,
      WHETSTONE_API_KEY: KEY,
      WHETSTONE_MODEL: MODEL,
    });
    expect(said).toMatch(/\d+ passed, \d+ skipped, \d+ xfailed/);
  });
});
