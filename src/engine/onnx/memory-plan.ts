// Plans the memory of a server's models before any of them is loaded: parts of fixed size, and parts that may shrink if their size
// was not configured (caches, the budget of training). Pure: the caller passes the machine's memory. These are estimates; how far
// they are from real processes is in docs/guides/models.md.
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

/** Null: not configured; each model gets its own default. */
export interface MemoryWishes extends MemoryLimits {
  readonly samples: boolean;
  readonly trains: boolean;
  readonly precision: ServingPrecision;
  readonly kvCacheDtype: KVCacheDtype;
  readonly trainingPrecision: TrainingPrecision;
  /** The budget for all of it. */
  readonly memoryBytes: number;
}

export type MemoryPart = 'processes' | 'weights' | 'kv_cache' | 'prefix_cache' | 'adapters' | 'training';

export interface PlannedPart {
  readonly part: MemoryPart;
  /** Null for the server's own part. */
  readonly model: string | null;
  readonly bytes: number;
}

export interface MemoryPlan {
  readonly memoryBytes: number;
  readonly parts: readonly PlannedPart[];
  /** Sum of all parts; if it is more than `memoryBytes`, the minimum that they need. */
  readonly bytes: number;
  /** What the parts need at least: caches and the budget of training grow beyond it only when they are used. */
  readonly leastBytes: number;
  readonly fits: boolean;
}

interface Part extends PlannedPart {
  /** The size that it can shrink to. */
  readonly leastBytes: number;
}

const MB = 1_000_000;
/** Per process, whatever the model. The server prepares weights and reads bodies; a sampler keeps buffers of its steps, and results until they are collected. */
const SERVER_BYTES = 250 * MB;
const SAMPLER_BYTES = 280 * MB;
const TRAINER_BYTES = 120 * MB;
/** The minimum that can be loaded at one time, for the rank that jobs train by default. */
const LEAST_ADAPTERS = Array<number>(4).fill(DEFAULT_LORA.rank);
/** The minimum for serving and training to start; the model's context length, if that is less. */
const LEAST_SERVED = 1_024;
const LEAST_TRAINED = 256;

export function planMemory(models: readonly PlannedModel[], wishes: MemoryWishes): MemoryPlan {
  const parts = [serverPart, ...models.flatMap((model) => partsOf(model, models.length, wishes))];
  const { memoryBytes } = wishes;
  const least = sum(parts.map(({ leastBytes }) => leastBytes));
  const most = sum(parts.map(({ bytes }) => bytes));
  if (least > memoryBytes)
    return { memoryBytes, parts: parts.map(atLeast), bytes: least, leastBytes: least, fits: false };
  const share = most <= memoryBytes ? 1 : (memoryBytes - least) / (most - least);
  const given = parts.map((part) => ({
    ...planned(part),
    bytes: Math.floor(part.leastBytes + share * (part.bytes - part.leastBytes)),
  }));
  return { memoryBytes, parts: given, bytes: sum(given.map(({ bytes }) => bytes)), leastBytes: least, fits: true };
}

/** The options for a model's engines. */
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

/** The operating system may reclaim the pages that the trainer maps, but training reads all of them. */
function weightBytes(config: DecoderConfig, { samples, trains, precision, trainingPrecision }: MemoryWishes): number {
  const mapped = trains ? trainingLayout(config, trainingPrecision) : [];
  const served = samples ? servingLayout(config, precision).filter(isHeldBy(config, precision, mapped)) : [];
  return sum(served.map(heldBytes)) + sum(mapped.map(storedBytes));
}

/**
 * The sampler has a second copy of its weights, in its kernels' order, except for two kinds that stay pages of the file. Of an embedding
 * that is not also the head it reads only the rows it needs, and the system may reclaim them. Experts in float32 share the trainer's pages.
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

/** The int8 kernel packs the scales of blocks with their codes, and as many sums; the scales' pages stay mapped. */
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
  const logitsBytes = Math.min(memory.fixedBytes, 4 * headNumbers); // for a whole chunk, which a short row does not fill
  const adapterBytes = adapterMemoryOf({ rank: DEFAULT_LORA.rank, onHead: false }, memory);
  return Math.ceil(rowMemoryOf(tokens, { ...memory, fixedBytes: logitsBytes }) + adapterBytes);
}

const planned = ({ part, model, bytes }: Part): PlannedPart => ({ part, model, bytes });
const atLeast = (part: Part): PlannedPart => ({ ...planned(part), bytes: part.leastBytes });
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
