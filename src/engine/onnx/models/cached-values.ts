// What a cache stores of keys and values, and what attention reads from it. A token reads its own keys and values, and those of its
// chunk, as they are stored: so it computes with the same bits as later tokens do, however a prompt is cut into chunks. Does
// not know where they are stored (serving/kv-cache.ts).
import type { KVCacheDtype } from '../../capabilities.ts';
import type { Graph, Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';

/** The largest number of float16. A larger key would be infinite, and infinity times a weight of 0 is NaN. */
const FLOAT16_MAX = 65_504;

/** Float32 in; numbers too large for float16 become its largest. */
export function toCache(g: Graph, x: Value, dtype: KVCacheDtype): Value {
  if (dtype === 'float32') return x;
  const bounded = ops.maximum(g, ops.minimum(g, x, g.scalar(FLOAT16_MAX)), g.scalar(-FLOAT16_MAX));
  return ops.toFloat16(g, bounded);
}

/** Float32 out. */
export const fromCache = (g: Graph, stored: Value): Value =>
  stored.dtype === 'float16' ? ops.toFloat(g, stored) : stored;
