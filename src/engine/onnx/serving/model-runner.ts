// Token ids and cache views → logits and new keys and values: one call of the serving graph. Lays out the graph's inputs;
// does not know why these tokens run or what becomes of the logits.
import { readDecoderConfig, type DecoderConfig } from '../models/config.ts';
import { openSession, type Feed, type Session } from '../graph/session.ts';
import { loadDecoderWeights } from '../models/parameters.ts';
import { buildServingGraph, type ServingPrecision } from '../models/serving-graph.ts';
import { MASKED } from '../models/attention.ts';
import { openSafetensors } from '../weights/safetensors.ts';
import type { FusedAdapters } from './fused-adapters.ts';
import type { CacheView, NewKeysAndValues } from './kv-cache.ts';

export interface RunResult {
  /** `[rows, vocab]` */
  readonly logits: Float32Array;
  /** `[rows]` */
  readonly logsumexp: Float32Array;
  readonly computed: NewKeysAndValues;
}

export interface PrefillInput {
  /** The chunk. */
  readonly tokens: readonly number[];
  /** Its first position: what the cache holds already. */
  readonly start: number;
  /** Null when start is 0. */
  readonly past: CacheView | null;
  readonly adapterId: string | null;
  /** Logits of every token instead of the last one. */
  readonly allLogits: boolean;
}

export interface DecodeInput {
  /** One token per sequence, in the order of the slots. */
  readonly tokens: readonly number[];
  readonly positions: readonly number[];
  readonly past: CacheView;
  readonly adapterIds: readonly (string | null)[];
}

export interface ModelRunner {
  readonly config: DecoderConfig;
  /** Logits of the chunk's last token, or of all. */
  prefill(input: PrefillInput, adapters: FusedAdapters): Promise<RunResult>;
  /** Logits of every token. */
  decode(input: DecodeInput, adapters: FusedAdapters): Promise<RunResult>;
  close(): Promise<void>;
}

export interface ModelRunnerOptions {
  readonly modelDirectory: string;
  readonly threads: number;
  readonly precision: ServingPrecision;
  /** Tables for more positions than are served would only cost memory. */
  readonly contextLength: number;
}

export async function openModelRunner({
  modelDirectory,
  threads,
  precision,
  contextLength,
}: ModelRunnerOptions): Promise<ModelRunner> {
  const found = await readDecoderConfig(modelDirectory);
  const config = { ...found, maxPositions: Math.min(found.maxPositions, contextLength) };
  const source = await openSafetensors(modelDirectory);
  let session: Session;
  try {
    // More threads than products of attention would split one over its columns, which changes the order of its sums: a
    // sequence's logits would depend on the batch (docs/decisions/0001).
    session = await openSession(buildServingGraph(config, await loadDecoderWeights(config, source), precision), {
      threads: Math.min(threads, config.kvHeads),
    });
  } finally {
    await source.close();
  }
  return {
    config,
    async prefill(input, adapters) {
      const past = input.past ?? emptyView(config);
      const seq = input.tokens.length;
      return readResults(
        config,
        seq,
        await session.run({
          ...tokenFeeds(
            input.tokens,
            Array.from(input.tokens, (_, i) => input.start + i),
            1,
          ),
          mask: prefillMask(input.start, seq, past.capacity),
          rows: rowFeed(input.allLogits ? Array.from(input.tokens.keys()) : [seq - 1]),
          ...pastFeeds(config, past),
          ...adapters.weightFeeds,
          ...adapters.maskFeeds(new Array<string | null>(seq).fill(input.adapterId)),
        }),
      );
    },
    async decode({ tokens, positions, past, adapterIds }, adapters) {
      const batch = tokens.length;
      return readResults(
        config,
        1,
        await session.run({
          ...tokenFeeds(tokens, positions, batch),
          mask: { data: past.mask, dims: [batch, 1, 1, past.capacity + 1] },
          rows: rowFeed(Array.from(tokens.keys())),
          ...pastFeeds(config, past),
          ...adapters.weightFeeds,
          ...adapters.maskFeeds(adapterIds),
        }),
      );
    },
    close: () => session.close(),
  };
}

/** `[batch, seq]` each. */
function tokenFeeds(tokens: readonly number[], positions: readonly number[], batch: number): Record<string, Feed> {
  const dims = [batch, tokens.length / batch];
  return {
    tokens: { data: BigInt64Array.from(tokens, BigInt), dims },
    positions: { data: BigInt64Array.from(positions, BigInt), dims },
  };
}

const rowFeed = (rows: readonly number[]): Feed => ({ data: BigInt64Array.from(rows, BigInt), dims: [rows.length] });

function pastFeeds({ kvHeads, headDim }: DecoderConfig, { k, v, count, capacity }: CacheView): Record<string, Feed> {
  const feeds: Record<string, Feed> = {};
  k.forEach((data, layer) => (feeds[`past_k.${layer}`] = { data, dims: [count, kvHeads, headDim, capacity] }));
  v.forEach((data, layer) => (feeds[`past_v.${layer}`] = { data, dims: [count, kvHeads, capacity, headDim] }));
  return feeds;
}

/** The start of a prompt has no past; a single masked token of zeros spares it the empty cache. */
function emptyView({ layers, kvHeads, headDim }: DecoderConfig): CacheView {
  const zeros = Array.from({ length: layers }, () => new Float32Array(kvHeads * headDim));
  return { capacity: 1, count: 1, k: zeros, v: zeros, mask: Float32Array.of(MASKED, 0) };
}

/** `[1, 1, seq, capacity + seq]`: all that is cached, and of the chunk the tokens up to oneself. */
function prefillMask(start: number, seq: number, capacity: number): Feed {
  const keys = capacity + seq;
  const data = new Float32Array(seq * keys).fill(MASKED);
  for (let i = 0; i < seq; i++) {
    data.fill(0, i * keys, i * keys + start);
    data.fill(0, i * keys + capacity, i * keys + capacity + i + 1);
  }
  return { data, dims: [1, 1, seq, keys] };
}

function readResults(config: DecoderConfig, seq: number, results: Readonly<Record<string, Float32Array>>): RunResult {
  const byLayer = (name: string) => Array.from({ length: config.layers }, (_, layer) => results[`${name}.${layer}`]!);
  return {
    logits: results['logits']!,
    logsumexp: results['logsumexp']!,
    computed: { k: byLayer('new_k'), v: byLayer('new_v'), seq },
  };
}
