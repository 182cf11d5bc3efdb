import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bfloat16ToFloat32, float16ToFloat32, float32ToBfloat16, float32ToFloat16 } from './half-precision.ts';

/** The definition: sign, exponent and fraction of IEEE binary16, straight from the standard. */
function float16Value(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

const everyHalf = Uint16Array.from({ length: 65536 }, (_, half) => half);
const numbers = fc.float({ noNaN: true, noDefaultInfinity: true });

test('every float16 widens to its exact value', () => {
  expect(Array.from(float16ToFloat32(everyHalf))).toEqual(Array.from(everyHalf, float16Value));
});

test('every bfloat16 widens to the float32 with the same upper bits', () => {
  const bits = new Uint32Array(bfloat16ToFloat32(everyHalf).buffer);
  expect(bits.every((word, half) => word === half * 65536)).toBe(true);
});

test.each([float16ToFloat32, bfloat16ToFloat32])(
  '%o: halves may be the second half of the memory of their values',
  (widen) => {
    const values = new Float32Array(everyHalf.length);
    const halves = new Uint16Array(values.buffer, values.byteLength / 2);
    halves.set(everyHalf);
    expect(widen(halves, values)).toEqual(widen(everyHalf));
  },
);

test.each([
  { name: 'float16', widen: float16ToFloat32, narrow: float32ToFloat16 },
  { name: 'bfloat16', widen: bfloat16ToFloat32, narrow: float32ToBfloat16 },
])('every $name that is a number survives widening and narrowing', ({ widen, narrow }) => {
  const wide = widen(everyHalf);
  const back = narrow(wide);
  const wrong = everyHalf.filter((half) => !Number.isNaN(wide[half]) && back[half] !== half);
  expect(Array.from(wrong)).toEqual([]);
  expect(widen(back).every((value, half) => Number.isNaN(value) === Number.isNaN(wide[half]))).toBe(true);
});

test.each([
  { name: 'float16', widen: float16ToFloat32, narrow: float32ToFloat16, overflow: 65520 },
  { name: 'bfloat16', widen: bfloat16ToFloat32, narrow: float32ToBfloat16, overflow: 2 ** 127 * (2 - 2 ** -8) },
])(
  'narrowing to $name takes the nearest value, and the even one of two equally near',
  ({ widen, narrow, overflow }) => {
    fc.assert(
      fc.property(numbers, (value) => {
        const half = narrow(Float32Array.of(value))[0]!;
        const result = widen(Uint16Array.of(half))[0]!;
        if (Math.abs(value) >= overflow) return !Number.isFinite(result) && Math.sign(result) === Math.sign(value);
        const sign = half & 0x8000;
        const neighbours = [-1, 1].map((step) => (half & 0x7fff) + step).filter((magnitude) => magnitude >= 0);
        return neighbours.every((magnitude) => {
          const neighbour = widen(Uint16Array.of(sign | magnitude))[0]!;
          if (!Number.isFinite(neighbour)) return true;
          const ours = Math.abs(value - result);
          const theirs = Math.abs(value - neighbour);
          return ours < theirs || (ours === theirs && (half & 1) === 0);
        });
      }),
      { numRuns: 5000 },
    );
  },
);

test('ties go to the even neighbour, also among subnormals and at the edge of overflow', () => {
  const narrowed = float32ToFloat16(Float32Array.of(2049, 2051, 2 ** -25, 1.5 * 2 ** -24, 65519, 65520, -0));
  expect(Array.from(narrowed)).toEqual([0x6800, 0x6802, 0x0000, 0x0002, 0x7bff, 0x7c00, 0x8000]);
  expect(Array.from(float32ToBfloat16(Float32Array.of(257, 259, -0)))).toEqual([0x4380, 0x4382, 0x8000]);
});
