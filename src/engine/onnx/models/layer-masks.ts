// The mask of each layer: layers with an attention window also mask tokens further back, by the tokens' positions.
// Over a cache, masks are made once per graph call and kind of layer; for a row they are made a block at a time (row-attention.ts).
import type { DecoderConfig } from '#model-files/decoder-config';
import type { Graph, Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';
import { MASKED, tileMask } from './attention.ts';

/**
 * By layer, tiled (see attention.ts). mask: `[batch, 1, seq, keys]`; `distances` returns int64 of its shape: how many positions
 * a key is before its query. Layers of one kind share their mask.
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
    return withinWindow(g, mask, distance, window);
  }
}

/** The mask, with everything masked that is a window or more away; both `[batch, 1, seq, keys]`. */
export const withinWindow = (g: Graph, mask: Value, distance: Value, window: number): Value =>
  ops.where(g, ops.less(g, distance, g.integers(window)), mask, g.scalar(MASKED));

/** Positions int64 `[batch, seq]` and `[batch, keys]` → `[batch, 1, seq, keys]`. */
export const rowDistances = (g: Graph, queries: Value, keys: Value): Value =>
  ops.sub(g, ops.unsqueeze(g, queries, 1, 3), ops.unsqueeze(g, keys, 1, 2));

/** Over a cache, whose keys are in the order of their positions, and the row after them: `[batch, 1, seq, capacity + seq]`. */
export function cacheDistances(g: Graph, positions: Value, capacity: Value, mask: Value): Value {
  const cached = ops.range(g, capacity, 'capacity');
  const toCached = ops.sub(g, ops.unsqueeze(g, positions, 1, 3), cached);
  return ops.concat(g, [toCached, rowDistances(g, positions, positions)], 3, mask.shape[3]);
}
