// `npm run suite:vllm -- DIRECTORY` and `npm run suite:llama-cpp -- DIRECTORY`: runs these projects' own tests of their HTTP endpoints,
// unmodified, from an unpacked copy of their sources, against a server on the starter model. python/suites starts this server in place of
// theirs. `foreign-suites.json` lists which files run, which are left out, and which tests fail for which reason; exits with 1 if any other
// test fails, or a test file is not listed. Needs the interpreter in WHETSTONE_SUITES_PYTHON (scripts/python-env.sh suites).
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { silentLog } from '#base/log';
import { readServerConfig } from '../src/config/server-config.ts';
import { startServer } from '../src/main.ts';
import { STARTER_DIRECTORY } from '../src/config/starter-directory.ts';
import suites from './foreign-suites.json' with { type: 'json' };

const KEY = 'wk-suites';
const python = process.env['WHETSTONE_SUITES_PYTHON'];
const [name, root, ...only] = parseArgs({ allowPositionals: true }).positionals;
const suite = suites.find((each) => each.name === name);
if (!suite) throw new Error(`Say which suite: ${suites.map((each) => each.name).join(' or ')}`);
if (root === undefined) throw new Error(`Say where the sources are: npm run suite:${suite.name} -- DIRECTORY`);
if (!python) throw new Error('WHETSTONE_SUITES_PYTHON names no interpreter. Try $(scripts/python-env.sh suites).');

interface Result {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'in process';
  readonly why: string;
}

for (const file of await filesNotNamed()) {
  process.stdout.write(`not listed, neither as run nor as left out: ${file}\n`);
  process.exitCode = 1;
}
const results = await runTests(join(root, suite.directory), only.length > 0 ? only : suite.files);
report(results);

async function filesNotNamed(): Promise<string[]> {
  const named = [...suite!.files, ...suite!.leftOut.flatMap(({ files }) => files)];
  const files = await Promise.all(
    suite!.tests.map(async (folder) => {
      const names = await readdir(join(root!, suite!.directory, folder), { recursive: true });
      return names
        .filter((each) => /(^|[\\/])test_[^\\/]*\.py$/.test(each))
        .map((each) => `${folder}/${each.replaceAll('\\', '/')}`);
    }),
  );
  return files.flat().filter((file) => !named.some((each) => file.startsWith(each)));
}

async function runTests(directory: string, files: readonly string[]): Promise<Result[]> {
  const data = await mkdtemp(join(tmpdir(), 'whetstone-suite-'));
  const server = await startServer(
    readServerConfig({ data, port: '0' }, { WHETSTONE_API_KEY: KEY, ...suite!.settings }),
    silentLog,
  );
  const written = join(data, 'suite-results.jsonl');
  try {
    await runPytest(directory, files, { WHETSTONE_URL: server.url, WHETSTONE_SUITE_RESULTS: written });
    const lines = (await readFile(written, 'utf8')).trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as Result);
  } finally {
    await server.close();
    await rm(data, { recursive: true, force: true });
  }
}

function runPytest(directory: string, files: readonly string[], env: Record<string, string>): Promise<void> {
  const settings = [
    '-p',
    suite!.plugin,
    '-p',
    'no:cacheprovider',
    '-p',
    'pytest_asyncio',
    '-q',
    '--tb=short',
    '--timeout=300',
    '--continue-on-collection-errors',
  ];
  const child = spawn(python!, ['-m', 'pytest', ...suite!.options, ...settings, ...files], {
    cwd: directory,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      ...env,
      WHETSTONE_API_KEY: KEY,
      WHETSTONE_MODEL: 'whetstone/starter',
      WHETSTONE_MODEL_DIRECTORY: STARTER_DIRECTORY,
      PYTHONPATH: fileURLToPath(new URL('../python/suites', import.meta.url)),
      PYTHONDONTWRITEBYTECODE: '1',
    },
  });
  return new Promise((resolve, reject) => child.once('error', reject).once('close', () => resolve()));
}

/** A failing test without a listed reason is an error; a passing test with one is reported in a line. */
function report(results: readonly Result[]): void {
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  const meant = suite!.exceptions.flatMap(({ tests }) => tests);
  const unknown = failed.filter((each) => !meant.some((test) => each.name.startsWith(test)));
  for (const { name, why } of unknown) process.stdout.write(`fails without a listed reason: ${name}: ${why}\n`);
  for (const { reason, tests } of suite!.exceptions) {
    const of = failed.filter((each) => tests.some((test) => each.name.startsWith(test)));
    process.stdout.write(`${of.length} × ${reason}\n`);
  }
  const stale = (only.length > 0 ? [] : meant).filter((test) => !failed.some((each) => each.name.startsWith(test)));
  for (const test of stale) process.stdout.write(`no longer fails: ${test}\n`);
  const count = (outcome: Result['outcome']) => results.filter((each) => each.outcome === outcome).length;
  process.stdout.write(
    `${suite!.name}: ${count('passed')} pass, ${count('failed')} fail, ${unknown.length} of them without a reason; ` +
      `${count('skipped')} skipped by themselves, ${count('in process')} ask the other server's own code; ` +
      `${suite!.files.length} files run, others are left out for ${suite!.leftOut.length} reasons\n`,
  );
  if (unknown.length > 0) process.exitCode = 1;
}
