// Attention over packed rows, a block of queries at a time: scores are `[heads, block, keys]`, never `[heads, seq, seq]`, and
// they are not kept: the gradient computes them again (as arXiv:2205.14135 does). A block reads only the keys that one of its queries
// attends to (learning/attention-mask.ts): neither later tokens, nor other examples of the row, nor other answers to its prompt.
import type { DecoderConfig } from '#model-files/decoder-config';
import { pullback } from '../graph/autodiff.ts';
import { readBy, type Graph, type GradientRule, type Value } from '../graph/graph.ts';
import { loop } from '../graph/loop.ts';
import * as ops from '../graph/ops.ts';
import { attention, tileMask } from './attention.ts';
import { rowDistances, withinWindow } from './layer-masks.ts';

/** The fields of AttentionBlocks as values. */
export interface RowContext {
  /** int64 `[batch, seq]` */
  readonly positions: Value;
  /** int64 `[]`: queries at a time. */
  readonly block: Value;
  /** int64 `[keys]` */
  readonly keys: Value;
  /** `[pairs]`, additive */
  readonly mask: Value;
  /** int64 `[blocks + 1]` each */
  readonly keyStarts: Value;
  readonly maskStarts: Value;
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
  const { positions } = row;
  const batch = ops.gather(g, ops.shapeOf(g, positions), g.integers(0));

  /** The block's queries, and the keys and values that they see. */
  const blockOf = (body: Graph, index: Value) => {
    const start = ops.mul(body, index, row.block);
    const end = ops.add(body, start, row.block);
    const part = (x: Value, starts: Value, size: string) => {
      const next = ops.add(body, index, ops.reshape(body, body.integers(1), []));
      return ops.slice(body, x, ops.gather(body, starts, index), ops.gather(body, starts, next), size);
    };
    const places = part(row.keys, row.keyStarts, 'seen');
    const queries = (x: Value, axis: number) => ops.slice(body, x, start, end, 'block', axis);
    const keys = (x: Value, axis: number) => ops.gatherAlong(body, x, places, axis);
    const sizes = ops.concat(body, [batch, body.integers(1, -1), ops.shapeOf(body, places)], 0, 4);
    const mask = ops.reshape(body, part(row.mask, row.maskStarts, 'scores'), ['batch', 1, 'block', 'seen'], sizes);
    const distance = () => rowDistances(body, queries(positions, 1), keys(positions, 1));
    const near = window === null ? mask : withinWindow(body, mask, distance(), window);
    const read = [queries(q, 2), keys(k, 2), keys(v, 2)] as const;
    const attended = () => attention(body, config, read, tileMask(body, config, near));
    return { places, queries, read, attended };
  };

  const gradient: GradientRule = (outer, node, [grad], wanted) => {
    const sums = [k, v].map((x) => ops.zerosLike(outer, byToken(outer, x)));
    const [dq, dk, dv] = loop(outer, { rounds, carried: [none(outer, q), ...sums] }, (body, index, known) => {
      const { places, queries, read, attended } = blockOf(body, index);
      const [ownQ, ownK, ownV] = pullback(body, attended(), queries(grad!, 2), read) as [Value, Value, Value];
      const added = (sum: Value, own: Value) => ops.addToRows(body, sum, places, byToken(body, own));
      return [joined(body, known[0]!, ownQ, q), added(known[1]!, ownK), added(known[2]!, ownV)];
    }) as [Value, Value, Value];
    const grads = new Map([
      [q, dq],
      [k, byHead(outer, dk)],
      [v, byHead(outer, dv)],
    ]);
    return readBy(node).map((x, i) => (wanted[i] ? grads.get(x!)! : null));
  };

  return loop(g, { rounds, carried: [none(g, q)], gradient }, (body, index, [known]) => [
    joined(body, known!, blockOf(body, index).attended(), q),
  ])[0]!;
}

/** `[batch, heads, tokens, headDim] → [tokens, batch, heads, headDim]` */
const byToken = (g: Graph, x: Value): Value => ops.transpose(g, x, [2, 0, 1, 3]);
/** The way back. */
const byHead = (g: Graph, x: Value): Value => ops.transpose(g, x, [1, 2, 0, 3]);

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
