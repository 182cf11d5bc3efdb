// Runs vitest with the arguments given; without any, all tests, in two lanes side by side. In CI, test files that fail run a second time,
// each from its start, and their names are printed: these tests use real processes, ports and networks, and a second try of one test alone
// would meet what its first left. A file that fails twice fails. At the end, for all lanes, stand the processor time of each project, which
// fails where it uses more than its budget (test/projects.ts), the files that failed at first and the tests that failed.
// processor-time-reporter.ts lists the files that take most, and skip-reporter.ts what was skipped, and why; a skip without a reason
// fails in CI.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { childrenProcessorMs } from './processor-ms.ts';
import { LANES, TEST_PROJECTS, WITHOUT_OTHERS, type TestProject } from '../test/projects.ts';
import { IS_LONG } from '../test/support/skipping.ts';

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    /** Of the file as a whole, where it could not be loaded or a hook failed. */
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

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
      '--reporter=./scripts/processor-time-reporter.ts',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${file}`,
    );
    return { code, report: existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Report) : null };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Outcome {
  readonly code: number;
  /** Lines: each test that failed, with the first line of its reason. Of the second try, where there was one. */
  readonly failures: readonly string[];
  /** Files that passed only when they were tried again. */
  readonly unsteady: readonly string[];
}

const isFailed = ({ status }: { readonly status: string }): boolean => status === 'failed';

/** Errors outside of every test file leave no file to try again. */
function runOnce(args: readonly string[]): Outcome {
  const { code, report } = runWithReport(args);
  if (code === 0) return { code, failures: [], unsteady: [] };
  const failed = report?.testResults.filter(isFailed).map(({ name }) => relative('.', name)) ?? [];
  if (!process.env['CI'] || failed.length === 0) return { code, failures: failuresOf(report), unsteady: [] };
  console.log(`These test files failed and run a second time: ${failed.join(', ')}`);
  const again = runWithReport(['--no-file-parallelism', ...failed]);
  return { code: again.code, failures: again.code === 0 ? [] : failuresOf(again.report), unsteady: failed };
}

/** What failed, so that the end of a long log says it. */
function failuresOf(report: Report | null): string[] {
  const files = report?.testResults.filter(isFailed) ?? [];
  if (files.length === 0)
    return ['no test, but the run: an error outside of the tests, or tests skipped without a reason'];
  return files.flatMap(({ name, message, assertionResults }) => {
    const tests = assertionResults.filter(isFailed);
    const file = relative('.', name);
    if (tests.length === 0) return [`${file}: ${firstLine(message || 'a hook failed, as said above')}`];
    return tests.map(({ fullName, failureMessages }) => `${file} > ${fullName}: ${firstLine(failureMessages?.[0])}`);
  });
}

const firstLine = (text = 'no reason is given'): string => text.trim().split('\n')[0]!.slice(0, 300);

const ALONE = Object.values(WITHOUT_OTHERS).flat();

const without = (files: readonly string[]): string[] => files.flatMap((file) => ['--exclude', file]);

/** A project's files side by side, then those that run alone. Files that are named in `args` run as they are asked for. */
function runProject(name: string, args: readonly string[]): Outcome {
  const common = ['--project', name, '--passWithNoTests', ...args];
  const alone = ALONE.filter((file) => file.startsWith(`test/${name}/`));
  if (args.length > 0 || alone.length === 0) return runOnce(common);
  const outcomes = [runOnce([...common, ...without(alone)]), runOnce([...common, '--no-file-parallelism', ...alone])];
  return {
    code: Math.max(...outcomes.map(({ code }) => code)),
    failures: outcomes.flatMap(({ failures }) => failures),
    unsteady: outcomes.flatMap(({ unsteady }) => unsteady),
  };
}

/** One project after another, so that each can be held to its budget of processor time. */
function run(args: readonly string[]): number {
  const { project: asked } = parseArgs({
    args: [...args],
    options: { project: { type: 'string', multiple: true } },
    strict: false,
  }).values;
  const others = args.filter((arg, i) => arg !== '--project' && args[i - 1] !== '--project');
  const isAsked = ({ name }: TestProject) => asked?.includes(name) ?? true;
  const inOrder = (a: TestProject, b: TestProject) => (asked?.indexOf(a.name) ?? 0) - (asked?.indexOf(b.name) ?? 0);
  const results = TEST_PROJECTS.filter(isAsked)
    .sort(inOrder)
    .map(({ name, processorSeconds }) => {
      const before = childrenProcessorMs();
      const outcome = runProject(name, others);
      return { name, ...outcome, budget: processorSeconds, used: (childrenProcessorMs() - before) / 1_000 };
    });
  const summary = ['Processor time of each project, with all processes that it started:'];
  const slowness = Math.max(1, lapSeconds() / REFERENCE_LAP_SECONDS);
  const wasteful = results.filter(({ name, used, budget }) => {
    const most = IS_LONG ? Infinity : Math.round(OVERDRAFT * budget * slowness);
    summary.push(`${used.toFixed(0).padStart(7)} s${IS_LONG ? '' : ` of at most ${most} s`}  ${name}`);
    return used > most;
  });
  for (const { name } of wasteful)
    summary.push(
      `The project ${name} is over its budget: make its tests cheaper, or say in test/projects.ts why they cost more.`,
    );
  for (const { name, unsteady } of results)
    for (const file of unsteady) summary.push(`Failed at first in ${name}: ${file}`);
  for (const { name, failures } of results)
    for (const failure of failures) summary.push(`Failed in ${name}: ${failure}`);
  const kept = process.env[KEPT_SUMMARY];
  if (kept === undefined) console.log(`\n${summary.join('\n')}`);
  else writeFileSync(kept, `${summary.join('\n')}\n`);
  return wasteful.length > 0 ? 1 : Math.max(0, ...results.map(({ code }) => code));
}

/** A budget may be passed by half: other work on a machine makes the same tests dearer. */
const OVERDRAFT = 1.5;
/** Of the machine that the budgets were measured on: two cores of an AMD EPYC (Zen 4). Slower machines get more. */
const REFERENCE_LAP_SECONDS = 0.24;

/** Processor time of a fixed piece of arithmetic, the least of three. */
function lapSeconds(): number {
  const lap = () => {
    const before = process.cpuUsage();
    const values = new Float64Array(1_000);
    for (let i = 0; i < 1e8; i++) values[i % 1_000] = values[(i * 7) % 1_000]! * 0.5 + i;
    return process.cpuUsage(before).user / 1e6;
  };
  return Math.min(lap(), lap(), lap());
}

/** Names the file that takes a lane's summary instead of its output: all of them stand at the end of the log, which alone may be kept. */
const KEPT_SUMMARY = 'WHETSTONE_TEST_SUMMARY';

/** In a process of its own, so that the processor time of its projects is its own, without the files that run alone. Without `log` it prints as it runs. */
async function runLane(projects: readonly TestProject['name'][], summary: string, log?: string): Promise<number> {
  const output = log === undefined ? 'inherit' : openSync(log, 'w');
  const asked = [...projects.flatMap((name) => ['--project', name]), ...without(ALONE)];
  const command = [...process.execArgv, process.argv[1]!, ...asked];
  const env = { ...process.env, [KEPT_SUMMARY]: summary };
  const lane = spawn(process.execPath, command, { stdio: ['ignore', output, output], env });
  const [code] = (await once(lane, 'exit')) as [number | null];
  if (typeof output === 'number') closeSync(output);
  return code ?? 1;
}

const projectsOf = (files: readonly string[]): string[] => [...new Set(files.map((file) => file.split('/')[1]!))];

/** The lanes side by side, of which the first prints as it runs and the others once it has ended; then the files that run alone. */
async function runAll(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'whetstone-lanes-'));
  try {
    const lanes = LANES.map((projects, i) => ({ projects, summary: join(directory, `${i}.summary`) }));
    const [first, ...others] = lanes;
    const rest = others.map(({ projects, summary }, i) => {
      const log = join(directory, `${i}.log`);
      console.log(`Beside these, the tests of ${projects.join(' and ')} run: what they print follows.`);
      return { log, ended: runLane(projects, summary, log) };
    });
    const codes = [await runLane(first!.projects, first!.summary)];
    for (const { log, ended } of rest) {
      codes.push(await ended);
      process.stdout.write(readFileSync(log));
    }
    codes.push(run([...projectsOf(ALONE).flatMap((name) => ['--project', name]), '--no-file-parallelism', ...ALONE]));
    for (const [i, { projects, summary }] of lanes.entries()) {
      console.log(`\nExit code ${codes[i]}: ${projects.join(', ')}`);
      if (existsSync(summary)) process.stdout.write(readFileSync(summary));
    }
    return Math.max(...codes);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const args = process.argv.slice(2);
process.exitCode = args.length === 0 ? await runAll() : run(args);
