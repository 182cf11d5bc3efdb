// Which test file belongs to which project of vitest.config.ts. Until folders are named after the projects, this table names the
// files of each. test/projects.test.ts proves that every file has exactly one project. Knows nothing of how a project runs.

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
const besideSources = Object.values(NOT_IN_THREADS).flat();

/** Files that ask for a Python environment (`skipWithoutPython`), without those in test/install. */
const python = [
  'test/clients/art.test.ts',
  'test/clients/hostile-server-python.test.ts',
  'test/clients/inspect-ai.test.ts',
  'test/clients/openai-python.test.ts',
  'test/clients/python-endpoints.test.ts',
  'test/clients/python-frameworks.test.ts',
  'test/clients/strict-answers.test.ts',
  'test/clients/tensorboard.test.ts',
  'test/clients/tinker-recipes.test.ts',
  'test/clients/tinker-sdk.test.ts',
  'test/clients/tinker-workers.test.ts',
  'test/clients/wandb-process.test.ts',
  'test/clients/wandb.test.ts',
  'test/clients/whetstone-client-python.test.ts',
  'test/cluster/cluster.test.ts',
  'test/cluster/vllm-cluster.test.ts',
  'test/deploy/chart.test.ts',
  'test/deploy/compose.test.ts',
  'test/deploy/image.test.ts',
  'test/golden/peft-roundtrip.test.ts',
  'test/workers/torch-*.test.ts',
  'test/workers/vllm-*.test.ts',
];

/** Files that start the command beside folders of services. */
const processes = [
  'test/api/cli.test.ts',
  'test/api/lost-server.test.ts',
  'test/workers/conformance-command.test.ts',
  'test/workers/worker-process.test.ts',
];

const folders = (...names: readonly string[]) => names.map((name) => `test/${name}/**/*.test.ts`);

export const TEST_PROJECTS: readonly TestProject[] = [
  {
    name: 'unit',
    include: ['src/**/*.test.ts', 'dashboard/src/**/*.test.ts'],
    exclude: besideSources,
    processorSeconds: 100,
  },
  {
    name: 'engine',
    include: [
      ...besideSources,
      ...folders('golden', 'learning', 'properties', 'serving', 'starter', 'training'),
      'test/families-at-size.test.ts',
      'test/model-memory.test.ts',
    ],
    exclude: python,
    processorSeconds: 900,
  },
  {
    name: 'service',
    include: [
      ...folders('api', 'clients', 'contract', 'fuzz', 'simulation', 'workers'),
      'test/architecture.test.ts',
      'test/projects.test.ts',
      'test/skip-reporter.test.ts',
      'test/troubleshooting.test.ts',
    ],
    exclude: [...python, ...processes],
    processorSeconds: 1000,
  },
  {
    name: 'system',
    include: [
      ...processes,
      ...folders('cluster', 'crash', 'dashboard', 'deploy', 'durability', 'faults', 'load', 'postgres', 'security'),
    ],
    exclude: python,
    processorSeconds: 3000,
  },
  { name: 'python', include: python, exclude: [], processorSeconds: 3000 },
  { name: 'install', include: folders('install'), exclude: [], processorSeconds: 1000 },
];
