// Grouped-query attention (arXiv:2305.13245) in two forms: plain (training, row-attention.ts) and over a
// cache plus the new tokens (serving). Softmax in float32. Masks are additive, 0 or a large negative number.
//
// The query heads that share a key head are rows of one matrix, `[batch, kvHeads, group · seq, headDim]`, so keys need not
// be repeated. Masks are therefore tiled `group` times (tileMask).
import type { DecoderConfig } from '#model-files/decoder-config';
import type { Graph, Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';

/** Added where a token must not look: exp underflows to exactly 0. */
export const MASKED = -1e9;

/** cap · tanh(x / cap) */
export function softCapped(g: Graph, x: Value, cap: number | null): Value {
  if (cap === null) return x;
  const limit = g.scalar(cap);
  return ops.mul(g, ops.tanh(g, ops.div(g, x, limit)), limit);
}

/** `[batch, 1, seq, keys] → [batch, 1, group · seq, keys]` */
export function tileMask(g: Graph, config: DecoderConfig, mask: Value): Value {
  const group = config.heads / config.kvHeads;
  return group === 1
    ? mask
    : ops.concat(
        g,
        Array.from({ length: group }, () => mask),
        2,
        'groupSeq',
      );
}

/** q `[batch, heads, seq, headDim]`, k and v `[batch, kvHeads, keys, headDim]` → `[batch, heads, seq, headDim]`; mask: from tileMask. */
export function attention(
  g: Graph,
  config: DecoderConfig,
  [q, k, v]: readonly [Value, Value, Value],
  mask: Value,
): Value {
  const scores = ops.matmul(g, groupQueries(g, config, q), k, {
    transposeB: true,
    alpha: config.multipliers.attention,
  });
  const weights = softmaxOfScores(g, config, scores, mask); // [batch, kvHeads, group · seq, keys]
  return ungroup(g, config, ops.matmul(g, weights, v), q);
}

export interface PastKeysAndValues {
  /** `[batch, kvHeads, capacity, headDim]` */
  readonly k: Value;
  /** `[batch, kvHeads, capacity, headDim]` */
  readonly v: Value;
}

/** int64 each. */
export interface CacheShapes {
  /** `[2]`: capacity and seq */
  readonly sizes: Value;
  /** `[4]`: 0 (unchanged), kvHeads, group · seq, headDim */
  readonly grouped: Value;
  /** `[4]`: 0, heads, seq, headDim */
  readonly ungrouped: Value;
}

/** mask: from tileMask, keys = capacity + seq, the past first. */
export function cachedAttention(
  g: Graph,
  config: DecoderConfig,
  q: Value,
  k: Value,
  v: Value,
  past: PastKeysAndValues,
  mask: Value,
  shapes: CacheShapes,
): Value {
  const rows = groupQueries(g, config, q, shapes.grouped);
  const scaled = { transposeB: true, alpha: config.multipliers.attention };
  const scores = ops.concat(
    g,
    [ops.matmul(g, rows, past.k, scaled), ops.matmul(g, rows, k, scaled)],
    -1,
    mask.shape[3],
  );
  const weights = softmaxOfScores(g, config, scores, mask); // [batch, kvHeads, group · seq, keys]
  const [pastWeights, newWeights] = ops.split(g, weights, -1, [past.k.shape[2]!, k.shape[2]!], shapes.sizes) as [
    Value,
    Value,
  ];
  const attended = ops.add(g, ops.matmul(g, pastWeights, past.v), ops.matmul(g, newWeights, v));
  return ungroup(g, config, attended, q, shapes.ungrouped);
}

const softmaxOfScores = (g: Graph, { softCaps }: DecoderConfig, scores: Value, mask: Value): Value =>
  ops.softmax(g, ops.add(g, softCapped(g, scores, softCaps.attention), mask));

/** `[batch, heads, seq, headDim] → [batch, kvHeads, group · seq, headDim]`; no data moves. */
function groupQueries(g: Graph, { heads, kvHeads, headDim }: DecoderConfig, q: Value, shape?: Value): Value {
  return heads === kvHeads ? q : ops.reshape(g, q, [q.shape[0]!, kvHeads, 'groupSeq', headDim], shape);
}

function ungroup(g: Graph, { heads, kvHeads, headDim }: DecoderConfig, x: Value, q: Value, shape?: Value): Value {
  return heads === kvHeads ? x : ops.reshape(g, x, [q.shape[0]!, heads, q.shape[2]!, headDim], shape);
}
