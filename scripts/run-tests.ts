// Runs vitest with the arguments given. In CI, test files that fail run a second time, each from its start, and their names are
// printed: these tests use real processes, ports and networks, and a second try of one test alone would meet what its first left.
// A file that fails twice fails. At the end stand the time that the files took together, the slowest ones, and those that failed
// first. What was skipped, and why, is listed by skip-reporter.ts; a skip without a reason fails in CI.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** The part of vitest's JSON report that is read here. Times are milliseconds. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly startTime: number;
    readonly endTime: number;
  }[];
}

const SLOWEST = 10;

const vitest = (...args: readonly string[]): number =>
  spawnSync('npx', ['vitest', 'run', ...args], { stdio: 'inherit' }).status ?? 1;

/** Null: vitest ended before it could write one. */
function runWithReport(args: readonly string[]): { code: number; report: Report | null } {
  const directory = mkdtempSync(join(tmpdir(), 'whetstone-tests-'));
  try {
    const file = join(directory, 'report.json');
    const code = vitest(
      ...args,
      '--reporter=./scripts/skip-reporter.ts',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${file}`,
    );
    return { code, report: existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Report) : null };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const inSeconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1).padStart(7)} s`;

/** Files run side by side, so their sum is more than the time on the clock. Loading a file is not counted. */
function printTimes({ testResults }: Report): void {
  const times = testResults.map(({ name, startTime, endTime }) => ({
    file: relative('.', name),
    took: Math.max(0, endTime - startTime),
  }));
  times.sort((a, b) => b.took - a.took);
  const total = times.reduce((sum, { took }) => sum + took, 0);
  console.log(`\nThe tests of ${times.length} files took together ${inSeconds(total).trim()}. The slowest files:`);
  for (const { file, took } of times.slice(0, SLOWEST)) console.log(`${inSeconds(took)}  ${file}`);
}

/** Exit code. Errors outside of every test file leave no file to try again. */
function run(args: readonly string[]): number {
  const { code, report } = runWithReport(args);
  if (!report) return code;
  const failed = report.testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative('.', name));
  const isTriedAgain = process.env['CI'] && code !== 0 && failed.length > 0;
  if (isTriedAgain) console.log(`These test files failed and run a second time: ${failed.join(', ')}`);
  const last = isTriedAgain ? vitest('--no-file-parallelism', ...failed) : code;
  printTimes(report);
  if (isTriedAgain) console.log(`\nFailed at first:\n${failed.map((file) => `  ${file}`).join('\n')}`);
  return last;
}

process.exitCode = run(process.argv.slice(2));
