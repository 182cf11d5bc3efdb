// The six projects of vitest.config.ts. Each has the folder of its name, and two have tests beside the sources: `unit` most of
// them, `engine` those that cannot share a thread. test/projects.test.ts proves that every file has exactly one project, and
// test/support has what several of them use. Knows nothing of how a project runs.

export interface TestProject {
  readonly name: 'unit' | 'engine' | 'service' | 'system' | 'python' | 'install';
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** What all its tests use, on the machine of scripts/run-tests.ts. */
  readonly processorSeconds: number;
}

/** Tests beside the sources that cannot share a thread with others, by their reason. */
const NOT_IN_THREADS = {
  'ONNX Runtime keeps state for the whole process, and a crash of it would end all tests of the process': [
    'src/engine/onnx/**/*.test.ts',
  ],
  'The umask is set, which a thread may not do': [
    'src/engine/workers/worker-files.test.ts',
    'src/model-files/resolve-model.test.ts',
  ],
  'The test starts a process or a thread from TypeScript, which needs tsx': [
    'src/base/lower-priority.test.ts',
    'src/server/job-data-child.test.ts',
    'src/storage/sql/open-sqlite.test.ts',
  ],
};
const alone = Object.values(NOT_IN_THREADS).flat();

const folder = (name: TestProject['name']) => `test/${name}/**/*.test.ts`;

export const TEST_PROJECTS: readonly TestProject[] = [
  { name: 'unit', include: ['src/**/*.test.ts', 'dashboard/src/**/*.test.ts'], exclude: alone, processorSeconds: 100 },
  { name: 'engine', include: [...alone, folder('engine')], exclude: [], processorSeconds: 900 },
  {
    name: 'service',
    include: [folder('service'), 'test/*.test.ts'], // the structure of the tree
    exclude: [],
    processorSeconds: 1000,
  },
  { name: 'system', include: [folder('system')], exclude: [], processorSeconds: 3000 },
  { name: 'python', include: [folder('python')], exclude: [], processorSeconds: 3000 },
  { name: 'install', include: [folder('install')], exclude: [], processorSeconds: 1000 },
];
