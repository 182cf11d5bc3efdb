// Attention of one call over sequences whose caches have different capacities. Each capacity class is a block of its own
// (serving/kv-cache.ts) with products of its own; the linear layers around it run over all sequences at once, so that a step
// reads the weights once and not once per class. A sequence's result does not depend on which other classes are in the call.
// A prompt is alone in its call and reads only the filled part of its cache: that part is copied together, which
// costs a few percent of the products over the empty part.
//
// Sequences of a class are neighbours in the batch, in the order of the classes. Inputs, C = 0 … CLASSES_MAX − 1:
//   counts      int64 [CLASSES_MAX], sequences of each class; those after the last that is there have none
//   alike       bool [], sequences of one class with a token each: only the first class is read
//   several     bool [], more than one class: else, where not alike, it is a prompt
//   stored      int64 [], tokens of the prompt that its cache holds
//   mask.C      [batch.C, 1, seq, capacity.C + seq]; of a prompt [1, 1, seq, stored + seq]
//   past_k.C.L  [batch.C, kvHeads, capacity.C, headDim], and past_v.C.L, as the cache keeps them
import type { DecoderConfig } from '#model-files/decoder-config';
import type { KVCacheDtype } from '../../capabilities.ts';
import { branch } from '../graph/branch.ts';
import type { Graph, Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';
import { attention, cachedAttention } from './attention.ts';
import { fromCache } from './cached-values.ts';
import { cacheDistances, layerMasks } from './layer-masks.ts';

/** Per call; each class adds a few nodes per layer to a call with several classes, and inputs to every call. */
export const CLASSES_MAX = 4;

const BATCHES = Array.from({ length: CLASSES_MAX }, (_, c) => `batch.${c}`);

type Attend = (layer: number, q: Value, k: Value, v: Value) => Value;

/** positions: int64 `[batch, seq]`. Returns values of the graph that is passed: see DecoderBinding.attend. */
export function classAttention(g: Graph, config: DecoderConfig, dtype: KVCacheDtype, positions: Value): Attend {
  const { layers, heads, kvHeads, headDim } = config;
  const counts = g.input('counts', 'int64', [CLASSES_MAX]);
  const alike = g.input('alike', 'bool', []);
  const several = g.input('several', 'bool', []);
  const stored = g.input('stored', 'int64', []);
  const seq = ops.gather(g, ops.shapeOf(g, positions), g.integers(1));
  const groupSeq = ops.mul(g, seq, g.integers(heads / kvHeads));
  // All sizes are given: a class may have no sequence, and sizes cannot be inferred from an empty tensor.
  const grouped = ops.concat(g, [g.integers(0, kvHeads), groupSeq, g.integers(headDim)], 0, 4);
  const ungrouped = ops.concat(g, [g.integers(0, heads), seq, g.integers(headDim)], 0, 4);
  let byClass: readonly Value[] | null = null; // only layers with windows need them
  // Only a prompt has several tokens, and it is alone: classes after the first have one per sequence, or none at all.
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
    const capacity = ops.sub(g, ops.gather(g, ops.shapeOf(g, mask), g.integers(3)), seq);
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
    const ofFirst = () => [q, k, v].map((x) => withBatch(x, BATCHES[0]!)) as [Value, Value, Value];
    const first = (inner: Graph) => [attend(inner, 0, ...ofFirst())];
    const prompt = (inner: Graph) => {
      const { masks, past } = classes[0]!;
      const mask = masks[layer]!;
      const behind = (past: Value, own: Value) => {
        const filled = fromCache(inner, ops.slice(inner, past, null, stored, 'stored', 2));
        return ops.concat(inner, [filled, own], 2, mask.shape[3]);
      };
      const [ownQ, ownK, ownV] = ofFirst();
      const { k, v } = past[layer]!;
      return [attention(inner, config, [ownQ, behind(k, ownK), behind(v, ownV)], mask)];
    };
    const notAlike = (inner: Graph) =>
      branch(inner, { name: `layer.${layer}.several`, condition: several }, all, prompt);
    return branch(g, { name: `layer.${layer}.alike`, condition: alike }, first, notAlike)[0]!;
  };
}

/** The same value, when all of the batch is of one class. */
const withBatch = (x: Value, batch: string): Value => ({ ...x, shape: [batch, ...x.shape.slice(1)] });
