// Products in 8 bits on both sides ("w8a8"): weights have one scale per output, activations one per token, computed at run time.
// Integers are summed exactly, so a token's result has the same bits in any batch, chunk or number of threads. serving-graph.ts
// decides which products use this.
//
// Weights are signed and activations unsigned, the pair for which processors have instructions (VNNI, dot product). On x86
// processors without them, the sum of two products would overflow 16 bits: session.ts makes ONNX Runtime use another kernel there.
import { invariant } from '#base/invariant';
import type { Graph, Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';

/** Codes of weights and activations lie in −127 … 127; activations are stored with ZERO_POINT added. */
const LARGEST_CODE = 127;
export const ZERO_POINT = 128;
const CODE_STEP = Math.fround(1 / LARGEST_CODE);
/** Codes are transposed while they are made: those of 32 outputs are adjacent, so a line of the cache is filled while it is there. */
const OUTPUTS_AT_ONCE = 32;

export interface OutputCodes {
  /** `[inFeatures, outFeatures]`, int8: the transpose of Hugging Face's layout. */
  readonly codes: Int8Array;
  /** `[outFeatures]`, float32: weight ≈ code · 127 · scale, because both codes of a product reach to 127. */
  readonly scales: Float32Array;
}

/** Codes `[inFeatures, width]`, of which some outputs are written. */
export interface CodesPlace {
  readonly codes: Int8Array | Uint8Array;
  /** Of the first code that is written. */
  readonly at: number;
  readonly width: number;
  /** Added to each code: ZERO_POINT if they are unsigned. */
  readonly zeroPoint: number;
}

/** `weight` is `[outFeatures, inFeatures]`, as Hugging Face stores it. Rounds to nearest, ties up. */
export function quantizeOutputs8(weight: Float32Array, inFeatures: number, outFeatures: number): OutputCodes {
  const codes = new Int8Array(inFeatures * outFeatures);
  const place = { codes, at: 0, width: outFeatures, zeroPoint: 0 };
  return { codes, scales: writeCodes(weight, inFeatures, outFeatures, place) };
}

/** Writes the codes of these outputs, and returns their scales. */
export function writeCodes(
  weight: Float32Array,
  inFeatures: number,
  outFeatures: number,
  { codes, at, width, zeroPoint }: CodesPlace,
): Float32Array {
  invariant(weight.length === inFeatures * outFeatures, `${weight.length} weights for ${outFeatures} × ${inFeatures}`);
  const rowOf = (o: number) => weight.subarray(o * inFeatures, (o + 1) * inFeatures);
  const steps = Float64Array.from({ length: outFeatures }, (_, o) => largestOf(rowOf(o)) / LARGEST_CODE);
  const divisors = steps.map((step) => step || 1); // zeros have codes 0; of NaN only the scale counts, which is NaN
  for (let first = 0; first < outFeatures; first += OUTPUTS_AT_ONCE) {
    const end = Math.min(first + OUTPUTS_AT_ONCE, outFeatures);
    for (let i = 0; i < inFeatures; i++)
      for (let o = first; o < end; o++)
        // Not Math.round, which takes four times as long.
        codes[at + i * width + o] = Math.floor(weight[o * inFeatures + i]! / divisors[o]! + 0.5) + zeroPoint;
  }
  return Float32Array.from(steps, (step) => step / LARGEST_CODE);
}

/**
 * `[..., in] → [..., out]` by codes `[in, out]` (int8, or uint8 with ZERO_POINT added) and scales `[out]`. x / largest lies in −1 … 1,
 * so one QuantizeLinear with a constant step rounds all tokens. A token of zeros returns zeros: whatever 0 / 0 rounds to is multiplied by 0.
 */
export function multiplyCodes(g: Graph, x: Value, codes: Value, scales: Value): Value {
  const largest = ops.reduceMax(g, ops.abs(g, x), [-1]); // [..., 1]
  const rounded = ops.quantize(g, ops.div(g, x, largest), CODE_STEP, ZERO_POINT);
  return ops.matmulCodes(g, rounded, ZERO_POINT, largest, codes, scales);
}

/** The slow reference for `multiplyCodes`, equal to it in every bit: x `[rows, in]`, result `[rows, out]`. */
export function multiplyCodesSlowly(x: Float32Array, { codes, scales }: OutputCodes, rows: number): Float32Array {
  const [inFeatures, outFeatures] = [x.length / rows, scales.length];
  const result = new Float32Array(rows * outFeatures);
  for (let row = 0; row < rows; row++) {
    const token = x.subarray(row * inFeatures, (row + 1) * inFeatures);
    const largest = largestOf(token);
    if (largest === 0) continue;
    const rounded = Array.from(token, (value) =>
      roundHalfToEven(Math.fround(Math.fround(value / largest) / CODE_STEP)),
    );
    for (let o = 0; o < outFeatures; o++) {
      const sum = rounded.reduce((sum, code, i) => sum + code * codes[i * outFeatures + o]!, 0);
      result[row * outFeatures + o] = Math.fround(Math.fround(sum) * scales[o]!) * largest;
    }
  }
  return result;
}

function largestOf(values: Float32Array): number {
  let largest = 0;
  for (let i = 0; i < values.length; i++) largest = Math.max(largest, Math.abs(values[i]!));
  return largest;
}

function roundHalfToEven(x: number): number {
  const nearest = Math.round(x);
  return Math.abs(x % 1) === 0.5 && nearest % 2 !== 0 ? nearest - 1 : nearest;
}
