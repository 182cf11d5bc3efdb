// `npm run bench -- families [--families llama,qwen3 --models Qwen3-0.6B --plan]`: what a model of each family needs at its real size, with
// random weights, on a server that samples in 8 bits and trains: memory, tokens per second, seconds per job. Models that do not fit into
// memory are not run; with --plan none is run, and the memory plan's figures are kept instead. JSON by processor, model by model, in
// bench/results/families.
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { planMemory } from '#engine/open-backend';
import { parseDecoderConfig, type DecoderConfig } from '#model-files/decoder-config';
import { startBenchServer } from './bench-server.ts';
import { FAMILY_MODELS, type FamilyModel } from './family-models.ts';
import { measureJobs, measureSpeeds, type JobTimes, type Speeds } from './family-work.ts';
import { say } from './measurement.ts';
import { makeModelDirectory } from './model-directory.ts';
import { childrenOf, mostMemory, type ProcessMemory } from './process-memory.ts';
import { processor } from './processor.ts';

export interface MeasuredModel {
  readonly family: string;
  readonly readyBytes: number;
  /** While it samples and trains. */
  readonly mostBytes: number;
  readonly tokensPerSecond: Speeds;
  readonly jobs: JobTimes;
}

/** Not run: the least memory that the plan requires. Beyond the machine's memory it would be refused. */
export interface UnmeasuredModel {
  readonly family: string;
  readonly leastBytes: number;
}

export interface FamilyResults {
  readonly cpu: string;
  readonly threads: number;
  readonly node: string;
  readonly memoryGB: number;
  readonly precision: string;
  /** By model name. */
  readonly models: Readonly<Record<string, MeasuredModel | UnmeasuredModel>>;
}

const PRECISION = 'w8a8';
const MEMORY_GB = 20;
const TOKENIZER = fileURLToPath(new URL('../test/support/golden/fixtures/tokenizers/qwen/', import.meta.url));
const RESULTS = 'bench/results/families';

const { values: flags } = parseArgs({
  options: {
    /** Default: all. */
    families: { type: 'string' },
    models: { type: 'string' },
    plan: { type: 'boolean', default: false },
  },
});

const leastBytesOf = (config: DecoderConfig): number =>
  planMemory([{ id: 'bench', config }], {
    samples: true,
    trains: true,
    precision: PRECISION,
    kvCacheDtype: 'float32',
    trainingPrecision: 'float32',
    memoryBytes: 0, // nothing fits
    contextLengthMax: null,
    cacheBytes: null,
    prefixCacheBytes: null,
    adapterBytes: null,
    trainingMemoryBytes: null,
  }).bytes;

async function measure({ config: json }: FamilyModel): Promise<MeasuredModel | UnmeasuredModel> {
  const family = json.model_type;
  const config = parseDecoderConfig(json);
  const leastBytes = leastBytesOf(config);
  if (flags.plan || leastBytes > MEMORY_GB * 1e9) return { family, leastBytes };
  const directory = await makeModelDirectory(config, json);
  const data = await mkdtemp(join(tmpdir(), 'whetstone-bench-data-'));
  try {
    for (const file of ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja'])
      await copyFile(join(TOKENIZER, file), join(directory, file));
    const options = ['--model', directory, '--precision', PRECISION, '--memory', String(MEMORY_GB)];
    await (await startBenchServer(data, {}, { flags: options })).stop(); // prepares the weights
    const server = await startBenchServer(data, {}, { flags: options });
    try {
      const pids = [server.pid, ...Object.values(childrenOf(server.pid))];
      const ready = await mostMemory(pids, setTimeout(500));
      const work = (async () => ({
        tokensPerSecond: await measureSpeeds(server, basename(directory)),
        jobs: await measureJobs(server, basename(directory), data),
      }))();
      const most = await mostMemory(pids, work);
      return { family, readyBytes: sum(ready), mostBytes: sum(most), ...(await work) };
    } finally {
      await server.stop();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
    await rm(data, { recursive: true, force: true });
  }
}

const sum = (processes: readonly ProcessMemory[]): number =>
  processes.reduce((bytes, { anonymousBytes, fileBytes }) => bytes + anonymousBytes + fileBytes, 0);

/** Added to earlier measurements of other models. */
async function keep(name: string, result: MeasuredModel | UnmeasuredModel): Promise<void> {
  const path = join(RESULTS, `${processor().fileName}.json`);
  const before = await readFile(path, 'utf8').then(
    (text) => (JSON.parse(text) as FamilyResults).models,
    () => ({}),
  );
  const all: FamilyResults['models'] = { ...before, [name]: result };
  const models = Object.fromEntries(FAMILY_MODELS.flatMap(({ name }) => (all[name] ? [[name, all[name]]] : [])));
  const machine = { cpu: processor().name, threads: Math.min(8, availableParallelism()), node: process.version };
  const results: FamilyResults = { ...machine, memoryGB: MEMORY_GB, precision: PRECISION, models };
  await mkdir(RESULTS, { recursive: true });
  await writeFile(path, `${JSON.stringify(results, null, 2)}\n`);
}

const [families, models] = [flags.families?.split(','), flags.models?.split(',')];
for (const model of FAMILY_MODELS) {
  if (families && !families.includes(model.config.model_type)) continue;
  if (models && !models.includes(model.name)) continue;
  const result = await measure(model);
  await keep(model.name, result);
  say(`${model.name}: ${JSON.stringify(result)}`);
}
