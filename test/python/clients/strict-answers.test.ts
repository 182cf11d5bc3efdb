// Every answer, strictly against the models of the packages of OpenAI and Anthropic: python/sdks/check_answers.py, with the newest
// releases and those of a year ago. Needs the interpreter that WHETSTONE_SDKS_PYTHON names (scripts/python-env.sh sdks).
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runPython } from '../../support/python-script.ts';
import { skipUnlessLong, skipWithoutPython } from '../../support/skipping.ts';
import { undecided, type PackageFields } from '../../support/clients/field-decisions.ts';
import newest from '../../service/clients/request-fields.json' with { type: 'json' };
import { KEY, MODEL, openStarterServer, type StarterServer } from '../../support/clients/starter-server.ts';

const python = process.env['WHETSTONE_SDKS_PYTHON']!;
const script = (name: string) => fileURLToPath(new URL(`../../../python/sdks/${name}`, import.meta.url));

describe('the packages of OpenAI and Anthropic', skipWithoutPython('WHETSTONE_SDKS_PYTHON'), () => {
  let server: StarterServer;
  beforeAll(async () => {
    server = await openStarterServer();
  });
  afterAll(() => server.close());

  const check = (model: string, env: Readonly<Record<string, string>>) =>
    runPython(python, [script('check_answers.py'), server.baseUrl, KEY, model], { env: { ...process.env, ...env } });

  /** Its answers have more fields than those of a base model: log-probabilities and the step. */
  async function trainable(): Promise<string> {
    const registered = await fetch(`${server.baseUrl}/preview/models`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ project: 'p', name: 'agent', base_model: MODEL, return_existing: true }),
    });
    expect(registered.status).toBe(200);
    return 'p/agent';
  }

  const NEWEST = /^openai 3\.\S+, anthropic 2\.\S+: \d{3,} objects/;
  test('accept every answer of a trainable model', { timeout: 600_000 }, async () => {
    expect(await check(await trainable(), {})).toMatch(NEWEST);
  });

  test('accept every answer of a base model', { timeout: 600_000, ...skipUnlessLong() }, async () => {
    expect(await check(MODEL, {})).toMatch(NEWEST);
  });

  test('accept every answer, in releases of a year ago', { timeout: 600_000 }, async () => {
    const earlier = join(dirname(python), '..', 'earlier');
    expect(await check(await trainable(), { PYTHONPATH: earlier })).toMatch(
      /^openai 2\.\S+, anthropic 0\.\S+: \d{3,} objects/,
    );
  });

  test('have no request field without a decision, and those that are written down', { timeout: 60_000 }, async () => {
    const read = JSON.parse(await runPython(python, [script('request_fields.py')])) as PackageFields;
    expect(undecided(read)).toEqual([]);
    const { openai, anthropic } = newest;
    expect(read).toEqual({ openai, anthropic });
  });
});
