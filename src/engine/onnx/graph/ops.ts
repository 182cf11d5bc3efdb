// The operations that our models and losses are written in: each adds nodes to a graph and determines the shape of the
// result. Every differentiable one has its rule in autodiff.ts. ONNX opset 18, and ONNX Runtime's com.microsoft domain.
import { invariant } from '#base/invariant';
import {
  broadcastShapes,
  formatShape,
  sameShape,
  type Dim,
  type Dtype,
  type Graph,
  type Shape,
  type Value,
} from './graph.ts';

const one = (values: readonly Value[]): Value => values[0]!;
const axisOf = (axis: number, rank: number): number => (axis < 0 ? axis + rank : axis);

function elementwise(op: string, dtype?: Dtype) {
  return (g: Graph, x: Value): Value => one(g.node(op, [x], [{ dtype: dtype ?? x.dtype, shape: x.shape }]));
}

function binary(op: string, dtype?: Dtype) {
  return (g: Graph, x: Value, y: Value): Value =>
    one(g.node(op, [x, y], [{ dtype: dtype ?? x.dtype, shape: broadcastShapes(x.shape, y.shape) }]));
}

export const add = binary('Add');
export const sub = binary('Sub');
export const mul = binary('Mul');
export const div = binary('Div');
export const minimum = binary('Min');
export const maximum = binary('Max');
export const less = binary('Less', 'bool');
export const neg = elementwise('Neg');
/** No gradient. */
export const abs = elementwise('Abs');
export const exp = elementwise('Exp');
export const log = elementwise('Log');
export const sqrt = elementwise('Sqrt');
const sigmoid = elementwise('Sigmoid');
export const tanh = elementwise('Tanh');
export const isNaN = elementwise('IsNaN', 'bool');
export const not = elementwise('Not', 'bool');

/** Returns the value unchanged; gradients stop here. */
export const stopGradient = elementwise('Identity');

/** x · sigmoid(x) */
export const silu = (g: Graph, x: Value): Value => mul(g, x, sigmoid(g, x));

/**
 * ½ x (1 + tanh u) with u = √(2/π) (x + 0.044715 x³), the tanh approximation of GELU (arXiv:1606.08415). Written as the
 * equivalent x · sigmoid(2u).
 */
export function geluTanh(g: Graph, x: Value): Value {
  const cubic = mul(g, mul(g, mul(g, x, x), x), g.scalar(0.044715));
  return mul(g, x, sigmoid(g, mul(g, add(g, x, cubic), g.scalar(2 * Math.sqrt(2 / Math.PI)))));
}

export function toFloat(g: Graph, x: Value): Value {
  return one(g.node('Cast', [x], [{ dtype: 'float32', shape: x.shape }], { to: 1 }));
}

/** Rounds to the nearest; values that are too large become infinite. No gradient. */
export function toFloat16(g: Graph, x: Value): Value {
  return one(g.node('Cast', [x], [{ dtype: 'float16', shape: x.shape }], { to: 10 }));
}

export function where(g: Graph, condition: Value, x: Value, y: Value): Value {
  const shape = broadcastShapes(condition.shape, broadcastShapes(x.shape, y.shape));
  return one(g.node('Where', [condition, x, y], [{ dtype: x.dtype, shape }]));
}

export interface MatmulOptions {
  transposeA?: boolean;
  transposeB?: boolean;
  /** Multiplies the product. */
  alpha?: number;
}

/** `[..., m, k] · [..., k, n] → [..., m, n]`, batch sizes broadcast; transposing costs no copy. */
export function matmul(g: Graph, a: Value, b: Value, { transposeA, transposeB, alpha }: MatmulOptions = {}): Value {
  const [m, ka] = lastTwo(a.shape, transposeA);
  const [kb, n] = lastTwo(b.shape, transposeB);
  invariant(ka === kb, `matmul ${formatShape(a.shape)} · ${formatShape(b.shape)}: ${ka} ≠ ${kb}`);
  const shape = [...broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2)), m, n];
  const output = { dtype: a.dtype, shape };
  if (!transposeA && !transposeB && alpha === undefined) return one(g.node('MatMul', [a, b], [output]));
  const attributes = { transA: transposeA ? 1 : 0, transB: transposeB ? 1 : 0, alpha: { float: alpha ?? 1 } };
  return one(g.node('FusedMatMul', [a, b], [output], attributes, { domain: 'com.microsoft' }));
}

function lastTwo(shape: Shape, transposed = false): [Dim, Dim] {
  const [a, b] = shape.slice(-2) as [Dim, Dim];
  return transposed ? [b, a] : [a, b];
}

/** `[..., in] · [in, out]` with 8-bit weights in blocks of 32 along `in` (models/quantize.ts). Not differentiable. */
export function matmulBlocks8(
  g: Graph,
  x: Value,
  packed: Value,
  scales: Value,
  inFeatures: number,
  outFeatures: number,
): Value {
  const attributes = { K: inFeatures, N: outFeatures, bits: 8, block_size: 32, accuracy_level: 4 };
  const shape = [...x.shape.slice(0, -1), outFeatures];
  return one(
    g.node('MatMulNBits', [x, packed, scales], [{ dtype: 'float32', shape }], attributes, { domain: 'com.microsoft' }),
  );
}

/** uint8: x / step + zeroPoint, rounded to nearest, ties to even, and clamped to 0 … 255. Not differentiable. */
export function quantize(g: Graph, x: Value, step: number, zeroPoint: number): Value {
  const inputs = [x, g.scalar(step), g.byte(zeroPoint)];
  return one(g.node('QuantizeLinear', inputs, [{ dtype: 'uint8', shape: x.shape }]));
}

/** Float32: (codes − zeroPoints) · scales; codes uint8 `[n, size]`, a scale and a zero point, uint8, per row. Not differentiable. */
export function dequantizeRows(g: Graph, codes: Value, scales: Value, zeroPoints: Value): Value {
  const inputs = [codes, scales, zeroPoints];
  return one(g.node('DequantizeLinear', inputs, [{ dtype: 'float32', shape: codes.shape }], { axis: 0 }));
}

/**
 * `(x − zeroPoint) · codes`, exact in int32, times the scales: x uint8 `[..., in]`, xScales `[..., 1]`, codes `[in, out]`, int8, or
 * uint8 with the same zero point, scales `[out]`. Not differentiable.
 */
export function matmulCodes(g: Graph, x: Value, zeroPoint: number, xScales: Value, codes: Value, scales: Value): Value {
  const shape = [...x.shape.slice(0, -1), codes.shape[1]!];
  const zero = g.byte(zeroPoint);
  const inputs = [x, codes, xScales, scales, zero, ...(codes.dtype === 'uint8' ? [zero] : [])];
  return one(g.node('MatMulIntegerToFloat', inputs, [{ dtype: 'float32', shape }], {}, { domain: 'com.microsoft' }));
}

/** With `keepDims` the reduced axes stay as size 1; without, a Reshape drops them. */
function reduction(op: string) {
  return (g: Graph, x: Value, axes: readonly number[], keepDims = true): Value => {
    const reduced = axes.map((axis) => axisOf(axis, x.shape.length));
    const shape = x.shape.map((d, i) => (reduced.includes(i) ? 1 : d));
    const kept = one(g.node(op, [x, g.integers(...reduced)], [{ dtype: x.dtype, shape }], { keepdims: 1 }));
    return keepDims
      ? kept
      : reshape(
          g,
          kept,
          x.shape.filter((_, i) => !reduced.includes(i)),
        );
  };
}

export const reduceSum = reduction('ReduceSum');
export const reduceMean = reduction('ReduceMean');
/** These three have no gradient. */
export const reduceMax = reduction('ReduceMax');
export const reduceMin = reduction('ReduceMin');
export const reduceLogSumExp = reduction('ReduceLogSumExp');

/** Along the last axis. */
export const softmax = (g: Graph, x: Value): Value =>
  one(g.node('Softmax', [x], [{ dtype: x.dtype, shape: x.shape }], { axis: -1 }));
/** Along the last axis. No gradient. */
export const logSoftmax = (g: Graph, x: Value): Value =>
  one(g.node('LogSoftmax', [x], [{ dtype: x.dtype, shape: x.shape }], { axis: -1 }));

export function transpose(g: Graph, x: Value, perm: readonly number[]): Value {
  return one(g.node('Transpose', [x], [{ dtype: x.dtype, shape: perm.map((i) => x.shape[i]!) }], { perm }));
}

/**
 * To the given sizes. A symbolic size takes its value from the same place in x, or, at most once, from the remaining elements; if
 * neither works, pass the target shape as an int64 value (see shapeOf).
 */
export function reshape(g: Graph, x: Value, shape: Shape, target?: Value): Value {
  return one(g.node('Reshape', [x, target ?? reshapeTarget(g, x.shape, shape)], [{ dtype: x.dtype, shape }]));
}

function reshapeTarget(g: Graph, from: Shape, to: Shape): Value {
  let open = 0;
  const sizes = to.map((dim, i) => {
    if (typeof dim === 'number') return dim;
    if (from[i] === dim) return 0;
    open++;
    return -1;
  });
  invariant(open <= 1, `reshape ${formatShape(from)} → ${formatShape(to)} needs a target value`);
  return g.integers(...sizes);
}

/** Removes `count` leading sizes of 1. No gradient. */
export function dropLeadingOnes(g: Graph, x: Value, count: number): Value {
  invariant(
    x.shape.slice(0, count).every((size) => size === 1),
    `${formatShape(x.shape)} does not start with ${count} ones`,
  );
  const axes = g.integers(...Array.from({ length: count }, (_, axis) => axis));
  return one(g.node('Squeeze', [x, axes], [{ dtype: x.dtype, shape: x.shape.slice(count) }]));
}

/** Inserts sizes of 1 at these places of the result. No gradient. */
export function unsqueeze(g: Graph, x: Value, ...axes: readonly number[]): Value {
  const rest = [...x.shape];
  const shape = Array.from({ length: x.shape.length + axes.length }, (_, i) => (axes.includes(i) ? 1 : rest.shift()!));
  return one(g.node('Unsqueeze', [x, g.integers(...axes)], [{ dtype: x.dtype, shape }]));
}

/** 0 … count − 1; count int64 `[1]`. */
export function range(g: Graph, count: Value, size: Dim): Value {
  const scalar = (x: Value) => reshape(g, x, []);
  const inputs = [g.integers(0), count, g.integers(1)].map(scalar);
  return one(g.node('Range', inputs, [{ dtype: 'int64', shape: [size] }]));
}

/** int64 `[rank]` */
export const shapeOf = (g: Graph, x: Value): Value =>
  one(g.node('Shape', [x], [{ dtype: 'int64', shape: [x.shape.length] }]));

export function zerosLike(g: Graph, x: Value): Value {
  return one(g.node('ConstantOfShape', [shapeOf(g, x)], [{ dtype: 'float32', shape: x.shape }]));
}

/** Broadcasts x to the sizes of `like`. */
export function expandLike(g: Graph, x: Value, like: Value): Value {
  return one(g.node('Expand', [x, shapeOf(g, like)], [{ dtype: x.dtype, shape: like.shape }]));
}

export function concat(g: Graph, parts: readonly Value[], axis: number, size?: Dim): Value {
  const rank = parts[0]!.shape.length;
  const at = axisOf(axis, rank);
  const sizes = parts.map((p) => p.shape[at]!);
  const total =
    size ?? (sizes.every((d) => typeof d === 'number') ? sizes.reduce((a, b) => a + b, 0) : sizes.join('+'));
  const shape = parts[0]!.shape.map((d, i) => (i === at ? total : d));
  return one(g.node('Concat', parts, [{ dtype: parts[0]!.dtype, shape }], { axis: at }));
}

/** `sizes` are numbers, or an int64 value when a size is symbolic. */
export function split(g: Graph, x: Value, axis: number, dims: readonly Dim[], sizes?: Value): readonly Value[] {
  const at = axisOf(axis, x.shape.length);
  const outputs = dims.map((dim) => ({ dtype: x.dtype, shape: x.shape.map((d, i) => (i === at ? dim : d)) }));
  return g.node('Split', [x, sizes ?? g.integers(...(dims as number[]))], outputs, { axis: at });
}

/** A matrix with `count` more columns, filled with `value`. No gradient. */
export function padColumns(g: Graph, x: Value, count: number, value: number): Value {
  if (count === 0) return x;
  const [rows, columns] = x.shape as [Dim, number];
  return one(
    g.node(
      'Pad',
      [x, g.integers(0, 0, 0, count), g.scalar(value)],
      [{ dtype: x.dtype, shape: [rows, columns + count] }],
    ),
  );
}

/** start … end − 1 along an axis, clipped to its size; start (null: 0) and end int64 `[]`. No gradient. */
export function slice(g: Graph, x: Value, start: Value | null, end: Value, size: Dim, axis = 0): Value {
  const from = start ? reshape(g, start, [1]) : g.integers(0);
  const shape = x.shape.map((d, i) => (i === axis ? size : d));
  return one(g.node('Slice', [x, from, reshape(g, end, [1]), g.integers(axis)], [{ dtype: x.dtype, shape }]));
}

/** x ÷ y, rounded up; both int64 `[]` and positive. */
export function quotientUp(g: Graph, x: Value, y: Value): Value {
  const one = reshape(g, g.integers(1), []);
  return div(g, sub(g, add(g, x, y), one), y);
}

/** The first `count` columns of a matrix. No gradient. */
export function firstColumns(g: Graph, x: Value, count: number): Value {
  const shape = [x.shape[0]!, count];
  return one(g.node('Slice', [x, g.integers(0), g.integers(count), g.integers(1)], [{ dtype: x.dtype, shape }]));
}

/** Rows of `data` along axis 0: `[n, ...rest]` at `[...i] → [...i, ...rest]`. */
export function gather(g: Graph, data: Value, indices: Value): Value {
  return one(
    g.node('Gather', [data, indices], [{ dtype: data.dtype, shape: [...indices.shape, ...data.shape.slice(1)] }], {
      axis: 0,
    }),
  );
}

/** The same along another axis, for places int64 `[n]`. No gradient. */
export function gatherAlong(g: Graph, data: Value, places: Value, axis: number): Value {
  const shape = data.shape.map((size, i) => (i === axis ? places.shape[0]! : size));
  return one(g.node('Gather', [data, places], [{ dtype: data.dtype, shape }], { axis }));
}

/** Elements at the places int64 `[n, k]` along the first k axes of `data`: `[n, ...rest]`. No gradient. */
export function gatherPlaces(g: Graph, data: Value, places: Value): Value {
  const [count, axes] = places.shape as [Dim, number];
  const shape = [count, ...data.shape.slice(axes)];
  return one(g.node('GatherND', [data, places], [{ dtype: data.dtype, shape }]));
}

/** `out = base; out[indices[i, j], j] += updates[i, j]`. Serial, so deterministic. */
export function scatterAdd(g: Graph, base: Value, indices: Value, updates: Value): Value {
  const attributes = { axis: 0, reduction: 'add' };
  return one(
    g.node('ScatterElements', [base, indices, updates], [{ dtype: base.dtype, shape: base.shape }], attributes),
  );
}

/** `out = base; out[rows[i]] += updates[i]`; no row may occur twice. No gradient. */
export function addToRows(g: Graph, base: Value, rows: Value, updates: Value): Value {
  const inputs = [base, unsqueeze(g, rows, 1), updates];
  return one(g.node('ScatterND', inputs, [{ dtype: base.dtype, shape: base.shape }], { reduction: 'add' }));
}

/** int64 `[size]`: the places of a vector that are not 0, in order. */
export function nonZero(g: Graph, x: Value, size: Dim): Value {
  return dropLeadingOnes(g, one(g.node('NonZero', [x], [{ dtype: 'int64', shape: [1, size] }])), 1);
}

/** 1 at the `count` largest of each row of a matrix, the first of equal ones; 0 elsewhere. No gradient. */
export function largestOfRows(g: Graph, x: Value, count: number): Value {
  const shape = [x.shape[0]!, count];
  const outputs = [
    { dtype: x.dtype, shape },
    { dtype: 'int64' as const, shape },
  ];
  const indices = g.node('TopK', [x, g.integers(count)], outputs, { axis: -1 })[1]!;
  const ones = one(g.node('Expand', [g.scalar(1), shapeOf(g, indices)], [{ dtype: x.dtype, shape }]));
  const inputs = [zerosLike(g, x), indices, ones];
  return one(g.node('ScatterElements', inputs, [{ dtype: x.dtype, shape: x.shape }], { axis: 1 }));
}

/**
 * Root-mean-square norm over the last axis (arXiv:1910.07467), scaled by `weight` `[size]`. Also returns
 * 1 / rms, `[..., 1]`, which the gradient needs.
 */
export function rmsNorm(g: Graph, x: Value, weight: Value, epsilon: number): Value {
  invariant(
    sameShape(weight.shape, x.shape.slice(-1)),
    `rmsNorm of ${formatShape(x.shape)} by ${formatShape(weight.shape)}`,
  );
  const inverse = [...x.shape.slice(0, -1), 1];
  const outputs = [
    { dtype: x.dtype, shape: x.shape },
    { dtype: x.dtype, shape: inverse },
  ];
  return one(
    g.node('SimplifiedLayerNormalization', [x, weight], outputs, {
      axis: -1,
      epsilon: { float: epsilon },
      stash_type: 1,
    }),
  );
}

/**
 * Rotary position embedding (arXiv:2104.09864), halves rotated as in Llama. x `[batch, heads, seq, headDim]`, positions
 * int64 `[batch, seq]`, cos and sin `[maxPositions, headDim / 2]`.
 */
export function rotary(g: Graph, x: Value, positions: Value, cos: Value, sin: Value): Value {
  return one(
    g.node(
      'RotaryEmbedding',
      [x, positions, cos, sin],
      [{ dtype: x.dtype, shape: x.shape }],
      {},
      { domain: 'com.microsoft' },
    ),
  );
}
