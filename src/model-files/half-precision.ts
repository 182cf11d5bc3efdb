// float32 ↔ float16 and bfloat16, on whole typed arrays. Widening is exact; narrowing rounds to nearest, ties to even,
// as PyTorch and NumPy do. 16-bit floats are stored as bits in a Uint16Array. NaN stays NaN; its payload may change. Halves that are
// widened may be the second half of the memory of their values: each is read before it is overwritten.

/** bfloat16 is the upper half of a float32. `values`, if given, has the length of `halves`. */
export function bfloat16ToFloat32(
  halves: Uint16Array,
  values: Float32Array = new Float32Array(halves.length),
): Float32Array {
  const bits = bitsOf(values);
  for (let i = 0; i < halves.length; i++) bits[i] = halves[i]! << 16;
  return values;
}

/** `values`, if given, has the length of `halves`. */
export function float16ToFloat32(
  halves: Uint16Array,
  values: Float32Array = new Float32Array(halves.length),
): Float32Array {
  const table = (float16Bits ??= buildFloat16Bits());
  const bits = bitsOf(values);
  for (let i = 0; i < halves.length; i++) bits[i] = table[halves[i]!]!;
  return values;
}

export function float32ToBfloat16(values: Float32Array): Uint16Array {
  const bits = bitsOf(values);
  const halves = new Uint16Array(bits.length);
  for (let i = 0; i < bits.length; i++) {
    const word = bits[i]!;
    // A NaN whose payload lies in the lower half would otherwise round to infinity.
    halves[i] = (word & 0x7fffffff) > 0x7f800000 ? (word >>> 16) | 0x40 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  return halves;
}

export function float32ToFloat16(values: Float32Array): Uint16Array {
  const bits = bitsOf(values);
  const halves = new Uint16Array(bits.length);
  for (let i = 0; i < bits.length; i++) halves[i] = roundToFloat16(bits[i]!);
  return halves;
}

function roundToFloat16(word: number): number {
  const sign = (word >>> 16) & 0x8000;
  const magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00; // NaN
  if (magnitude >= 0x47800000) return sign | 0x7c00; // 2^16 and above, infinity
  if (magnitude >= 0x38800000) {
    // Normal in float16 (at least 2^-14): rebias the exponent (127 → 15), round 13 bits off. A carry may reach infinity.
    const rebiased = magnitude - 0x38000000;
    return sign | ((rebiased + 0xfff + ((rebiased >>> 13) & 1)) >>> 13);
  }
  if (magnitude < 0x33000000) return sign; // below 2^-25: half of the smallest subnormal
  // Subnormal in float16: a multiple of 2^-24.
  const shift = 126 - (magnitude >>> 23); // 14 … 24
  const mantissa = (magnitude & 0x7fffff) | 0x800000;
  const kept = mantissa >>> shift;
  const rest = mantissa & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  return sign | (kept + (rest > half || (rest === half && (kept & 1) === 1) ? 1 : 0));
}

let float16Bits: Uint32Array | undefined; // float32 bits of all 65536 float16 values, 256 KB

function buildFloat16Bits(): Uint32Array {
  const values = new Float32Array(65536);
  const bits = bitsOf(values);
  for (let half = 0; half < 65536; half++) {
    const exponent = (half >>> 10) & 0x1f;
    const fraction = half & 0x3ff;
    if (exponent === 0) values[half] = fraction * 2 ** -24;
    else bits[half] = ((exponent === 31 ? 255 : exponent + 112) << 23) | (fraction << 13);
    if (half & 0x8000) bits[half] = bits[half]! | 0x80000000;
  }
  return bits;
}

const bitsOf = (values: Float32Array): Uint32Array => new Uint32Array(values.buffer, values.byteOffset, values.length);
