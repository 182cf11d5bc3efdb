// Reverse-mode differentiation over the nodes of a graph: the gradient is more nodes in the same graph. Knows the rule of
// each op and nothing about models. Checked against finite differences, op by op and through whole decoders.
import { invariant } from '#base/invariant';
import { readBy, sameShape, type Graph, type GradientRule, type Node, type Value } from './graph.ts';
import * as ops from './ops.ts';

/** ∂loss/∂x for each x of `wrt`; loss is a scalar (`[]` or all sizes 1). */
export function gradients(g: Graph, loss: Value, wrt: readonly Value[]): Value[] {
  const seed = g.initializer(`${loss.name}_seed`, Float32Array.of(1), loss.shape as number[]);
  return pullback(g, loss, seed, wrt);
}

/** Σ dy ⊙ ∂y/∂x for each x of `wrt`, as nodes of this graph; x may belong to an outer graph. `dy` has y's shape. */
export function pullback(g: Graph, y: Value, dy: Value, wrt: readonly Value[]): Value[] {
  const active = new Set(wrt);
  for (const node of g.nodes) {
    if (isIdentity(node)) continue; // stopGradient
    if (readBy(node).some((x) => x && active.has(x))) {
      for (const output of node.outputs) if (output.dtype === 'float32') active.add(output);
    }
  }
  const grads = new Map<Value, Value>([[y, dy]]);
  for (const node of [...g.nodes].reverse()) {
    const outputGrads = node.outputs.map((output) => grads.get(output) ?? null);
    if (isIdentity(node) || outputGrads.every((x) => x === null)) continue;
    const read = readBy(node);
    const wanted = read.map((x) => x !== null && active.has(x));
    if (!wanted.includes(true)) continue;
    const rule = node.gradient ?? RULES[node.op];
    invariant(rule, `no gradient rule for ${node.op}`);
    rule(g, node, outputGrads, wanted).forEach((grad, i) => {
      const x = read[i];
      if (!x || !grad || !wanted[i]) return;
      const known = grads.get(x);
      grads.set(x, known ? ops.add(g, known, grad) : grad);
    });
  }
  return wrt.map((x) => grads.get(x) ?? ops.zerosLike(g, x));
}

const isIdentity = (node: Node): boolean => node.op === 'Identity';

/** Sums a gradient over the axes along which an input of shape `to` was broadcast. */
function unbroadcast(g: Graph, grad: Value, x: Value): Value {
  const to = x.shape;
  if (sameShape(grad.shape, to)) return grad;
  const lead = grad.shape.length - to.length;
  const axes = grad.shape.flatMap((dim, i) => (i < lead || (to[i - lead] === 1 && dim !== 1) ? [i] : []));
  const summed = axes.length > 0 ? ops.reduceSum(g, grad, axes, true) : grad;
  return lead > 0 ? ops.reshape(g, summed, to, ops.shapeOf(g, x)) : summed;
}

/** A rule for ops with one output and two broadcasting inputs. */
function binaryRule(dx: (g: Graph, grad: Value, x: Value, y: Value) => Value, dy: typeof dx): GradientRule {
  return (g, { inputs }, [grad], [wantX, wantY]) => {
    const [x, y] = inputs as [Value, Value];
    return [wantX ? unbroadcast(g, dx(g, grad!, x, y), x) : null, wantY ? unbroadcast(g, dy(g, grad!, x, y), y) : null];
  };
}

/** A rule for elementwise ops; `y` is the op's own output. */
function unaryRule(dx: (g: Graph, grad: Value, x: Value, y: Value) => Value): GradientRule {
  return (g, { inputs, outputs }, [grad]) => [dx(g, grad!, inputs[0]!, outputs[0]!)];
}

/** If the condition on (x, y) holds, the gradient goes to x, otherwise to y. At a tie it goes to y. */
function selectRule(condition: (g: Graph, x: Value, y: Value) => Value): GradientRule {
  return binaryRule(
    (g, grad, x, y) => ops.mul(g, grad, ops.toFloat(g, condition(g, x, y))),
    (g, grad, x, y) => ops.mul(g, grad, ops.toFloat(g, ops.not(g, condition(g, x, y)))),
  );
}

const RULES: Readonly<Record<string, GradientRule>> = {
  Add: binaryRule(
    (_g, grad) => grad,
    (_g, grad) => grad,
  ),
  Sub: binaryRule(
    (_g, grad) => grad,
    (g, grad) => ops.neg(g, grad),
  ),
  Mul: binaryRule(
    (g, grad, _x, y) => ops.mul(g, grad, y),
    (g, grad, x) => ops.mul(g, grad, x),
  ),
  Div: binaryRule(
    (g, grad, _x, y) => ops.div(g, grad, y),
    (g, grad, x, y) => ops.neg(g, ops.div(g, ops.mul(g, grad, x), ops.mul(g, y, y))),
  ),
  Min: selectRule((g, x, y) => ops.less(g, x, y)),
  Max: selectRule((g, x, y) => ops.less(g, y, x)),
  Neg: unaryRule((g, grad) => ops.neg(g, grad)),
  Exp: unaryRule((g, grad, _x, y) => ops.mul(g, grad, y)),
  Log: unaryRule((g, grad, x) => ops.div(g, grad, x)),
  Sqrt: unaryRule((g, grad, _x, y) => ops.div(g, ops.mul(g, grad, g.scalar(0.5)), y)),
  Sigmoid: unaryRule((g, grad, _x, y) => ops.mul(g, grad, ops.mul(g, y, ops.sub(g, g.scalar(1), y)))),

  Tanh: unaryRule((g, grad, _x, y) => ops.mul(g, grad, ops.sub(g, g.scalar(1), ops.mul(g, y, y)))),

  Where: (g, { inputs }, [grad], [, wantX, wantY]) => {
    const [condition, x, y] = inputs as [Value, Value, Value];
    const zero = g.scalar(0);
    return [
      null,
      wantX ? unbroadcast(g, ops.where(g, condition, grad!, zero), x) : null,
      wantY ? unbroadcast(g, ops.where(g, condition, zero, grad!), y) : null,
    ];
  },

  MatMul: matmulRule,
  FusedMatMul: matmulRule,

  ReduceSum: (g, { inputs }, [grad]) => [ops.expandLike(g, grad!, inputs[0]!), null],
  ReduceMean: (g, { inputs, outputs }, [grad]) => {
    const x = inputs[0]!;
    const spread = ops.expandLike(g, grad!, x);
    // size of x ÷ size of the result, computed when the graph runs
    const count = ops.div(g, elementCount(g, x), elementCount(g, outputs[0]!));
    return [ops.div(g, spread, count), null];
  },

  // dx = y ⊙ (dy − Σ dy ⊙ y)
  Softmax: unaryRule((g, grad, _x, y) => {
    const weighted = ops.mul(g, grad, y);
    return ops.sub(g, weighted, ops.mul(g, y, ops.reduceSum(g, weighted, [-1])));
  }),

  Transpose: (g, { attributes }, [grad]) => {
    const perm = attributes['perm'] as readonly number[];
    return [
      ops.transpose(
        g,
        grad!,
        perm.map((_, i) => perm.indexOf(i)),
      ),
    ];
  },
  Reshape: (g, { inputs }, [grad]) => [ops.reshape(g, grad!, inputs[0]!.shape, ops.shapeOf(g, inputs[0]!)), null],
  Expand: (g, { inputs }, [grad]) => [unbroadcast(g, grad!, inputs[0]!), null],

  Concat: (g, { inputs, attributes }, [grad]) => {
    const parts = inputs as readonly Value[];
    const axis = attributes['axis'] as number;
    const dims = parts.map((p) => p.shape[axis]!);
    invariant(
      dims.every((d) => typeof d === 'number'),
      'gradient of Concat needs numeric sizes',
    );
    return ops.split(g, grad!, axis, dims);
  },
  Split: (g, { outputs, attributes, inputs }, grads) => {
    const axis = attributes['axis'] as number;
    const parts = outputs.map((y, i) => grads[i] ?? ops.zerosLike(g, y));
    return [ops.concat(g, parts, axis, inputs[0]!.shape[axis]), null];
  },

  Gather: (g, { inputs }, [grad]) => {
    const [data, indices] = inputs as [Value, Value];
    invariant(data.shape.length === 2, 'gradient of Gather is for matrices');
    const rows = ops.reshape(g, grad!, ['rows', data.shape[1]!]);
    const column = ops.reshape(g, indices, ['rows', 1]);
    return [ops.scatterAdd(g, ops.zerosLike(g, data), ops.expandLike(g, column, rows), rows), null];
  },

  // With x̂ = x / rms and u = dy ⊙ weight: dx = (u − x̂ · mean(u ⊙ x̂)) / rms; dweight = Σ dy ⊙ x̂
  SimplifiedLayerNormalization: (g, { inputs, outputs }, [grad], [wantX, wantWeight]) => {
    const [x, weight] = inputs as [Value, Value];
    const inverseRms = outputs[1]!;
    const normalized = ops.mul(g, x, inverseRms);
    const scaled = ops.mul(g, grad!, weight);
    const projection = ops.reduceMean(g, ops.mul(g, scaled, normalized), [-1]);
    return [
      wantX ? ops.mul(g, ops.sub(g, scaled, ops.mul(g, normalized, projection)), inverseRms) : null,
      wantWeight ? unbroadcast(g, ops.mul(g, grad!, normalized), weight) : null,
    ];
  },

  // The transpose of a rotation turns the other way.
  RotaryEmbedding: (g, { inputs }, [grad]) => {
    const [, positions, cos, sin] = inputs as [Value, Value, Value, Value];
    return [ops.rotary(g, grad!, positions, cos, ops.neg(g, sin)), null, null, null];
  },
};

/** y = α · op(a) · op(b): da and db are products of the same kind, with the transposes moved. */
function matmulRule(
  g: Graph,
  node: Node,
  [grad]: readonly (Value | null)[],
  [wantA, wantB]: readonly boolean[],
): (Value | null)[] {
  const [a, b] = node.inputs as [Value, Value];
  const flag = (name: string) => (node.attributes[name] ?? 0) === 1;
  const [transA, transB] = [flag('transA'), flag('transB')];
  const scale = (node.attributes['alpha'] as { float: number } | undefined)?.float ?? 1;
  const alpha = scale === 1 ? {} : { alpha: scale };
  let da: Value | null = null;
  let db: Value | null = null;
  if (wantA) {
    da = transA
      ? ops.matmul(g, b, grad!, { transposeA: transB, transposeB: true, ...alpha })
      : ops.matmul(g, grad!, b, { transposeB: !transB, ...alpha });
    da = unbroadcast(g, da, a);
  }
  if (wantB) {
    db = transB
      ? ops.matmul(g, grad!, a, { transposeA: true, transposeB: transA, ...alpha })
      : ops.matmul(g, a, grad!, { transposeA: !transA, ...alpha });
    db = unbroadcast(g, db, b);
  }
  return [da, db];
}

const elementCount = (g: Graph, x: Value): Value =>
  ops.toFloat(g, g.node('Size', [x], [{ dtype: 'int64', shape: [] }])[0]!);
