// Attention of one call over sequences whose caches have different capacities. Each capacity class is a block of its own
// (serving/kv-cache.ts) with products of its own; the linear layers around it run over all sequences at once, so that a step
// reads the weights once and not once per class. What a sequence gets does not depend on which classes are beside it.
//
// Sequences of a class are neighbours in the batch, in the order of the classes. Inputs, C = 0 … CLASSES_MAX − 1:
//   counts      int64 [CLASSES_MAX], sequences of each class; those after the last that is there have none
//   several     bool [], more than one class: else only the first is read
//   mask.C      [batch.C, 1, seq, capacity.C + seq]
//   past_k.C.L  [batch.C, kvHeads, capacity.C, headDim], and past_v.C.L, as the cache keeps them
import type { DecoderConfig } from '#model-files/decoder-config';
import type { KVCacheDtype } from '../../capabilities.ts';
import { branch } from '../graph/branch.ts';
import type { Graph, Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';
import { cachedAttention } from './attention.ts';
import { fromCache } from './cached-values.ts';
import { cacheDistances, layerMasks } from './layer-masks.ts';

/** Of one call; each costs a call that has several a few nodes per layer, and every call its inputs. */
export const CLASSES_MAX = 4;

const BATCHES = Array.from({ length: CLASSES_MAX }, (_, c) => `batch.${c}`);

type Attend = (layer: number, q: Value, k: Value, v: Value) => Value;

/** positions: int64 `[batch, seq]`. Values of the function it gives: see DecoderBinding.attend. */
export function classAttention(g: Graph, config: DecoderConfig, dtype: KVCacheDtype, positions: Value): Attend {
  const { layers, heads, kvHeads, headDim } = config;
  const counts = g.input('counts', 'int64', [CLASSES_MAX]);
  const several = g.input('several', 'bool', []);
  const seq = ops.gather(g, ops.shapeOf(g, positions), g.integers(1));
  const groupSeq = ops.mul(g, seq, g.integers(heads / kvHeads));
  // Given whole: a class may have no sequence, and of nothing no size can be inferred.
  const grouped = ops.concat(g, [g.integers(0, kvHeads), groupSeq, g.integers(headDim)], 0, 4);
  const ungrouped = ops.concat(g, [g.integers(0, heads), seq, g.integers(headDim)], 0, 4);
  let byClass: readonly Value[] | null = null; // only windows ask for them
  // Only a prompt has several tokens, and it is alone: classes behind the first have one per sequence, or none at all.
  const positionsOf = (c: number): Value => {
    byClass ??= ops.split(g, positions, 0, BATCHES, counts);
    return c === 0 ? byClass[c]! : ops.firstColumns(g, byClass[c]!, 1);
  };
  const classes = Array.from({ length: CLASSES_MAX }, (_, c) => {
    const mask = g.input(`mask.${c}`, 'float32', [`batch.${c}`, 1, 'seq', `keys.${c}`]);
    const past = Array.from({ length: layers }, (_, layer) => {
      const shape = [`batch.${c}`, kvHeads, `capacity.${c}`, headDim];
      return {
        k: g.input(`past_k.${c}.${layer}`, dtype, shape),
        v: g.input(`past_v.${c}.${layer}`, dtype, shape),
      };
    });
    const capacity = ops.gather(g, ops.shapeOf(g, past[0]!.k), g.integers(2));
    const sizes = ops.concat(g, [capacity, seq], 0, 2);
    const masks = layerMasks(g, config, mask, () => cacheDistances(g, positionsOf(c), capacity, mask));
    return { masks, past, shapes: { sizes, grouped, ungrouped } };
  });

  return (layer, q, k, v) => {
    const attend = (inner: Graph, c: number, ownQ: Value, ownK: Value, ownV: Value): Value => {
      const { masks, past, shapes } = classes[c]!;
      const own = { k: fromCache(inner, past[layer]!.k), v: fromCache(inner, past[layer]!.v) };
      return cachedAttention(inner, config, ownQ, ownK, ownV, own, masks[layer]!, shapes);
    };
    const all = (inner: Graph) => {
      const cut = (x: Value) => ops.split(inner, x, 0, BATCHES, counts);
      const [qs, ks, vs] = [cut(q), cut(k), cut(v)];
      const attended = classes.map((_, c) => attend(inner, c, qs[c]!, ks[c]!, vs[c]!));
      return [ops.concat(inner, attended, 0, 'batch')];
    };
    const first = (inner: Graph) => {
      const [ownQ, ownK, ownV] = [q, k, v].map((x) => withBatch(x, BATCHES[0]!)) as [Value, Value, Value];
      return [attend(inner, 0, ownQ, ownK, ownV)];
    };
    return branch(g, { name: `layer.${layer}.several`, condition: several }, all, first)[0]!;
  };
}

/** The same value: all of the batch is of one class. */
const withBatch = (x: Value, batch: string): Value => ({ ...x, shape: [batch, ...x.shape.slice(1)] });
