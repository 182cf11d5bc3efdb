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
  /** Logits of the chunk's last token, or of all. The adapters are the sequence's own and no others. */
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
  const noPast = emptyView(config);
  let heldPast: CacheView | null = null;
  let heldAdapters: FusedAdapters | null = null;
  const run = async (past: CacheView, adapters: FusedAdapters, adapterIds: AdapterIds, seq: number, feeds: Feeds) => {
    if (past !== heldPast) session.hold(pastFeeds(config, past));
    if (adapters !== heldAdapters) session.hold(adapters.weightFeeds);
    [heldPast, heldAdapters] = [past, adapters];
    const adapted = { data: Uint8Array.of(adapterIds.some((id) => id !== null) ? 1 : 0), dims: [] };
    const results = await session.run({ ...feeds, adapted, ...adapters.maskFeeds(adapterIds) });
    const computed = { data: results['new_kv']!, batch: adapterIds.length, seq };
    return { logits: results['logits']!, logsumexp: results['logsumexp']!, computed };
  };
  return {
    config,
    prefill({ tokens, start, past: cached, adapterId, allLogits }, adapters) {
      const past = cached ?? noPast;
      const seq = tokens.length;
      const positions = Array.from(tokens, (_, i) => start + i);
      return run(past, adapters, [adapterId], seq, {
        ...tokenFeeds(tokens, positions, 1),
        mask: prefillMask(start, seq, past.capacity),
        rows: rowFeed(allLogits ? Array.from(tokens.keys()) : [seq - 1]),
      });
    },
    decode({ tokens, positions, past, adapterIds }, adapters) {
      const batch = tokens.length;
      return run(past, adapters, adapterIds, 1, {
        ...tokenFeeds(tokens, positions, batch),
        mask: { data: past.mask, dims: [batch, 1, 1, past.capacity + 1] },
        rows: rowFeed(Array.from(tokens.keys())),
      });
    },
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

function pastFeeds({ kvHeads, headDim }: DecoderConfig, { k, v, count, capacity }: CacheView): Record<string, Feed> {
  const feeds: Record<string, Feed> = {};
  const dims = [count, kvHeads, capacity, headDim];
  k.forEach((data, layer) => (feeds[`past_k.${layer}`] = { data, dims }));
  v.forEach((data, layer) => (feeds[`past_v.${layer}`] = { data, dims }));
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
