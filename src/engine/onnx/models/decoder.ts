// The forward pass of a decoder, written once. Where its weights come from (constants, trained inputs, adapters, 8-bit)
// and what it attends to (a cache, a packed row) is the binding's business: serving-graph.ts and learning/train-graph.ts.
import type { Graph, Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';
import type { DecoderConfig } from './config.ts';
import { layerPrefix, type FusedLinear } from './parameters.ts';
import { ropeTables } from './rope.ts';

export interface DecoderBinding {
  /** A tensor by its Hugging Face name; `linear` and the output head have their own ways. */
  weight(name: string, shape: readonly number[]): Value;
  /** `[..., in] → [..., Σ out]`, bias and adapters included. */
  linear(layer: number, linear: FusedLinear, x: Value): Value;
  /** q `[batch, heads, seq, headDim]`, k and v `[batch, kvHeads, seq, headDim]` → `[batch, heads, seq, headDim]`. */
  attend(layer: number, q: Value, k: Value, v: Value): Value;
}

export interface DecoderInputs {
  /** int64 `[batch, seq]`, or flat: hidden states have its shape. */
  readonly tokens: Value;
  /** int64 `[batch, seq]` */
  readonly positions: Value;
}

/** The hidden states after the last norm, `[...tokens, hidden]`. */
export function decoderForward(g: Graph, config: DecoderConfig, inputs: DecoderInputs, binding: DecoderBinding): Value {
  const { hidden, vocab, normEpsilon } = config;
  const norm = (name: string, x: Value) => ops.rmsNorm(g, x, binding.weight(name, x.shape.slice(-1) as number[]), normEpsilon);
  const heads = headLayout(g, config, inputs);

  let x = ops.gather(g, binding.weight('model.embed_tokens.weight', [vocab, hidden]), inputs.tokens);
  for (let layer = 0; layer < config.layers; layer++) {
    const prefix = layerPrefix(layer);
    const qkv = binding.linear(layer, 'qkv', norm(`${prefix}.input_layernorm.weight`, x));
    const [q, k, v] = heads.separate(qkv);
    const turned = (x: Value, name: string) => heads.rotate(config.queryKeyNorm ? norm(`${prefix}.self_attn.${name}.weight`, x) : x);
    const attended = binding.attend(layer, turned(q, 'q_norm'), turned(k, 'k_norm'), v);
    x = ops.add(g, x, binding.linear(layer, 'o', heads.merge(attended)));

    const gateUp = binding.linear(layer, 'gate_up', norm(`${prefix}.post_attention_layernorm.weight`, x));
    const [gate, up] = ops.split(g, gateUp, -1, [config.intermediate, config.intermediate]) as [Value, Value];
    x = ops.add(g, x, binding.linear(layer, 'down', ops.mul(g, ops.silu(g, gate), up)));
  }
  return norm('model.norm.weight', x);
}

/** Moves between `[...tokens, heads · headDim]` and `[batch, heads, seq, headDim]`, and turns heads by their positions. */
function headLayout(g: Graph, config: DecoderConfig, { tokens, positions }: DecoderInputs) {
  const { headDim, maxPositions, heads, kvHeads } = config;
  const tables = ropeTables(headDim, maxPositions, config.ropeTheta, config.ropeScaling);
  const cos = g.initializer('rope_cos', tables.cos, [maxPositions, headDim / 2]);
  const sin = g.initializer('rope_sin', tables.sin, [maxPositions, headDim / 2]);
  const [batch, seq] = positions.shape as [string, string];
  const counts = [heads, kvHeads, kvHeads];
  const all = heads + 2 * kvHeads;
  const separated = ops.concat(g, [ops.shapeOf(g, positions), g.integers(all, headDim)], 0, 4);
  const merged = ops.concat(g, [ops.shapeOf(g, tokens), g.integers(heads * headDim)], 0, tokens.shape.length + 1);
  const swap = (x: Value): Value => ops.transpose(g, x, [0, 2, 1, 3]);
  return {
    /** q, k and v, which lie side by side: they move together, and are cut where cutting moves nothing. */
    separate: (qkv: Value) =>
      ops.split(g, swap(ops.reshape(g, qkv, [batch, seq, all, headDim], separated)), 1, counts) as [Value, Value, Value],
    rotate: (x: Value) => ops.rotary(g, x, positions, cos, sin),
    merge: (x: Value) => ops.reshape(g, swap(x), [...tokens.shape, heads * headDim], merged),
  };
}
