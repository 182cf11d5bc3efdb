// The graph that a model runner executes: new tokens of a batch over our own caches. One graph serves prefill (batch 1,
// seq = chunk) and decode (seq 1). Weights are constants, float32 or 8-bit; adapters are inputs, several at once.
//
// Inputs                                             Outputs
//   tokens      int64 [batch, seq]                     logits     [rows, vocab]
//   positions   int64 [batch, seq]                     logsumexp  [rows, 1]
//   rows        int64 [rows], of batch · seq           maxima     [rows, blocks], of LOGIT_BLOCK logits each
//   the caches, see class-attention.ts                 sums       [rows, blocks], log Σ exp of each block
//   the adapters, see grouped-adapters.ts              hidden     [rows, hidden], what the logits are made of
//                                                      new_kv     [2 · layers · batch, kvHeads, seq, headDim]:
//                                                      layer by layer, its keys and then its values, as the cache keeps them
import type { FusedLinear } from '#model-files/block';
import type { DecoderConfig } from '#model-files/decoder-config';
import { EMBEDDING_WEIGHT, HEAD_WEIGHT, routerName } from '#model-files/decoder-parameters';
import type { KVCacheDtype, ServingPrecision } from '../../capabilities.ts';
import { Graph, type StoredTensor, type Value } from '../graph/graph.ts';
import { blockSums } from '../graph/log-sum-exp.ts';
import * as ops from '../graph/ops.ts';
import { softCapped } from './attention.ts';
import { fromCache, toCache } from './cached-values.ts';
import { classAttention } from './class-attention.ts';
import { decoderForward, scaledBy, type Next } from './decoder.ts';
import { multiplyRowsAlone, type ExpertLinear, type ExpertWeights } from './experts.ts';
import { groupedAdapters } from './grouped-adapters.ts';
import { multiplyCodes } from './w8a8.ts';
import {
  expertWeightName,
  fusedBiasName,
  fusedWeightName,
  type ExpertLinearName,
} from '../weights/fused-parameters.ts';
import type { Weights } from '../weights/weights.ts';

/** `weights` are the constants of `servingLayout(config, precision)`. */
export function buildServingGraph(
  config: DecoderConfig,
  weights: Weights,
  precision: ServingPrecision,
  cacheDtype: KVCacheDtype,
): Graph {
  const { hidden, vocab } = config;
  const g = new Graph();
  const tokens = g.input('tokens', 'int64', ['batch', 'seq']);
  const positions = g.input('positions', 'int64', ['batch', 'seq']);
  const rows = g.input('rows', 'int64', ['rows']);
  const adapters = groupedAdapters(g, config);

  const embeddingIsHead = config.tiedEmbeddings && precision === 'float32';
  const constant = (name: string): Value =>
    g.stored(
      name === HEAD_WEIGHT && embeddingIsHead ? secondMapping(weights.get(EMBEDDING_WEIGHT)) : weights.get(name),
    );
  /** `[..., in] → [..., out]` by a weight `[out, in]` */
  const project = (x: Value, name: string, inFeatures: number, outFeatures: number): Value => {
    if (precision === 'float32') return ops.matmul(g, x, constant(name), { transposeB: true });
    if (precision === 'w8a8') return multiplyCodes(g, x, constant(`${name}.codes`), constant(`${name}.scales`));
    return ops.matmulBlocks8(g, x, constant(`${name}.packed`), constant(`${name}.scales`), inFeatures, outFeatures);
  };

  const linear = (layer: number, fused: FusedLinear, x: Value, next: Next): Value => {
    const parts = config.linears[fused];
    const inFeatures = parts[0]!.inFeatures;
    const outFeatures = parts.reduce((sum, p) => sum + p.outFeatures, 0);
    let y = project(x, fusedWeightName(layer, fused), inFeatures, outFeatures);
    if (parts[0]!.bias) y = ops.add(g, y, constant(fusedBiasName(layer, fused)));
    return adapters.linear(layer, fused, x, y, next);
  };

  const experts = (layer: number): ExpertWeights => {
    const stacked = (linear: ExpertLinearName): ExpertLinear => {
      const name = expertWeightName(layer, linear);
      return precision === 'w8a8'
        ? {
            stacked: [constant(`${name}.codes`), constant(`${name}.scales`)],
            multiply: (g, x, [codes, scales]) => multiplyCodes(g, x, codes!, scales!),
          }
        : { stacked: [constant(name)], multiply: multiplyRowsAlone };
    };
    const router = constant(routerName(config.experts!, layer));
    const route = (x: Value): Value => ops.matmul(g, x, router, { transposeB: true });
    return { route, gateUp: stacked('gate_up'), down: stacked('down') };
  };

  const computed: Value[] = [];
  const attendClasses = classAttention(g, config, cacheDtype, positions);
  const attend = (layer: number, q: Value, k: Value, v: Value): Value => {
    const [keys, values] = [toCache(g, k, cacheDtype), toCache(g, v, cacheDtype)];
    computed.push(keys, values);
    return attendClasses(layer, q, fromCache(g, keys), fromCache(g, values));
  };

  const states = decoderForward(g, config, { tokens, positions }, () => ({
    weight: constant,
    linear,
    experts,
    attend,
  }));
  g.output('new_kv', ops.concat(g, computed, 0, 'layersAndBatch'));
  const wanted = ops.gather(g, ops.reshape(g, states, ['tokens', hidden]), rows);
  g.output('hidden', wanted);
  const scaled = scaledBy(g, wanted, config.multipliers.logits);
  const projected = adapters.head(scaled, project(scaled, HEAD_WEIGHT, hidden, vocab));
  const logits = softCapped(g, projected, config.softCaps.logits);
  g.output('logits', logits);
  const { maxima, sums, whole } = blockSums(g, logits);
  g.output('logsumexp', whole);
  g.output('maxima', maxima);
  g.output('sums', sums);
  return g;
}

/**
 * A tied head gets a constant of its own: its product packs it and then releases its pages, while the embedding only reads the rows
 * that it needs. A single constant for both would keep every page of it in addition to the packed copy.
 */
const secondMapping = (embedding: StoredTensor): StoredTensor =>
  'path' in embedding.data ? { ...embedding, name: HEAD_WEIGHT } : embedding;
