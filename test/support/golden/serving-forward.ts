// Drives the serving graph by hand: tokens in, logits of every position out. Feeds are laid out as serving-graph.ts describes
// them, in the plainest way, so that the golden logits test the graph and not the code that schedules it.
import { MASKED } from '#engine/onnx/models/attention';
import { CLASSES_MAX } from '#engine/onnx/models/class-attention';
import type { DecoderConfig } from '#model-files/decoder-config';
import { layerLinears } from '#model-files/decoder-parameters';
import { buildServingGraph } from '#engine/onnx/models/serving-graph';
import { loraAName, loraBName, loraScale, type LoraAdapter } from '#model-files/lora';
import { openSession, type Feed, type Session } from '#engine/onnx/graph/session';
import { servingLayout } from '#engine/onnx/weights/weight-layout';
import { openWeights } from '#engine/onnx/weights/weights';

export interface ServingForward {
  /** `[seq][vocab]` per sequence. Shorter sequences are padded on the right. `chunk`: tokens per run over the cache. */
  logits(
    sequences: readonly (readonly number[])[],
    adapter: LoraAdapter | null,
    chunk?: number,
  ): Promise<Float32Array[]>;
  close(): Promise<void>;
}

export async function openServingForward(config: DecoderConfig, modelDirectory: string): Promise<ServingForward> {
  const weights = await openWeights({ modelDirectory, layout: servingLayout(config, 'float32') });
  const session = await openSession(buildServingGraph(config, weights, 'float32', 'float32'), { threads: 1 });
  return {
    logits: (sequences, adapter, chunk = Infinity) => runInChunks(session, config, sequences, adapter, chunk),
    close: () => session.close(),
  };
}

async function runInChunks(
  session: Session,
  config: DecoderConfig,
  sequences: readonly (readonly number[])[],
  adapter: LoraAdapter | null,
  chunk: number,
): Promise<Float32Array[]> {
  const longest = Math.max(...sequences.map((tokens) => tokens.length));
  const cache = createCache(config, sequences.length, longest);
  const logits = sequences.map((tokens) => new Float32Array(tokens.length * config.vocab));
  for (let start = 0; start < longest; start += chunk) {
    const seq = Math.min(chunk, longest - start);
    const results = await session.run({
      ...rowFeeds(sequences, start, seq, longest),
      ...cacheFeeds(cache),
      ...adapterFeeds(config, adapter, sequences.length),
    });
    writeCache(cache, results['new_kv']!, start, seq);
    sequences.forEach((tokens, row) => {
      const count = Math.max(0, Math.min(seq, tokens.length - start));
      const first = row * seq * config.vocab;
      logits[row]!.set(results['logits']!.subarray(first, first + count * config.vocab), start * config.vocab);
    });
  }
  return logits;
}

/**
 * Tokens, positions, mask and wanted rows of the positions start … start + seq; the cache holds those before. Single tokens read the
 * whole cache, as in decoding; several read its filled part, as a prompt does.
 */
function rowFeeds(sequences: readonly (readonly number[])[], start: number, seq: number, capacity: number) {
  const batch = sequences.length;
  const alike = seq === 1;
  const pastKeys = alike ? capacity : start;
  const keys = pastKeys + seq;
  const tokens = new BigInt64Array(batch * seq);
  const positions = new BigInt64Array(batch * seq);
  const mask = new Float32Array(batch * seq * keys).fill(MASKED);
  for (let row = 0; row < batch; row++) {
    for (let i = 0; i < seq; i++) {
      tokens[row * seq + i] = BigInt(sequences[row]![start + i] ?? 0);
      positions[row * seq + i] = BigInt(start + i);
      const own = (row * seq + i) * keys;
      mask.fill(0, own, own + start); // everything cached
      mask.fill(0, own + pastKeys, own + pastKeys + i + 1); // the chunk up to the token itself
    }
  }
  return {
    tokens: { data: tokens, dims: [batch, seq] },
    positions: { data: positions, dims: [batch, seq] },
    alike: { data: Uint8Array.of(alike ? 1 : 0), dims: [] },
    stored: { data: BigInt64Array.of(BigInt(alike ? 0 : start)), dims: [] },
    'mask.0': { data: mask, dims: [batch, 1, seq, keys] },
    rows: { data: BigInt64Array.from({ length: batch * seq }, (_, i) => BigInt(i)), dims: [batch * seq] },
  };
}

interface Cache {
  readonly batch: number;
  readonly capacity: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** `[layer]` of `[batch, kvHeads, capacity, headDim]` */
  readonly k: readonly Float32Array[];
  readonly v: readonly Float32Array[];
}

function createCache({ layers, kvHeads, headDim }: DecoderConfig, batch: number, capacity: number): Cache {
  const make = () => Array.from({ length: layers }, () => new Float32Array(batch * kvHeads * headDim * capacity));
  return { batch, capacity, kvHeads, headDim, k: make(), v: make() };
}

/** All sequences are of one capacity class; the others are empty. */
function cacheFeeds({ batch, capacity, kvHeads, headDim, k, v }: Cache): Record<string, Feed> {
  const counts = BigInt64Array.from({ length: CLASSES_MAX }, (_, c) => BigInt(c === 0 ? batch : 0));
  const feeds: Record<string, Feed> = {
    counts: { data: counts, dims: [CLASSES_MAX] },
    several: { data: Uint8Array.of(0), dims: [] },
  };
  const nothing = new Float32Array(0);
  for (let c = 0; c < CLASSES_MAX; c++) {
    const dims = c === 0 ? [batch, kvHeads, capacity, headDim] : [0, kvHeads, 1, headDim];
    if (c > 0) feeds[`mask.${c}`] = { data: nothing, dims: [0, 1, 1, 2] };
    k.forEach((data, layer) => (feeds[`past_k.${c}.${layer}`] = { data: c === 0 ? data : nothing, dims }));
    v.forEach((data, layer) => (feeds[`past_v.${c}.${layer}`] = { data: c === 0 ? data : nothing, dims }));
  }
  return feeds;
}

/** computed: `[layers, 2, batch, kvHeads, seq, headDim]` */
function writeCache(cache: Cache, computed: Float32Array, start: number, seq: number): void {
  const { batch, capacity, kvHeads, headDim } = cache;
  const run = seq * headDim;
  let from = 0;
  cache.k.forEach((keys, layer) => {
    for (const stored of [keys, cache.v[layer]!]) {
      for (let head = 0; head < batch * kvHeads; head++, from += run) {
        stored.set(computed.subarray(from, from + run), (head * capacity + start) * headDim);
      }
    }
  });
}

/** Every sequence uses the adapter, which is its own group; without one there is a single column of zeros. */
function adapterFeeds(config: DecoderConfig, adapter: LoraAdapter | null, batch: number): Record<string, Feed> {
  const rank = adapter?.rank ?? 0;
  const columnsOf = (projectionCount: number) => Math.max(1, projectionCount * rank);
  const sequences = BigInt64Array.from({ length: batch }, (_, row) => BigInt(row));
  const feeds: Record<string, Feed> = {
    adapted: { data: Uint8Array.of(adapter ? 1 : 0), dims: [] },
    head_adapted: { data: Uint8Array.of(adapter?.targets.includes('lm_head') ? 1 : 0), dims: [] },
    grouped: { data: Uint8Array.of(0), dims: [] },
    lora_rows: { data: sequences, dims: [1, batch] },
    lora_places: {
      data: BigInt64Array.from(Array.from(sequences).flatMap((row) => [0n, 0n, 0n, row])),
      dims: [batch, 4],
    },
  };
  for (const count of [1, 2, 3]) {
    const columns = columnsOf(count);
    feeds[`lora_mask.${count}`] = { data: new Uint8Array(columns).fill(1), dims: [1, 1, 1, columns] };
  }
  const layerParts = Array.from({ length: config.layers }, (_, layer) =>
    layerLinears(config, layer).map((linear) => ({
      name: `lora.${layer}.${linear}`,
      parts: config.linears[linear].map((part) => ({ ...part, path: `model.layers.${layer}.${part.module}` })),
    })),
  ).flat();
  const head = { path: 'lm_head', inFeatures: config.hidden, outFeatures: config.vocab };
  for (const { name, parts } of [...layerParts, { name: 'lora.head', parts: [head] }]) {
    const columns = columnsOf(parts.length);
    const inFeatures = parts[0]!.inFeatures;
    const outFeatures = parts.reduce((sum, part) => sum + part.outFeatures, 0);
    const a = new Float32Array(inFeatures * columns);
    const b = new Float32Array(columns * outFeatures);
    let outOffset = 0;
    parts.forEach(({ path, outFeatures: ownOut }, part) => {
      const loraA = adapter?.tensors.get(loraAName(path)); // [rank, in]; none where it is no target
      const loraB = adapter?.tensors.get(loraBName(path)); // [out, rank]
      for (let r = 0; loraA && r < rank; r++) {
        const column = part * rank + r;
        for (let i = 0; i < inFeatures; i++) a[i * columns + column] = loraA[r * inFeatures + i]!;
        for (let o = 0; o < ownOut; o++) {
          b[column * outFeatures + outOffset + o] = loraB![o * rank + r]! * loraScale(adapter!);
        }
      }
      outOffset += ownOut;
    });
    feeds[`${name}.a`] = { data: a, dims: [1, 1, 1, inFeatures, columns] };
    feeds[`${name}.b`] = { data: b, dims: [1, 1, 1, 1, columns, outFeatures] };
  }
  return feeds;
}
