// Token ids and cache views → logits and new keys and values: one call of the serving graph. Lays out the graph's inputs;
// does not know why these tokens run or what happens to the logits.
import { readDecoderConfig, type DecoderConfig } from '#model-files/decoder-config';
import { openSession, type Feed } from '../graph/session.ts';
import type { KVCacheDtype, ServingPrecision } from '../../capabilities.ts';
import { buildServingGraph } from '../models/serving-graph.ts';
import { MASKED } from '../models/attention.ts';
import { CLASSES_MAX } from '../models/class-attention.ts';
import { servingLayout } from '../weights/weight-layout.ts';
import { openWeights, type WeightsPlace } from '../weights/weights.ts';
import type { FusedAdapters } from './fused-adapters.ts';
import type { Logits } from './logits.ts';
import { cacheArray, type CacheShape, type CacheView, type NewKeysAndValues } from './kv-cache.ts';

export interface RunResult extends Logits {
  /** `[rows, hidden]` */
  readonly hidden: Float32Array;
  readonly computed: NewKeysAndValues;
}

export interface PrefillInput {
  /** The tokens of the chunk. */
  readonly tokens: readonly number[];
  /** Position of the chunk's first token: the number of tokens already in the cache. */
  readonly start: number;
  /** Null when start is 0. */
  readonly past: CacheView | null;
  readonly adapterId: string | null;
  /** Returns logits of every token instead of the last one. */
  readonly allLogits: boolean;
}

export interface DecodeInput {
  /** One token per sequence, in the order of the views and their slots. */
  readonly tokens: readonly number[];
  readonly positions: readonly number[];
  /** By capacity class, at most CLASSES_MAX. */
  readonly past: readonly CacheView[];
  readonly adapterIds: readonly (string | null)[];
}

export interface ModelRunner {
  readonly config: DecoderConfig;
  readonly cacheShape: CacheShape;
  /** Returns logits of the chunk's last token, or of all. The set contains the sequence's own adapter and no others. */
  prefill(input: PrefillInput, adapters: FusedAdapters): Promise<RunResult>;
  /** Returns logits of every sequence's token. */
  decode(input: DecodeInput, adapters: FusedAdapters): Promise<RunResult>;
  /** Releases the caches that the last call read: until the next call nothing here refers to them. */
  releasePast(): void;
  close(): Promise<void>;
}

export interface ModelRunnerOptions {
  readonly modelDirectory: string;
  readonly threads: number;
  readonly precision: ServingPrecision;
  /** Default: float32. */
  readonly kvCacheDtype?: KVCacheDtype;
  readonly weights: WeightsPlace;
  /** Rotary tables for more positions than are served would only use memory. */
  readonly contextLength: number;
}

export async function openModelRunner(options: ModelRunnerOptions): Promise<ModelRunner> {
  const { modelDirectory, precision, kvCacheDtype = 'float32', contextLength } = options;
  const found = await readDecoderConfig(modelDirectory);
  const config = { ...found, maxPositions: Math.min(found.maxPositions, contextLength) };
  const weights = await openWeights({ modelDirectory, layout: servingLayout(config, precision), ...options.weights });
  const session = await openSession(buildServingGraph(config, weights, precision, kvCacheDtype), {
    // With more threads than attention products, a product would be split over its columns, which changes the order of its sums: a
    // sequence's logits would depend on the batch (docs/decisions/0001).
    threads: Math.min(options.threads, config.kvHeads),
  });
  const { layers, kvHeads, headDim } = config;
  const cacheShape: CacheShape = { layers, kvHeads, headDim, dtype: kvCacheDtype };
  const noPast = emptyView(cacheShape, 1);
  const noClass = emptyView(cacheShape, 0);
  const heldPast: (CacheView | null)[] = new Array<null>(CLASSES_MAX).fill(null);
  const holdPast = (past: readonly CacheView[]): void => {
    heldPast.forEach((before, c) => {
      const view = past[c] ?? noClass;
      if (view !== before) session.hold(pastFeeds(config, view, c));
      heldPast[c] = view;
    });
  };
  let heldAdapters: FusedAdapters | null = null;
  const run = async (
    past: readonly CacheView[],
    adapters: FusedAdapters,
    adapterIds: AdapterIds,
    seq: number,
    feeds: Feeds,
  ) => {
    holdPast(past);
    if (adapters !== heldAdapters) session.hold(adapters.weightFeeds);
    heldAdapters = adapters;
    const results = await session.run({
      ...feeds,
      counts: { data: BigInt64Array.from(heldPast, (view) => BigInt(view!.count)), dims: [CLASSES_MAX] },
      ...adapters.slotFeeds(adapterIds),
    });
    const computed = { data: results['new_kv']!, batch: adapterIds.length, seq };
    const [logits, logsumexp, hidden] = [results['logits']!, results['logsumexp']!, results['hidden']!];
    const [maxima, sums] = [results['maxima']!, results['sums']!];
    return { logits, logsumexp, maxima, sums, hidden, computed };
  };
  return {
    config,
    cacheShape,
    prefill({ tokens, start, past: cached, adapterId, allLogits }, adapters) {
      const past = cached ?? noPast;
      const seq = tokens.length;
      const positions = Array.from(tokens, (_, i) => start + i);
      return run([past], adapters, [adapterId], seq, {
        ...tokenFeeds(tokens, positions, 1),
        alike: flagFeed(false),
        several: flagFeed(false),
        stored: countFeed(start),
        'mask.0': prefillMask(start, seq),
        rows: rowFeed(allLogits ? Array.from(tokens.keys()) : [seq - 1]),
      });
    },
    decode({ tokens, positions, past, adapterIds }, adapters) {
      const batch = tokens.length;
      return run(past, adapters, adapterIds, 1, {
        ...tokenFeeds(tokens, positions, batch),
        alike: flagFeed(past.length === 1),
        several: flagFeed(past.length > 1),
        stored: countFeed(0),
        rows: rowFeed(Array.from(tokens.keys())),
      });
    },
    releasePast: () => holdPast([]),
    close: () => session.close(),
  };
}

type Feeds = Readonly<Record<string, Feed>>;
type AdapterIds = readonly (string | null)[];

/** `[batch, seq]` each. */
function tokenFeeds(tokens: readonly number[], positions: readonly number[], batch: number): Record<string, Feed> {
  const dims = [batch, tokens.length / batch];
  return {
    tokens: { data: BigInt64Array.from(tokens, BigInt), dims },
    positions: { data: BigInt64Array.from(positions, BigInt), dims },
  };
}

const rowFeed = (rows: readonly number[]): Feed => ({ data: BigInt64Array.from(rows, BigInt), dims: [rows.length] });

const flagFeed = (value: boolean): Feed => ({ data: Uint8Array.of(value ? 1 : 0), dims: [] });

const countFeed = (count: number): Feed => ({ data: BigInt64Array.of(BigInt(count)), dims: [] });

/** The mask is for decode: a prompt brings its own. */
function pastFeeds({ kvHeads, headDim }: DecoderConfig, view: CacheView, c: number): Record<string, Feed> {
  const { k, v, mask, count, capacity } = view;
  const feeds: Record<string, Feed> = { [`mask.${c}`]: { data: mask, dims: [count, 1, 1, capacity + 1] } };
  const dims = [count, kvHeads, capacity, headDim];
  k.forEach((data, layer) => (feeds[`past_k.${c}.${layer}`] = { data, dims }));
  v.forEach((data, layer) => (feeds[`past_v.${c}.${layer}`] = { data, dims }));
  return feeds;
}

/** For a missing class, or the start of a prompt, which has no past: a single token of zeros, masked or not read. */
function emptyView(shape: CacheShape, count: 0 | 1): CacheView {
  const { layers, kvHeads, headDim } = shape;
  const zeros = Array.from({ length: layers }, () => cacheArray(shape, count * kvHeads * headDim));
  return { capacity: 1, count, k: zeros, v: zeros, mask: Float32Array.of(MASKED, 0).subarray(0, 2 * count) };
}

/** `[1, 1, seq, start + seq]`: everything stored, and the chunk's tokens up to the token itself. */
function prefillMask(start: number, seq: number): Feed {
  const keys = start + seq;
  const data = new Float32Array(seq * keys).fill(MASKED);
  for (let i = 0; i < seq; i++) data.fill(0, i * keys, i * keys + start + i + 1);
  return { data, dims: [1, 1, seq, keys] };
}
