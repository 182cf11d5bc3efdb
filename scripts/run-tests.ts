// Runs vitest with the arguments given. In CI, test files that fail run a second time, each from its start, and their names are
// printed: these tests use real processes, ports and networks, and a second try of one test alone would meet what its first left.
// A file that fails twice fails. What was skipped, and why, is listed by skip-reporter.ts; a skip without a reason fails in CI.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly testResults: readonly { readonly name: string; readonly status: string }[];
}

const vitest = (...args: readonly string[]): number =>
  spawnSync('npx', ['vitest', 'run', ...args], { stdio: 'inherit' }).status ?? 1;

/** Exit code. Errors outside of every test file leave no file to try again. */
function runTwice(args: readonly string[]): number {
  const directory = mkdtempSync(join(tmpdir(), 'whetstone-tests-'));
  try {
    const report = join(directory, 'report.json');
    const code = vitest(
      ...args,
      '--reporter=./scripts/skip-reporter.ts',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    );
    if (code === 0 || !existsSync(report)) return code;
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
    const failed = testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative('.', name));
    if (failed.length === 0) return code;
    console.log(`These test files failed and run a second time: ${failed.join(', ')}`);
    return vitest('--no-file-parallelism', ...failed);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const args = process.argv.slice(2);
process.exitCode = process.env['CI'] ? runTwice(args) : vitest(...args);
