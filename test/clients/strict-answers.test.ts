// Every answer, strictly against the models of the packages of OpenAI and Anthropic: python/sdks/check_answers.py, with the newest
// releases and those of a year ago. Needs the interpreter that WHETSTONE_SDKS_PYTHON names (scripts/python-env.sh sdks).
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runPython } from '../python-script.ts';
import { skipWithoutPython } from '../skipping.ts';
import { undecided, type PackageFields } from './field-decisions.ts';
import newest from './request-fields.json' with { type: 'json' };
import { KEY, MODEL, openStarterServer, type StarterServer } from './starter-server.ts';

const python = process.env['WHETSTONE_SDKS_PYTHON']!;
const script = (name: string) => fileURLToPath(new URL(`../../python/sdks/${name}`, import.meta.url));

describe('the packages of OpenAI and Anthropic', skipWithoutPython('WHETSTONE_SDKS_PYTHON'), () => {
  let server: StarterServer;
  beforeAll(async () => {
    server = await openStarterServer();
  });
  afterAll(() => server.close());

  const check = (env: Readonly<Record<string, string>>) =>
    runPython(python, [script('check_answers.py'), server.baseUrl, KEY, MODEL], { env: { ...process.env, ...env } });

  test('accept every answer, in their newest releases', { timeout: 180_000 }, async () => {
    expect(await check({})).toMatch(/^openai 3\.\S+, anthropic 2\.\S+: \d{3} objects/);
  });

  test('accept every answer, in releases of a year ago', { timeout: 180_000 }, async () => {
    const earlier = join(dirname(python), '..', 'earlier');
    expect(await check({ PYTHONPATH: earlier })).toMatch(/^openai 2\.\S+, anthropic 0\.\S+: \d{3} objects/);
  });

  test('have no request field without a decision, and those that are written down', { timeout: 60_000 }, async () => {
    const read = JSON.parse(await runPython(python, [script('request_fields.py')])) as PackageFields;
    expect(undecided(read)).toEqual([]);
    const { openai, anthropic } = newest;
    expect(read).toEqual({ openai, anthropic });
  });
});
