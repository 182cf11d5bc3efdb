// What a cache keeps of keys and values, and what attention reads of it. A token reads its own keys and values, and those of its
// chunk, as they are kept: so it gets the same bits from them as the tokens behind it, in whatever chunks a prompt comes. Does
// not know where they are kept (serving/kv-cache.ts).
import type { KVCacheDtype } from '../../capabilities.ts';
import type { Graph, Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';

/** The largest number of float16. A key beyond it would be infinite, and infinity times a weight of 0 is no number. */
const FLOAT16_MAX = 65_504;

/** Float32 in; what is too large for float16 becomes the largest that there is. */
export function toCache(g: Graph, x: Value, dtype: KVCacheDtype): Value {
  if (dtype === 'float32') return x;
  const bounded = ops.maximum(g, ops.minimum(g, x, g.scalar(FLOAT16_MAX)), g.scalar(-FLOAT16_MAX));
  return ops.toFloat16(g, bounded);
}

/** Float32 out. */
export const fromCache = (g: Graph, stored: Value): Value =>
  stored.dtype === 'float16' ? ops.toFloat(g, stored) : stored;
