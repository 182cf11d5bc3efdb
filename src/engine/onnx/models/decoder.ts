// The forward pass of a decoder, written once. The family decides what a layer consists of (model-files/block.ts); the binding
// decides where its weights come from (constants, trained inputs, adapters, 8-bit) and what it attends to (a cache, a packed row):
// serving-graph.ts and learning/train-graph.ts.
import type { Activation, FusedLinear, Rope } from '#model-files/block';
import type { DecoderConfig } from '#model-files/decoder-config';
import { EMBEDDING_WEIGHT, layerPrefix } from '#model-files/decoder-parameters';
import type { Graph, Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';
import { mixExperts, type ExpertWeights } from './experts.ts';
import { ropeTables } from './rope.ts';

/** Continues from the output of a linear, in the graph that it is given; nothing else reads that output. */
export type Next = (g: Graph, y: Value) => Value;

export interface DecoderBinding {
  /** A tensor by its Hugging Face name, except those of `linear` and the output head. */
  weight(name: string, shape: readonly number[]): Value;
  /** `[..., in] → [..., Σ out]`, bias and adapters included, and what `next` makes of it. */
  linear(layer: number, linear: FusedLinear, x: Value, next: Next): Value;
  /** For a layer with experts. */
  experts(layer: number): ExpertWeights;
  /** q `[batch, heads, seq, headDim]`, k and v `[batch, kvHeads, seq, headDim]` → `[batch, heads, seq, headDim]`. */
  attend(layer: number, q: Value, k: Value, v: Value): Value;
}

export interface DecoderInputs {
  /** int64 `[batch, seq]`, or flat: hidden states have its shape. */
  readonly tokens: Value;
  /** int64 `[batch, seq]` */
  readonly positions: Value;
}

const ACTIVATIONS: Readonly<Record<Activation, (g: Graph, x: Value) => Value>> = {
  silu: ops.silu,
  gelu_tanh: ops.geluTanh,
};

/** Half a layer with its residual stream: `[...tokens, hidden]` → the same, as nodes of the graph that it is given. */
export type ResidualBlock = (g: Graph, x: Value) => Value;

/** What a block adds to the stream, from the normed stream; `next` adds it. */
type Change = (g: Graph, x: Value, next: Next) => Value;

/**
 * The hidden states after the last norm, `[...tokens, hidden]`. `bind` returns the binding for a graph: this one, or one inside
 * it if `place` puts blocks there.
 */
export function decoderForward(
  g: Graph,
  config: DecoderConfig,
  inputs: DecoderInputs,
  bind: (g: Graph) => DecoderBinding,
  place: (x: Value, block: ResidualBlock) => Value = (x, block) => block(g, x),
): Value {
  const { hidden, vocab, intermediate, norms, experts, multipliers } = config;
  const heads = headLayout(g, config, inputs);
  const turn = rotations(g, config, inputs.positions);
  const activate = ACTIVATIONS[config.activation];

  const attention =
    (layer: number): Change =>
    (g, x, next) => {
      const binding = bind(g);
      const norm = normBy(g, config, binding);
      const own = (name: string) => `${layerPrefix(layer)}.self_attn.${name}`;
      const byProjection = norms.queryKey === 'projection';
      const normProjections: Next = (g, qkv) => {
        const [q, k, v] = ops.split(g, qkv, -1, heads.widths) as [Value, Value, Value];
        return ops.concat(g, [norm(own('q_norm'), q, g), norm(own('k_norm'), k, g), v], -1);
      };
      const qkv = binding.linear(layer, 'qkv', x, (g, qkv) =>
        heads.separate(g, byProjection ? normProjections(g, qkv) : qkv),
      );
      const [q, k, v] = heads.split(g, qkv);
      const turned = (x: Value, name: string) => turn(g, layer, norms.queryKey === 'head' ? norm(own(name), x) : x);
      const attended = binding.attend(layer, turned(q, 'q_norm'), turned(k, 'k_norm'), v);
      return binding.linear(layer, 'o', heads.merge(g, attended), next);
    };

  const mlp =
    (layer: number): Change =>
    (g, x, next) => {
      const binding = bind(g);
      const gated = binding.linear(layer, 'gate_up', x, (g, gateUp) => {
        const [gate, up] = ops.split(g, gateUp, -1, [intermediate, intermediate]) as [Value, Value];
        return ops.mul(g, activate(g, gate), up);
      });
      return binding.linear(layer, 'down', gated, next);
    };

  const mixture =
    (layer: number): Change =>
    (g, x, next) => {
      const flat = ops.reshape(g, x, ['tokens', hidden]);
      const mixed = mixExperts(g, experts!, bind(g).experts(layer), activate, flat);
      return next(g, ops.reshape(g, mixed, x.shape, ops.shapeOf(g, x)));
    };

  const residual =
    (layer: number, change: Change, inputNorm: string | null, outputNorm: string | null): ResidualBlock =>
    (g, x) => {
      const norm = normBy(g, config, bind(g));
      const at = (name: string | null, x: Value, inner: Graph) =>
        name === null ? x : norm(`${layerPrefix(layer)}.${name}`, x, inner);
      return change(g, at(inputNorm, x, g), (inner, y) =>
        ops.add(inner, x, scaledBy(inner, at(outputNorm, y, inner), multipliers.residual)),
      );
    };

  let x = ops.gather(g, bind(g).weight(EMBEDDING_WEIGHT, [vocab, hidden]), inputs.tokens);
  x = scaledBy(g, x, multipliers.embedding);
  for (let layer = 0; layer < config.layers; layer++) {
    x = place(x, residual(layer, attention(layer), norms.attentionInput, norms.attentionOutput));
    const change = experts?.layers[layer] ? mixture(layer) : mlp(layer);
    x = place(x, residual(layer, change, norms.mlpInput, norms.mlpOutput));
  }
  return normBy(g, config, bind(g))('model.norm', x);
}

/**
 * Multiplies by a row of factors and not by a scalar: ONNX Runtime merges scalars into adjacent matrix products in some graphs and
 * not in others, and the last bits of a gradient would depend on whether its activations were kept.
 */
export function scaledBy(g: Graph, x: Value, factor: number): Value {
  if (factor === 1) return x;
  const size = x.shape.at(-1) as number;
  return ops.mul(g, x, g.initializer(g.name('factors'), new Float32Array(size).fill(factor), [size]));
}

/** RMS norms over the last axis, by the weight of a module. `inner`: the graph of the norm, if it is inside that of the weight. */
function normBy(g: Graph, { norms, normEpsilon }: DecoderConfig, binding: DecoderBinding) {
  return (module: string, x: Value, inner = g): Value => {
    const weight = binding.weight(`${module}.weight`, x.shape.slice(-1) as number[]);
    return ops.rmsNorm(inner, x, norms.plusOne ? ops.add(g, weight, g.scalar(1)) : weight, normEpsilon);
  };
}

/** Rotates heads by their positions, each layer in its own way. x: `[batch, heads, seq, headDim]` */
function rotations(g: Graph, { attention, headDim, maxPositions }: DecoderConfig, positions: Value) {
  const known = new Map<string, { cos: Value; sin: Value }>();
  const tablesOf = (rope: Rope) => {
    const key = JSON.stringify(rope);
    const made = known.get(key);
    if (made) return made;
    const { cos, sin } = ropeTables(rope, maxPositions);
    const table = (name: string, data: Float32Array) =>
      g.initializer(`rope_${name}.${known.size}`, data, [maxPositions, rope.dim / 2]);
    const tables = { cos: table('cos', cos), sin: table('sin', sin) };
    known.set(key, tables);
    return tables;
  };
  return (g: Graph, layer: number, x: Value): Value => {
    const { rope } = attention[layer]!;
    if (rope === null) return x;
    const { cos, sin } = tablesOf(rope);
    if (rope.dim === headDim) return ops.rotary(g, x, positions, cos, sin);
    const [turning, still] = ops.split(g, x, -1, [rope.dim, headDim - rope.dim]) as [Value, Value];
    return ops.concat(g, [ops.rotary(g, turning, positions, cos, sin), still], -1);
  };
}

/** Moves between `[...tokens, heads · headDim]` and `[batch, heads, seq, headDim]`. */
function headLayout(g: Graph, { heads, kvHeads, headDim }: DecoderConfig, { tokens, positions }: DecoderInputs) {
  const [batch, seq] = positions.shape as [string, string];
  const counts = [heads, kvHeads, kvHeads];
  const all = heads + 2 * kvHeads;
  const separated = ops.concat(g, [ops.shapeOf(g, positions), g.integers(all, headDim)], 0, 4);
  const merged = ops.concat(g, [ops.shapeOf(g, tokens), g.integers(heads * headDim)], 0, tokens.shape.length + 1);
  const swap = (g: Graph, x: Value): Value => ops.transpose(g, x, [0, 2, 1, 3]);
  return {
    /** Widths of q, k and v in their joint tensor. */
    widths: counts.map((count) => count * headDim),
    /** q, k and v, which are adjacent, as the heads of one tensor: they are transposed together, and only then split. */
    separate: (g: Graph, qkv: Value) => swap(g, ops.reshape(g, qkv, [batch, seq, all, headDim], separated)),
    split: (g: Graph, heads: Value) => ops.split(g, heads, 1, counts) as [Value, Value, Value],
    merge: (g: Graph, x: Value) => ops.reshape(g, swap(g, x), [...tokens.shape, heads * headDim], merged),
  };
}
