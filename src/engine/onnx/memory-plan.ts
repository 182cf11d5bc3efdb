// What the models of a server take of memory, before any of them is loaded: parts that are as large as they are, and parts that may be
// smaller where nobody named their size (caches, the budget of training). Pure: what the machine has is handed in. Estimates; how far
// they are from what processes take is in docs/guides/models.md.
import { DEFAULT_LORA } from '#domain/lora-config';
import type { DecoderConfig } from '#model-files/decoder-config';
import { EMBEDDING_WEIGHT } from '#model-files/decoder-parameters';
import type { MemoryLimits } from '../backend.ts';
import type { KVCacheDtype, ServingPrecision, TrainingPrecision } from '../capabilities.ts';
import { adapterMemoryOf, rowMemoryOf } from '../training-engine.ts';
import { BYTES_PER_ELEMENT } from './graph/graph.ts';
import { expandedSizes, trainingLimits } from './learning/row-memory.ts';
import { trainingMemoryShare } from './machine-memory.ts';
import { adapterSetBytes } from './serving/fused-adapters.ts';
import { defaultAdapterBytes, defaultCacheBytes, defaultPrefixCacheBytes } from './serving/inference-limits.ts';
import { cacheBytesPerToken } from './serving/kv-cache.ts';
import { BLOCKS8, FLOAT32 } from './weights/encodings.ts';
import { EXPERT_LINEARS, expertWeightName, sizeOf } from './weights/fused-parameters.ts';
import { servingLayout, trainingLayout, type WeightSpec } from './weights/weight-layout.ts';

export interface PlannedModel {
  readonly id: string;
  readonly config: DecoderConfig;
}

/** Null: nobody said, each per model. */
export interface MemoryWishes extends MemoryLimits {
  readonly samples: boolean;
  readonly trains: boolean;
  readonly precision: ServingPrecision;
  readonly kvCacheDtype: KVCacheDtype;
  readonly trainingPrecision: TrainingPrecision;
  /** What all of it may take. */
  readonly memoryBytes: number;
}

export type MemoryPart = 'processes' | 'weights' | 'kv_cache' | 'prefix_cache' | 'adapters' | 'training';

export interface PlannedPart {
  readonly part: MemoryPart;
  /** Null: of the server. */
  readonly model: string | null;
  readonly bytes: number;
}

export interface MemoryPlan {
  readonly memoryBytes: number;
  readonly parts: readonly PlannedPart[];
  /** Of all parts; where it is more than `memoryBytes`, the least that they need. */
  readonly bytes: number;
  readonly fits: boolean;
}

interface Part extends PlannedPart {
  /** What it can shrink to. */
  readonly leastBytes: number;
}

const MB = 1_000_000;
/** Of a process, whatever the model. The server prepares weights and reads bodies; a sampler keeps buffers of its steps, and answers until they are collected. */
const SERVER_BYTES = 250 * MB;
const SAMPLER_BYTES = 280 * MB;
const TRAINER_BYTES = 120 * MB;
/** The least that can be loaded at one time, of the rank that jobs train by default. */
const LEAST_ADAPTERS = Array<number>(4).fill(DEFAULT_LORA.rank);
/** The least that serving and training are started for; what the model reads, where that is less. */
const LEAST_SERVED = 1_024;
const LEAST_TRAINED = 256;

export function planMemory(models: readonly PlannedModel[], wishes: MemoryWishes): MemoryPlan {
  const parts = [serverPart, ...models.flatMap((model) => partsOf(model, models.length, wishes))];
  const { memoryBytes } = wishes;
  const least = sum(parts.map(({ leastBytes }) => leastBytes));
  const most = sum(parts.map(({ bytes }) => bytes));
  if (least > memoryBytes) return { memoryBytes, parts: parts.map(atLeast), bytes: least, fits: false };
  const share = most <= memoryBytes ? 1 : (memoryBytes - least) / (most - least);
  const given = parts.map((part) => ({
    ...planned(part),
    bytes: Math.floor(part.leastBytes + share * (part.bytes - part.leastBytes)),
  }));
  return { memoryBytes, parts: given, bytes: sum(given.map(({ bytes }) => bytes)), fits: true };
}

/** What a model's engines are opened with. */
export function limitsOf({ parts }: MemoryPlan, id: string, { contextLengthMax }: MemoryLimits): MemoryLimits {
  const bytesOf = (name: MemoryPart) => parts.find(({ part, model }) => part === name && model === id)?.bytes ?? null;
  return {
    contextLengthMax,
    cacheBytes: bytesOf('kv_cache'),
    prefixCacheBytes: bytesOf('prefix_cache'),
    adapterBytes: bytesOf('adapters'),
    trainingMemoryBytes: bytesOf('training'),
  };
}

const serverPart: Part = { part: 'processes', model: null, bytes: SERVER_BYTES, leastBytes: SERVER_BYTES };

function partsOf({ id, config }: PlannedModel, count: number, wishes: MemoryWishes): Part[] {
  const { samples, trains, memoryBytes } = wishes;
  const fixed = (part: MemoryPart, bytes: number): Part => ({ part, model: id, bytes, leastBytes: bytes });
  const flexible = (part: MemoryPart, named: number | null, wanted: number, least: number): Part =>
    named === null ? { part, model: id, bytes: Math.max(wanted, least), leastBytes: least } : fixed(part, named);
  const parts = [
    fixed('processes', Number(samples) * SAMPLER_BYTES + Number(trains) * TRAINER_BYTES),
    fixed('weights', weightBytes(config, wishes)),
  ];
  if (samples) {
    const tokens = Math.min(config.maxPositions, wishes.contextLengthMax ?? LEAST_SERVED);
    const cache = defaultCacheBytes(memoryBytes) / count;
    parts.push(
      flexible(
        'kv_cache',
        wishes.cacheBytes,
        cache,
        cacheBytesPerToken({ ...config, dtype: wishes.kvCacheDtype }) * tokens,
      ),
      flexible('prefix_cache', wishes.prefixCacheBytes, defaultPrefixCacheBytes(memoryBytes) / count, 0),
      flexible('adapters', wishes.adapterBytes, defaultAdapterBytes(memoryBytes) / count, leastAdapterBytes(config)),
    );
  }
  if (trains) {
    const wanted = trainingMemoryShare(count, memoryBytes);
    parts.push(flexible('training', wishes.trainingMemoryBytes, wanted, leastTrainingBytes(config, wishes)));
  }
  return parts;
}

/** What the trainer maps the system may take back, but training reads all of it. */
function weightBytes(config: DecoderConfig, { samples, trains, precision, trainingPrecision }: MemoryWishes): number {
  const mapped = trains ? trainingLayout(config, trainingPrecision) : [];
  const served = samples ? servingLayout(config, precision).filter(isHeldBy(config, precision, mapped)) : [];
  return sum(served.map(heldBytes)) + sum(mapped.map(storedBytes));
}

/**
 * The sampler has its weights once more, in its kernels' order, but for two kinds that stay pages of the file. Of an embedding that is
 * not its head too it reads the rows that are asked for, and the system may take them back. Experts in float32 are the trainer's pages.
 */
function isHeldBy(
  config: DecoderConfig,
  precision: ServingPrecision,
  mapped: readonly WeightSpec[],
): (spec: WeightSpec) => boolean {
  const embeddingIsHead = config.tiedEmbeddings && precision === 'float32';
  const experts = new Set(Array.from({ length: config.layers }, (_, layer) => expertNames(layer)).flat());
  const shared = new Set(mapped.map(({ name }) => name).filter((name) => experts.has(name)));
  return ({ name, encoding }) =>
    (name !== EMBEDDING_WEIGHT || embeddingIsHead) && !(encoding === FLOAT32 && shared.has(name));
}

const expertNames = (layer: number): string[] => EXPERT_LINEARS.map((linear) => expertWeightName(layer, linear));

/** The kernel of int8 packs the scales of blocks beside their codes, and as many sums; the scales' pages stay mapped. */
const heldBytes = (spec: WeightSpec): number =>
  sum(tensorBytes(spec).map((bytes, i) => (spec.encoding === BLOCKS8 && i > 0 ? 3 * bytes : bytes)));

const storedBytes = (spec: WeightSpec): number => sum(tensorBytes(spec));

const tensorBytes = ({ name, shape, encoding }: WeightSpec): number[] =>
  encoding.specs(name, shape).map((spec) => sizeOf(spec.shape) * BYTES_PER_ELEMENT[spec.dtype]);

/** Twice: as they were loaded, and in a batch of all of them. */
const leastAdapterBytes = (config: DecoderConfig): number => 2 * adapterSetBytes(config, LEAST_ADAPTERS);

function leastTrainingBytes(config: DecoderConfig, { trainingPrecision }: MemoryWishes): number {
  const { memory } = trainingLimits(config, 0, Infinity, trainingPrecision);
  const tokens = Math.min(config.maxPositions, LEAST_TRAINED);
  const headNumbers = 4 * tokens * config.vocab + expandedSizes(config, trainingPrecision).head;
  const logitsBytes = Math.min(memory.fixedBytes, 4 * headNumbers); // of a whole chunk, which a short row does not fill
  const adapterBytes = adapterMemoryOf({ rank: DEFAULT_LORA.rank, onHead: false }, memory);
  return Math.ceil(rowMemoryOf(tokens, { ...memory, fixedBytes: logitsBytes }) + adapterBytes);
}

const planned = ({ part, model, bytes }: Part): PlannedPart => ({ part, model, bytes });
const atLeast = (part: Part): PlannedPart => ({ ...planned(part), bytes: part.leastBytes });
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
