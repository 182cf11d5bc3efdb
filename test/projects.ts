// The seven projects of vitest.config.ts. Each has the folder of its name, but for two whose tests stand beside the sources: `unit` has most
// of them, `process` those that cannot share a thread. test/projects.test.ts proves that every file has exactly one project, and
// test/support has what several of them use. Says too how many files of a project run at a time, which one runs alone, and which ones
// begin first. Knows nothing of how a project runs.

export interface TestProject {
  readonly name: 'unit' | 'process' | 'engine' | 'service' | 'system' | 'python' | 'install';
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** What all its tests use, on the machine of scripts/run-tests.ts, whose two cores are threads of one and both busy. */
  readonly processorSeconds: number;
  /** On two cores. More than two, where files wait most of their time: for starts of processes, for pages, for what was killed. */
  readonly filesAtOnce: number;
}

/** Tests beside the sources, or of `service`, that cannot share a thread or a process with others, by their reason. */
const NEED_A_PROCESS = {
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
    'src/storage/blobs/no-descriptors.test.ts',
    'src/storage/sql/open-sqlite.test.ts',
  ],
  'The file system and all timers are replaced': ['test/service/simulation/*.test.ts'],
};
const alone = Object.values(NEED_A_PROCESS).flat();

const within = (folder: string) => (glob: string) => glob.startsWith(folder);
const folder = (name: TestProject['name']) => `test/${name}/**/*.test.ts`;

export const TEST_PROJECTS: readonly TestProject[] = [
  {
    name: 'unit',
    include: ['src/**/*.test.ts', 'dashboard/src/**/*.test.ts'],
    exclude: alone.filter(within('src/')),
    processorSeconds: 200,
    filesAtOnce: 2,
  },
  { name: 'process', include: alone, exclude: [], processorSeconds: 150, filesAtOnce: 2 },
  { name: 'engine', include: [folder('engine')], exclude: [], processorSeconds: 700, filesAtOnce: 2 },
  {
    name: 'service',
    include: [folder('service'), 'test/*.test.ts'], // the structure of the tree
    exclude: alone.filter(within('test/service/')),
    processorSeconds: 800,
    filesAtOnce: 2,
  },
  { name: 'system', include: [folder('system')], exclude: [], processorSeconds: 1500, filesAtOnce: 3 },
  { name: 'python', include: [folder('python')], exclude: [], processorSeconds: 1600, filesAtOnce: 3 },
  { name: 'install', include: [folder('install')], exclude: [], processorSeconds: 700, filesAtOnce: 2 },
];

/**
 * All tests run in two lanes side by side: one calculates, and most of the time the other waits for pages, Python's imports, and what was
 * killed. Alone, the second would leave a third of two cores idle.
 */
export const LANES: readonly (readonly TestProject['name'][])[] = [
  ['unit', 'process', 'engine', 'service', 'install'],
  ['python', 'system'],
];

/** Files beside which no other may run, by their reason: they run after all others. */
export const WITHOUT_OTHERS: Readonly<Record<string, readonly string[]>> = {
  '512 streams at once take the whole machine for a minute, and others would wait': ['test/system/load/load.test.ts'],
};

/** The files that take minutes, the longest first: begun last, one of them would run on alone. */
export const LONGEST: readonly string[] = [
  'test/python/cluster/cluster.test.ts',
  'test/python/clients/art.test.ts',
  'test/python/clients/tinker-recipes.test.ts',
  'test/python/cluster/vllm-cluster.test.ts', // not with the other cluster: on a busy machine, two that start at once may not come up in time
  'test/python/clients/tinker-workers.test.ts',
  'test/python/clients/python-frameworks.test.ts',
  'test/python/workers/vllm-both-roles.test.ts',
  'test/python/workers/vllm-over-websocket.test.ts',
  'test/system/faults/faults.test.ts',
  'test/system/crash/random-kills.test.ts',
  'test/system/crash/job-runner.test.ts',
  'test/system/crash/episodes.test.ts',
  'test/service/simulation/simulation.test.ts',
];
