// Tests import the sources, or what was built of them: `#folder/file` means `src/folder/file.ts` or `dist/folder/file.js`, as in package.json
// "imports".
// The projects are described in docs/testing.md; test/projects.ts says which file belongs to which.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { configDefaults, defineConfig, type ViteUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LONGEST, TEST_PROJECTS, type TestProject } from './test/projects.ts';

// Programs in Python then keep the bytecode of what they import: half of the processor time of most of them is compiling libraries.
delete process.env['PYTHONDONTWRITEBYTECODE'];

const src = fileURLToPath(new URL('./src/', import.meta.url));
const dist = fileURLToPath(new URL('./dist/', import.meta.url));

/** Vitest applies `--exclude` of the command line to the root only, and not to projects. */
const { exclude: excluded = [] } = parseArgs({
  options: { exclude: { type: 'string', multiple: true } },
  strict: false,
}).values;

type TestOptions = NonNullable<ViteUserConfig['test']>;

/** Files share a thread and its modules, so starting a file costs little. Environment stubs end with their test. */
const THREADS: TestOptions = { pool: 'threads', isolate: false, unstubEnvs: true };

/** A process per file. Children that the tests fork (engine workers) inherit execArgv, so they run from source as well. */
const FORKS: TestOptions = { pool: 'forks', execArgv: ['--import', 'tsx', '-C', 'source'] };

/** For tests that start the product from dist. */
const BUILD_FIRST: TestOptions = { globalSetup: ['test/support/build.ts'] };
/** They import it from there, too, and so do the processes that it starts: each takes a quarter of what it takes from the sources. */
const BUILT: TestOptions = { ...BUILD_FIRST, pool: 'forks', server: { deps: { external: [/\/dist\//] } } };

/** Two processes for all files: loading the server's modules takes longer than most files. */
const SHARED: TestOptions = { ...BUILT, isolate: false, unstubEnvs: true };

/** Threads of PyTorch spin while they wait for each other, and other files run beside. */
const ONE_THREAD: TestOptions = { env: { OMP_NUM_THREADS: '1' } };

const HOW: Readonly<Record<TestProject['name'], TestOptions>> = {
  unit: THREADS,
  process: FORKS,
  engine: BUILT,
  service: SHARED,
  system: BUILT,
  python: { ...BUILT, ...ONE_THREAD },
  install: { ...FORKS, ...BUILD_FIRST },
};
const BUILT_PROJECTS: readonly TestProject['name'][] = ['engine', 'service', 'system', 'python'];

/** Within a project, the files that take minutes begin first. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((file) => moduleId.endsWith(`/${file}`));
      return [project.config.sequence.groupOrder, at < 0 ? LONGEST.length : at] as const;
    };
    const ranked = (await super.sort(files)).map((file) => ({ file, rank: rank(file) }));
    return ranked.sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1]).map(({ file }) => file);
  }
}

const FROM_SRC = [{ find: /^#(.+)$/, replacement: `${src}$1.ts` }];

/** What these tests import of the product is built, too: a process for each file would spend seconds on making JavaScript of it. */
const FROM_DIST = [
  { find: /^#(.+)$/, replacement: `${dist}$1.js` },
  { find: /^(?:\.\.\/)+src\/(.+)\.ts$/, replacement: `${dist}$1.js` },
];

const projectOf = ({ name, include, exclude, filesAtOnce }: TestProject, groupOrder: number) => ({
  extends: true as const,
  resolve: { alias: BUILT_PROJECTS.includes(name) ? FROM_DIST : FROM_SRC },
  test: {
    ...HOW[name],
    name,
    maxWorkers: filesAtOnce,
    sequence: { groupOrder },
    include: [...include],
    exclude: [...configDefaults.exclude, ...exclude, ...excluded.map(String)],
  },
});

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    reporters: ['./scripts/skip-reporter.ts', './scripts/processor-time-reporter.ts', 'default'],
    setupFiles: ['./test/support/processor-time.ts'],
    // For what hangs; a busy machine takes its time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    projects: TEST_PROJECTS.map(projectOf),
  },
});
