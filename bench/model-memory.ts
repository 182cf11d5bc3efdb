// `npm run bench:model-memory [-- --shapes 135m,qwen3-0.6b] [--precisions float32,int8]`: what the embedded engines hold of a model
// in memory, their own (anonymous) and pages of its file, which all processes share and the system may take back; how long they
// take to start without that file and with it. Linux: the numbers are those of /proc.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { silentLog } from '#base/log';
import { PLAIN_SAMPLING } from '#domain/sampling';
import type { Backend } from '#engine/backend';
import { SERVING_PRECISIONS, type ServingPrecision } from '#engine/capabilities';
import { PLAIN_REQUEST } from '#engine/inference-engine';
import { openOnnxBackend } from '#engine/onnx/onnx-backend';
import { makeModelDirectory } from './model-directory.ts';
import { childrenOf, memoryOf, peakBytesOf, type ProcessMemory } from './process-memory.ts';
import { SHAPES } from './shapes.ts';
import { BENCH_LOSS, wholeRow } from './training.ts';

const { values: flags } = parseArgs({
  options: {
    shapes: { type: 'string', default: '135m' },
    precisions: { type: 'string', default: SERVING_PRECISIONS.join(',') },
    /** In a child: one start. */
    model: { type: 'string' },
    weights: { type: 'string' },
  },
});

interface Held {
  readonly sampler: ProcessMemory;
  readonly trainer: ProcessMemory;
}

interface Start {
  readonly seconds: number;
  /** At most at one time, from the start until both engines are ready. */
  readonly peakBytes: Readonly<Record<'server' | 'sampler' | 'trainer', number>>;
  readonly idle: Held;
  readonly sampled: Held;
  /** Without work for longer than caches are kept. */
  readonly rested: Held;
  readonly training: Held;
}

async function start(shape: string, precision: ServingPrecision, directory: string, weights: string): Promise<Start> {
  const { vocab } = SHAPES[shape]!;
  const vocabulary = { bytes: new Uint8Array(0), offsets: new Uint32Array(vocab + 1), eosTokenIds: [] };
  const beganMs = performance.now();
  const backend = await openOnnxBackend(
    { id: shape, directory, vocabulary },
    {
      samples: true,
      trains: true,
      precision,
      contextLengthMax: null,
      cacheBytes: null,
      prefixCacheBytes: null,
      unreadMs: 60_000,
      trainingMemoryBytes: null,
      trainers: 1,
      weightsDirectory: weights,
      onWeights: () => {},
      log: silentLog,
    },
  );
  const seconds = (performance.now() - beganMs) / 1000;
  const { inference, training } = childrenOf(process.pid);
  const held = (): Held => ({ sampler: memoryOf(inference!), trainer: memoryOf(training!) });
  const peakBytes = {
    server: peakBytesOf(process.pid),
    sampler: peakBytesOf(inference!),
    trainer: peakBytesOf(training!),
  };
  const idle = held();
  await sample(backend);
  const sampled = held();
  await setTimeout(12_000);
  const rested = held();
  const busy = await train(backend, vocab, held);
  await backend.close();
  return { seconds, peakBytes, idle, sampled, rested, training: busy };
}

/** A prompt and some tokens: what of the weights is touched is resident then. */
async function sample({ inference }: Backend): Promise<void> {
  const request = {
    ...PLAIN_REQUEST,
    requestId: 'sample',
    adapter: null,
    n: 1,
    promptTokens: Array.from({ length: 256 }, (_, i) => 10 + i),
    sampling: { ...PLAIN_SAMPLING, maxTokens: 32, seed: 1 },
  };
  for await (const event of inference.generate(request, AbortSignal.timeout(600_000))) void event;
}

async function train({ training }: Backend, vocab: number, held: () => Held): Promise<Held> {
  const lora = { rank: 8, alpha: 16, seed: 1 };
  const options = { from: null, lora, resetOptimizer: false, headTokensMax: null };
  const session = await training!.open(options, AbortSignal.timeout(600_000));
  await session.forwardBackward(wholeRow(256, vocab), BENCH_LOSS);
  const busy = held();
  await session.close();
  return busy;
}

/** In a process of its own: a peak does not come down. */
function startInChild(shape: string, precision: string, model: string, weights: string): Start {
  const script = fileURLToPath(import.meta.url);
  const args = ['--shapes', shape, '--precisions', precision, '--model', model, '--weights', weights];
  const child = spawnSync(process.execPath, [...process.execArgv, script, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.status !== 0) throw new Error(`${shape} in ${precision} ended with ${child.status}`);
  return JSON.parse(child.stdout) as Start;
}

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(2);
const both = ({ anonymousBytes, fileBytes }: ProcessMemory): string =>
  `${gigabytes(anonymousBytes)} + ${gigabytes(fileBytes)}`;

async function measure(shape: string): Promise<void> {
  const config = SHAPES[shape];
  if (!config) throw new Error(`no shape ${shape}: ${Object.keys(SHAPES).join(', ')}`);
  const model = await makeModelDirectory(config);
  try {
    for (const precision of flags.precisions.split(',')) {
      const weights = await mkdtemp(join(tmpdir(), 'whetstone-bench-weights-'));
      const first = startInChild(shape, precision, model, weights);
      const next = startInChild(shape, precision, model, weights);
      const stored = readdirSync(weights).length;
      await rm(weights, { recursive: true });
      const { idle, sampled, rested, training, peakBytes } = next;
      const cells = [
        shape,
        precision,
        `${first.seconds.toFixed(1)} / ${next.seconds.toFixed(1)}`,
        [first.peakBytes.server, peakBytes.server, peakBytes.sampler].map(gigabytes).join(' / '),
        both(idle.sampler),
        both(sampled.sampler),
        both(rested.sampler),
        both(idle.trainer),
        both(training.trainer),
        String(stored),
      ];
      process.stdout.write(`| ${cells.join(' | ')} |\n`);
    }
  } finally {
    await rm(model, { recursive: true });
  }
}

if (flags.model && flags.weights) {
  writeFileSync('/proc/self/clear_refs', '5'); // the peak counts from here
  const precision = flags.precisions as ServingPrecision;
  process.stdout.write(JSON.stringify(await start(flags.shapes, precision, flags.model, flags.weights)));
  process.exit(0);
} else {
  process.stdout.write(`GB, anonymous + pages of files. ${readFileSync('/proc/version', 'utf8').split(' (')[0]}\n`);
  process.stdout.write(
    '| shape | precision | start, s: first / next | peak: server first / next, sampler | sampler idle | after sampling | 12 s later | trainer idle | training | files |\n',
  );
  process.stdout.write(`|${' --- |'.repeat(10)}\n`);
  for (const shape of flags.shapes.split(',')) await measure(shape);
}
