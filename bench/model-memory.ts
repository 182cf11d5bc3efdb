// `npm run bench:model-memory [-- --shapes 135m,qwen3-0.6b --precisions float32,int8 --training-precision int8]`: how much memory a server's
// processes use for a model when idle, sampling and training, compared with what memory-plan.ts predicts before anything is loaded; and how
// long a start takes with and without the server's weight files. A process's own memory is separated from file pages, which all processes
// share and the system may reclaim. The work fills what the plan counts: cache, computed prompts, adapters, a row. Linux: reads /proc.
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DEFAULT_LORA } from '#domain/lora-config';
import { SERVING_PRECISIONS, TRAINING_PRECISIONS } from '#engine/capabilities';
import { rowBytes } from '#engine/onnx/learning/row-memory';
import { adapterSetBytes } from '#engine/onnx/serving/fused-adapters';
import { cacheBytesPerToken } from '#engine/onnx/serving/kv-cache';
import { machineMemory, planMemory, type MemoryWishes } from '#engine/open-backend';
import type { DecoderConfig } from '#model-files/decoder-config';
import { writeFreshAdapter } from '#model-files/fresh-adapter';
import { startBenchServer, type BenchServer } from './bench-server.ts';
import { ROW_LENGTH, sampleFromAll, SEQUENCE_LENGTH, SEQUENCES_PER_MODEL, trainRow } from './memory-work.ts';
import { makeModelDirectory } from './model-directory.ts';
import { childrenOf, mostMemory, peakBytesOf, type ProcessMemory } from './process-memory.ts';
import { SHAPES } from './shapes.ts';

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
const TOKENIZER = fileURLToPath(new URL('../test/golden/fixtures/tokenizers/qwen/', import.meta.url));

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

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(2);
const both = ({ anonymousBytes, fileBytes }: ProcessMemory): string =>
  `${gigabytes(anonymousBytes)} + ${gigabytes(fileBytes)}`;
const allOf = ({ anonymousBytes, fileBytes }: ProcessMemory): number => anonymousBytes + fileBytes;

async function measure(name: string, config: DecoderConfig, model: string, precision: MemoryWishes['precision']) {
  const data = await mkdtemp(join(tmpdir(), 'whetstone-bench-data-'));
  const wishes = wishesOf(config, precision);
  try {
    const first = await start(model, data, wishes);
    await first.server.stop();
    const next = await start(model, data, wishes);
    const phases = await work(next.server);
    await next.server.stop();
    const starts = [first, next].map(({ seconds, peakBytes }) => `${seconds.toFixed(1)} s, ${gigabytes(peakBytes)}`);
    process.stdout.write(
      `\n${name}, ${precision}, trained in ${trainingPrecision}; start and the server's most: first ${starts.join('; next ')}\n`,
    );
    const planned = plannedBytes(config, wishes);
    ['server', 'sampler', 'trainer'].forEach((process, i) => {
      const held = phases.map((phase) => phase[i]!);
      const most = Math.max(...held.map(allOf), i === 0 ? first.peakBytes : 0);
      row([process, ...held.map(both), gigabytes(planned[i]!), ratio(planned[i]!, most)]);
    });
    const together = phases.map((phase) => phase.map(allOf).reduce((a, b) => a + b));
    const whole = planned.reduce((a, b) => a + b);
    row(['all', ...together.map(gigabytes), gigabytes(whole), ratio(whole, Math.max(...together))]);
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

const ratio = (planned: number, most: number): string => (planned / most).toFixed(2);
const row = (cells: readonly string[]): void => void process.stdout.write(`| ${cells.join(' | ')} |\n`);

process.stdout.write('GB, own + pages of files; planned, and that by the most that was held\n');
row(['process', 'idle', 'while it samples', '12 s later', 'while it samples and trains', 'planned', 'planned / most']);
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
    for (const precision of SERVING_PRECISIONS.filter((each) => flags.precisions.split(',').includes(each)))
      await measure(name, config, model, precision);
  } finally {
    await rm(model, { recursive: true, force: true });
  }
}
