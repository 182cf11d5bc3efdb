// The graph that a model runner steps: new tokens of a batch over the caches we own. One graph serves prefill (batch 1,
// seq = chunk) and decode (seq 1). Weights are constants, float32 or 8-bit; adapters are inputs, several at once.
//
// Inputs                                             Outputs
//   tokens      int64 [batch, seq]                     logits     [rows, vocab]
//   positions   int64 [batch, seq]                     logsumexp  [rows, 1]
//   rows        int64 [rows], of batch · seq           hidden     [rows, hidden], what the logits are made of
//   the caches, see class-attention.ts               new_kv     [2 · layers · batch, kvHeads, seq, headDim]:
//   adapted     bool [], any sequence by an adapter               layer by layer, its keys and then its values
//   lora_mask.P [batch, 1, columns.P]                  P = 1, 2, 3: how many projections the linear fuses
//   lora.L.F.a  [1, 1, in, columns.P]                  F = qkv, o, gate_up, down
//   lora.L.F.b  [1, 1, 1, columns.P, Σ out], scaled by alpha / rank
//
// A linear's adapters lie side by side in its columns; the mask leaves a sequence only its own adapter's. A column of
// zeros stands for "no adapter". Projections of one linear have columns of their own: b is zero outside its projection's
// block.
//
// Adapters are multiplied sequence by sequence (their leading sizes of 1 stop ONNX Runtime from making one large matmul of
// it): for weights that are not constant, its matmul sums in another order when the number of rows changes, and a
// sequence's logits must not depend on what else is in the batch (docs/decisions/0001). A batch without adapters skips all
// of it; beside one that has an adapter, a sequence without adds zeros.
import type { FusedLinear } from '#model-files/block';
import type { DecoderConfig } from '#model-files/decoder-config';
import type { ServingPrecision } from '../../capabilities.ts';
import { branch } from '../graph/branch.ts';
import { Graph, type StoredTensor, type Value } from '../graph/graph.ts';
import { logSumExp } from '../graph/log-sum-exp.ts';
import * as ops from '../graph/ops.ts';
import { softCapped } from './attention.ts';
import { classAttention } from './class-attention.ts';
import { decoderForward, scaledBy } from './decoder.ts';
import { multiplyCodes } from './w8a8.ts';
import { fusedBiasName, fusedWeightName } from '../weights/fused-parameters.ts';
import { EMBEDDING, HEAD } from '../weights/weight-layout.ts';
import type { Weights } from '../weights/weights.ts';

/** `weights` are those of `servingLayout(config, precision)`. */
export function buildServingGraph(config: DecoderConfig, weights: Weights, precision: ServingPrecision): Graph {
  const { hidden, vocab } = config;
  const g = new Graph();
  const tokens = g.input('tokens', 'int64', ['batch', 'seq']);
  const positions = g.input('positions', 'int64', ['batch', 'seq']);
  const rows = g.input('rows', 'int64', ['rows']);
  const adapted = g.input('adapted', 'bool', []);
  const loraMasks = [1, 2, 3].map((p) => g.input(`lora_mask.${p}`, 'float32', ['batch', 1, `columns.${p}`]));

  const embeddingIsHead = config.tiedEmbeddings && precision === 'float32';
  const constant = (name: string): Value =>
    g.stored(name === HEAD && embeddingIsHead ? secondMapping(weights.get(EMBEDDING)) : weights.get(name));
  /** `[..., in] → [..., out]` by a weight `[out, in]` */
  const project = (x: Value, name: string, inFeatures: number, outFeatures: number): Value => {
    if (precision === 'float32') return ops.matmul(g, x, constant(name), { transposeB: true });
    if (precision === 'w8a8') return multiplyCodes(g, x, constant(`${name}.codes`), constant(`${name}.scales`));
    return ops.matmulBlocks8(g, x, constant(`${name}.packed`), constant(`${name}.scales`), inFeatures, outFeatures);
  };

  const linear = (layer: number, fused: FusedLinear, x: Value): Value => {
    const parts = config.linears[fused];
    const inFeatures = parts[0]!.inFeatures;
    const outFeatures = parts.reduce((sum, p) => sum + p.outFeatures, 0);
    let y = project(x, fusedWeightName(layer, fused), inFeatures, outFeatures);
    if (parts[0]!.bias) y = ops.add(g, y, constant(fusedBiasName(layer, fused)));
    const columns = `columns.${parts.length}`;
    const a = g.input(`lora.${layer}.${fused}.a`, 'float32', [1, 1, inFeatures, columns]);
    const b = g.input(`lora.${layer}.${fused}.b`, 'float32', [1, 1, 1, columns, outFeatures]);
    const loraMask = loraMasks[parts.length - 1]!;
    const withDelta = (g: Graph): Value => {
      const own = ops.mul(g, ops.matmul(g, x, a), loraMask); // [1, batch, seq, columns]
      const delta = ops.matmul(g, own, b); // [1, 1, batch, seq, out]
      return ops.add(g, y, ops.dropLeadingOnes(g, delta, 2));
    };
    const captured = [x, y, a, b, loraMask];
    return branch(g, { name: `layer.${layer}.${fused}.adapted`, condition: adapted, captured }, withDelta, () => y);
  };

  const computed: Value[] = [];
  const attendClasses = classAttention(g, config, positions);
  const attend = (layer: number, q: Value, k: Value, v: Value): Value => {
    computed.push(k, v);
    return attendClasses(layer, q, k, v);
  };

  const states = decoderForward(g, config, { tokens, positions }, () => ({ weight: constant, linear, attend }));
  g.output('new_kv', ops.concat(g, computed, 0, 'layersAndBatch'));
  const wanted = ops.gather(g, ops.reshape(g, states, ['tokens', hidden]), rows);
  g.output('hidden', wanted);
  const scaled = scaledBy(g, wanted, config.multipliers.logits);
  const projected = project(scaled, HEAD, hidden, vocab);
  const logits = softCapped(g, projected, config.softCaps.logits);
  g.output('logits', logits);
  g.output('logsumexp', logSumExp(g, logits));
  return g;
}

/**
 * A tied head as a constant of its own: its product packs it and then lets its pages go, while of the embedding only the rows that were
 * asked for are read. One constant for both would keep every page of it beside the packed copy.
 */
const secondMapping = (embedding: StoredTensor): StoredTensor =>
  'path' in embedding.data ? { ...embedding, name: HEAD } : embedding;
