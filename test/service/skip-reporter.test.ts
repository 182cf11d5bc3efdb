// The list of skipped tests at the end of a run, and the skips that CI refuses: vitest runs separate files here, as `npm test`
// does.
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const REPORTERS = [`--reporter=${join(ROOT, 'scripts', 'skip-reporter.ts')}`, '--reporter=default'];

let directory: string;
beforeAll(async () => {
  await mkdir(join(ROOT, '.cache'), { recursive: true });
  directory = await mkdtemp(join(ROOT, '.cache', 'skips-')); // under the root, where packages are found
  await writeFile(join(directory, 'vitest.config.js'), 'export default {};'); // instead of the root's
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const EXPLAINED = `
import { beforeAll, describe, test } from 'vitest';
import { createNeeding } from '../../test/support/contract/needing.ts';
import { skipUnless, skipWithout, skipWithoutPython } from '../../test/support/skipping.ts';

test('runs', skipUnless(true, 'never said'), () => {});
describe('a suite', skipWithout('POSTGRES', false), () => {
  test('one', () => {});
  test('another', () => {});
});
const needing = createNeeding('an engine');
describe('a contract', () => {
  test('needs nothing', () => {});
  needing('telepathy', false)('needs what is not declared', () => {});
  needing('telepathy', false).each([1, 2])('needs it in way %i', () => {});
});
test('of Python', skipWithoutPython('WHETSTONE_PYTHON', 'WHETSTONE_RAY_PYTHON'), () => {});
test('decided late', ({ skip }) => skip('the machine is too small'));
`;

const UNEXPLAINED = `
import { beforeAll, describe, expect, test } from 'vitest';
test.skip('for no reason', () => {});
describe('a suite whose hook fails', () => {
  beforeAll(() => expect(process.env['HOOK']).toBe('works'));
  test('does not run', () => {});
});
`;

async function run(source: string, env: NodeJS.ProcessEnv, ...args: readonly string[]) {
  await writeFile(join(directory, 'some.test.ts'), source);
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const given = Object.entries(process.env).filter(([name]) => !/^(WHETSTONE_|VITEST|CI$|NODE_OPTIONS)/.test(name));
  const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, 'run', ...REPORTERS, ...args], {
    cwd: directory,
    encoding: 'utf8',
    env: { ...Object.fromEntries(given), HOOK: 'works', NO_COLOR: '1', ...env },
  });
  return { status, stdout, said: `${stdout}${stderr}` };
}

test('each skipped test is listed under its reason, before the summary of vitest', async () => {
  const { status, stdout } = await run(EXPLAINED, { CI: 'true', WHETSTONE_RAY_PYTHON: '/bin/python' });
  expect(stdout).toContain(`Skipped tests, by reason: 7
  Postgres is not installed (package postgresql): 2
    some.test.ts > a suite (2)
  WHETSTONE_PYTHON is not set (scripts/python-env.sh golden): 1
    some.test.ts > of Python
  an engine does not declare telepathy: 3
    some.test.ts > a contract > needs what is not declared
    some.test.ts > a contract > needs it in way 1
    some.test.ts > a contract > needs it in way 2
  the machine is too small: 1
    some.test.ts > decided late
`);
  expect(stdout).toMatch(/Skipped tests[^]+\n +Tests +2 passed \| 7 skipped \(9\)\n/);
  expect(status).toBe(0);
});

test('a program that CI declares as installed is not a reason: the file fails and names the variable', async () => {
  const { status, said } = await run(EXPLAINED, { WHETSTONE_REQUIRE_POSTGRES: '1' });
  expect(status).toBe(1);
  expect(said).toContain('Postgres is not installed (package postgresql), but WHETSTONE_REQUIRE_POSTGRES is set.');
});

test('a skip without a reason fails in CI, is listed elsewhere, and is no news where tests are chosen by name', async () => {
  const listed = 'No reason is given: 1\n    some.test.ts > for no reason\n';
  const inCi = await run(UNEXPLAINED, { CI: 'true' });
  expect(inCi.said).toContain(listed);
  expect(inCi.said).toContain('In CI every skipped test needs a reason');
  expect(inCi.status).toBe(1);

  const here = await run(UNEXPLAINED, {});
  expect(here.stdout).toContain(listed);
  expect(here.status).toBe(0);

  const chosen = await run(UNEXPLAINED, { CI: 'true' }, '-t', 'does not run');
  expect(chosen.stdout).not.toContain('Skipped tests');
  expect(chosen.status).toBe(0);
});

test('a test that did not run because a hook failed is a failure, and no skip', async () => {
  const { status, stdout } = await run(UNEXPLAINED, { HOOK: 'fails' });
  expect(stdout).toContain('Skipped tests, by reason: 1\n');
  expect(status).toBe(1);
});
