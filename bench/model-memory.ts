// `npm run bench -- model-memory [--shapes 135m,qwen3-0.6b --precisions float32,int8 --training-precision int8]`: how much memory a server's
// processes use for a model when idle, sampling and training, compared with what memory-plan.ts predicts before anything is loaded. A
// process's own memory is separated from file pages, which all processes share and the system may reclaim. The work fills what the plan
// counts: cache, computed prompts, adapters, a row. Writes JSON by processor, shape and precision to bench/results/model-memory;
// test/engine/model-memory.test.ts makes the table in docs/guides/models.md from it. Start times are only printed, because other work on the
// machine changes them. Linux: reads /proc.
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gigabytes } from '#base/gigabytes';
import { DEFAULT_LORA } from '#domain/lora-config';
import { SERVING_PRECISIONS, TRAINING_PRECISIONS } from '#engine/capabilities';
import { rowBytes } from '#engine/onnx/learning/row-memory';
import { adapterSetBytes } from '#engine/onnx/serving/fused-adapters';
import { cacheBytesPerToken } from '#engine/onnx/serving/kv-cache';
import { machineMemory, planMemory, type MemoryWishes } from '#engine/open-backend';
import type { DecoderConfig } from '#model-files/decoder-config';
import { writeFreshAdapter } from '#model-files/fresh-adapter';
import { startBenchServer, type BenchServer } from './bench-server.ts';
import { say } from './measurement.ts';
import { ROW_LENGTH, sampleFromAll, SEQUENCE_LENGTH, SEQUENCES_PER_MODEL, trainRow } from './memory-work.ts';
import { makeModelDirectory } from './model-directory.ts';
import { childrenOf, mostMemory, peakBytesOf, type ProcessMemory } from './process-memory.ts';
import { processor } from './processor.ts';
import { SHAPES } from './shapes.ts';

const PROCESSES = ['server', 'sampler', 'trainer'] as const;
const PHASES = ['idle', 'sampling', 'rested', 'sampling and training'] as const;

/** Of one process. */
export interface HeldMemory {
  /** In each phase of the work, what it held at most. */
  readonly byPhase: Readonly<Record<(typeof PHASES)[number], ProcessMemory>>;
  /** Of the server, which prepares weights: at its first start and at the next. */
  readonly startBytes?: readonly [first: number, next: number];
  readonly plannedBytes: number;
}

export type ModelMemory = Readonly<Record<(typeof PROCESSES)[number], HeldMemory>>;

export interface ModelMemoryResults {
  readonly cpu: string;
  readonly node: string;
  /** By shape and precision: of the sampler, and where the trainer has another than float32, of both. */
  readonly shapes: Readonly<Record<string, Readonly<Record<string, ModelMemory>>>>;
}

const { values: flags } = parseArgs({
  options: {
    shapes: { type: 'string', default: '135m' },
    precisions: { type: 'string', default: SERVING_PRECISIONS.join(',') },
    'training-precision': { type: 'string', default: 'float32' },
  },
});
const trainingPrecision = TRAINING_PRECISIONS.find((known) => known === flags['training-precision'])!;
const ADAPTERS = ['one', 'two', 'three', 'four'];
/** Unused caches are released after ten. */
const RESTED_MS = 12_000;
const RESULTS = 'bench/results/model-memory';
const TOKENIZER = fileURLToPath(new URL('../test/support/golden/fixtures/tokenizers/qwen/', import.meta.url));

/** Caches as large as the work needs. */
function wishesOf(config: DecoderConfig, precision: MemoryWishes['precision']): MemoryWishes {
  const wholeMb = (bytes: number): number => Math.ceil(bytes / 1e6) * 1e6;
  const cacheBytes = wholeMb(ADAPTERS.length * SEQUENCES_PER_MODEL * SEQUENCE_LENGTH * cacheBytesPerToken(config));
  return {
    samples: true,
    trains: true,
    precision,
    kvCacheDtype: 'float32',
    trainingPrecision,
    memoryBytes: machineMemory(),
    contextLengthMax: null,
    cacheBytes,
    prefixCacheBytes: wholeMb(cacheBytes / 4),
    adapterBytes: wholeMb(2 * adapterSetBytes(config, Array<number>(ADAPTERS.length).fill(DEFAULT_LORA.rank))),
    trainingMemoryBytes: wholeMb(
      rowBytes(config, 'recomputed', ROW_LENGTH, { rank: DEFAULT_LORA.rank, onHead: false }, trainingPrecision),
    ),
  };
}

/** Planned for the server, the sampler and the trainer. */
function plannedBytes(config: DecoderConfig, wishes: MemoryWishes): readonly number[] {
  const { samples, trains } = wishes;
  const bytesWith = (roles: Partial<MemoryWishes>): number =>
    planMemory([{ id: 'bench', config }], { ...wishes, samples: false, trains: false, ...roles }).bytes;
  const server = bytesWith({});
  return [server, bytesWith({ samples }) - server, bytesWith({ trains }) - server];
}

async function start(model: string, data: string, wishes: MemoryWishes) {
  const gigabytes = (bytes: number | null): string => String(bytes! / 1e9);
  const megabytes = (bytes: number | null): string => String(bytes! / 1e6);
  const named = {
    model,
    precision: wishes.precision,
    'training-precision': trainingPrecision,
    'kv-cache': gigabytes(wishes.cacheBytes),
    'training-memory': gigabytes(wishes.trainingMemoryBytes),
  };
  const adapters = ADAPTERS.flatMap((name) => ['--adapter', `${name}=${join(model, name)}`]);
  const startMs = performance.now();
  const server = await startBenchServer(
    data,
    {
      WHETSTONE_PREFIX_CACHE_MB: megabytes(wishes.prefixCacheBytes),
      WHETSTONE_ADAPTERS_MB: megabytes(wishes.adapterBytes),
    },
    { flags: [...Object.entries(named).flatMap(([name, value]) => [`--${name}`, value]), ...adapters] },
  );
  return { server, seconds: (performance.now() - startMs) / 1000, peakBytes: peakBytesOf(server.pid) };
}

/** The maximum of each process in each phase: `[phase][process]`. */
async function work(server: BenchServer): Promise<readonly (readonly ProcessMemory[])[]> {
  const { inference, training } = childrenOf(server.pid);
  const pids = [server.pid, inference!, training!];
  const models = ADAPTERS.map((name) => `adapters/${name}`);
  const idle = await mostMemory(pids, setTimeout(500));
  const sampling = await mostMemory(pids, sampleFromAll(server, models));
  await setTimeout(RESTED_MS);
  const rested = await mostMemory(pids, setTimeout(500));
  const atOnce = await mostMemory(pids, Promise.all([trainRow(server), sampleFromAll(server, models)]));
  return [idle, sampling, rested, atOnce];
}

async function measure(config: DecoderConfig, model: string, precision: MemoryWishes['precision']) {
  const data = await mkdtemp(join(tmpdir(), 'whetstone-bench-data-'));
  const wishes = wishesOf(config, precision);
  try {
    const first = await start(model, data, wishes);
    await first.server.stop();
    const next = await start(model, data, wishes);
    const phases = await work(next.server);
    await next.server.stop();
    const planned = plannedBytes(config, wishes);
    const [server, sampler, trainer] = PROCESSES.map((_, process): HeldMemory => {
      const byPhase = Object.fromEntries(
        PHASES.map((phase, i) => [phase, phases[i]![process]!]),
      ) as HeldMemory['byPhase'];
      return { byPhase: byPhase, plannedBytes: planned[process]! };
    }) as [HeldMemory, HeldMemory, HeldMemory];
    const memory: ModelMemory = {
      server: { ...server, startBytes: [first.peakBytes, next.peakBytes] },
      sampler,
      trainer,
    };
    return { memory, seconds: [first.seconds, next.seconds] };
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

/** Beside what was measured of others before. */
async function keep(shape: string, precision: string, memory: ModelMemory): Promise<void> {
  const path = join(RESULTS, `${processor().fileName}.json`);
  const before = await readFile(path, 'utf8').then(
    (text) => (JSON.parse(text) as ModelMemoryResults).shapes,
    (): ModelMemoryResults['shapes'] => ({}),
  );
  const shapes = { ...before, [shape]: { ...before[shape], [precision]: memory } };
  const results: ModelMemoryResults = { cpu: processor().name, node: process.version, shapes };
  await mkdir(RESULTS, { recursive: true });
  await writeFile(path, `${JSON.stringify(results, null, 2)}\n`);
}

const largest = (byPhase: HeldMemory['byPhase']): number =>
  Math.max(...Object.values(byPhase).map(({ anonymousBytes, fileBytes }) => anonymousBytes + fileBytes));

for (const name of flags.shapes.split(',')) {
  const config = SHAPES[name];
  if (!config) throw new Error(`no shape ${name}: ${Object.keys(SHAPES).join(', ')}`);
  const model = await makeModelDirectory(config);
  try {
    for (const file of ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja'])
      await copyFile(join(TOKENIZER, file), join(model, file));
    for (const adapter of ADAPTERS) {
      await mkdir(join(model, adapter));
      await writeFreshAdapter(join(model, adapter), config, DEFAULT_LORA, basename(model));
    }
    for (const precision of SERVING_PRECISIONS.filter((each) => flags.precisions.split(',').includes(each))) {
      const { memory, seconds } = await measure(config, model, precision);
      const key = trainingPrecision === 'float32' ? precision : `${precision}, trained in ${trainingPrecision}`;
      await keep(name, key, memory);
      say(`${name}, ${key}: first start ${seconds[0]!.toFixed(1)} s, next ${seconds[1]!.toFixed(1)} s`);
      for (const [process, { byPhase, plannedBytes }] of Object.entries(memory))
        say(`  ${process}: at most ${gigabytes(largest(byPhase), 2)}, planned ${gigabytes(plannedBytes, 2)}`);
    }
  } finally {
    await rm(model, { recursive: true, force: true });
  }
}
