// What each layer masks: layers that look at a window of tokens mask what lies further back too. Masks are made once per
// graph call and kind of layer, from the positions of tokens: in a packed row as over a cache.
import type { DecoderConfig } from '#model-files/decoder-config';
import type { Graph, Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';
import { MASKED, tileMask } from './attention.ts';

/**
 * By layer, tiled (see attention.ts). mask: `[batch, 1, seq, keys]`; `distances` gives int64 of its shape: how many positions
 * a key lies before its query. Layers of one kind share their mask.
 */
export function layerMasks(g: Graph, config: DecoderConfig, mask: Value, distances: () => Value): readonly Value[] {
  const byWindow = new Map<number | null, Value>();
  let distance: Value | null = null;
  for (const { window } of config.attention) {
    if (byWindow.has(window)) continue;
    byWindow.set(window, tileMask(g, config, window === null ? mask : within(window)));
  }
  return config.attention.map(({ window }) => byWindow.get(window)!);

  function within(window: number): Value {
    distance ??= distances();
    const isNear = ops.less(g, distance, g.integers(window));
    return ops.where(g, isNear, mask, g.scalar(MASKED));
  }
}

/** Within a row: positions int64 `[batch, seq]` → `[batch, 1, seq, seq]`. */
export const rowDistances = (g: Graph, positions: Value): Value =>
  ops.sub(g, ops.unsqueeze(g, positions, 1, 3), ops.unsqueeze(g, positions, 1, 2));

/** Over a cache, whose keys lie by their positions, and the row behind them: `[batch, 1, seq, capacity + seq]`. */
export function cacheDistances(g: Graph, positions: Value, capacity: Value, mask: Value): Value {
  const cached = ops.range(g, capacity, 'capacity');
  const toCached = ops.sub(g, ops.unsqueeze(g, positions, 1, 3), cached);
  return ops.concat(g, [toCached, rowDistances(g, positions)], 3, mask.shape[3]);
}
