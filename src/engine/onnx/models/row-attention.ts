// Attention over packed rows, a block of queries at a time: scores are `[heads, block, keys]`, never `[heads, seq, seq]`, and
// they are not kept: the gradient computes them again (as arXiv:2205.14135 does). A block looks only at the keys up to its own
// end: no token sees one that comes later in the row (learning/attention-mask.ts), so half of the products are skipped.
import type { DecoderConfig } from '#model-files/decoder-config';
import { pullback } from '../graph/autodiff.ts';
import { readBy, type Graph, type GradientRule, type Value } from '../graph/graph.ts';
import { loop } from '../graph/loop.ts';
import * as ops from '../graph/ops.ts';
import { attention, tileMask } from './attention.ts';
import { rowDistances, withinWindow } from './layer-masks.ts';

export interface RowContext {
  /** `[batch, 1, seq, seq]`, additive */
  readonly mask: Value;
  /** int64 `[batch, seq]` */
  readonly positions: Value;
  /** int64 `[]`: queries at a time. */
  readonly block: Value;
}

/** q `[batch, heads, seq, headDim]`, k and v `[batch, kvHeads, seq, headDim]` → `[batch, heads, seq, headDim]` */
export function rowAttention(
  g: Graph,
  config: DecoderConfig,
  window: number | null,
  [q, k, v]: readonly [Value, Value, Value],
  row: RowContext,
): Value {
  const rounds = blockCount(g, row);

  /** The block's queries, and the keys and values that they may see. */
  const blockOf = (body: Graph, index: Value) => {
    const start = ops.mul(body, index, row.block);
    const end = ops.add(body, start, row.block);
    const queries = (x: Value, axis: number) => ops.slice(body, x, start, end, 'block', axis);
    const keys = (x: Value, axis: number) => ops.slice(body, x, null, end, 'keys', axis);
    const mask = keys(queries(row.mask, 2), 3); // [batch, 1, block, keys]
    const { positions } = row;
    const distance = () => rowDistances(body, queries(positions, 1), keys(positions, 1));
    const near = window === null ? mask : withinWindow(body, mask, distance(), window);
    const read = [queries(q, 2), keys(k, 2), keys(v, 2)] as const;
    const attended = () => attention(body, config, read, tileMask(body, config, near));
    return { start, end, queries, read, attended };
  };

  const gradient: GradientRule = (outer, node, [grad], wanted) => {
    const [dq, dk, dv] = loop(
      outer,
      { rounds, carried: [q, k, v].map((x) => none(outer, x)) },
      (body, index, known) => {
        const { start, end, queries, read, attended } = blockOf(body, index);
        const [ownQ, ownK, ownV] = pullback(body, attended(), queries(grad!, 2), read) as [Value, Value, Value];
        /** Keys of earlier blocks already have gradients from them. */
        const added = (sum: Value, own: Value) => {
          const before = ops.add(body, sum, ops.slice(body, own, null, start, sum.shape[2]!, 2));
          return joined(body, before, ops.slice(body, own, start, end, 'block', 2), q);
        };
        return [joined(body, known[0]!, ownQ, q), added(known[1]!, ownK), added(known[2]!, ownV)];
      },
    );
    const grads = new Map([
      [q, dq],
      [k, dk],
      [v, dv],
    ]);
    return readBy(node).map((x, i) => (wanted[i] ? grads.get(x!)! : null));
  };

  return loop(g, { rounds, carried: [none(g, q)], gradient }, (body, index, [known]) => [
    joined(body, known!, blockOf(body, index).attended(), q),
  ])[0]!;
}

/** int64 `[]`: seq ÷ block, rounded up. */
function blockCount(g: Graph, { positions, block }: RowContext): Value {
  const seq = ops.reshape(g, ops.gather(g, ops.shapeOf(g, positions), g.integers(1)), []);
  return ops.quotientUp(g, seq, block);
}

/** `[batch, heads, 0, headDim]` of x's sizes. */
const none = (g: Graph, x: Value): Value => {
  const zero = ops.reshape(g, g.integers(0), []);
  return ops.slice(g, x, null, zero, 0, 2);
};

/** Along seq, up to the final size of `like`. */
const joined = (g: Graph, known: Value, more: Value, like: Value): Value =>
  ops.concat(g, [known, more], 2, like.shape[2]);
