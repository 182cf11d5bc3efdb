// 8-bit weights for decoding: symmetric, one float32 scale per 32 inputs of an output, in the layout that ONNX Runtime's
// com.microsoft MatMulNBits reads with bits = 8, block_size = 32 and no zero points (it then uses 128 as zero).
import { invariant } from '#base/invariant';

export const BLOCK_SIZE = 32;
export const ZERO_POINT = 128;

export interface QuantizedWeight {
  /** `[outFeatures, blocks, 32]`, blocks = ceil(inFeatures / 32); a last short block is filled with zeros. */
  readonly packed: Uint8Array;
  /** `[outFeatures, blocks]`, float32; weight ≈ (packed − 128) · scale. */
  readonly scales: Float32Array;
}

/** `weight` is `[outFeatures, inFeatures]`, as Hugging Face stores it. Rounds to nearest, ties up. */
export function quantizeBlocks8(weight: Float32Array, inFeatures: number, outFeatures: number): QuantizedWeight {
  invariant(weight.length === inFeatures * outFeatures, `${weight.length} weights for ${outFeatures} × ${inFeatures}`);
  const blocks = Math.ceil(inFeatures / BLOCK_SIZE);
  const packed = new Uint8Array(outFeatures * blocks * BLOCK_SIZE).fill(ZERO_POINT);
  const scales = new Float32Array(outFeatures * blocks);
  for (let o = 0; o < outFeatures; o++) {
    for (let block = 0; block < blocks; block++) {
      const index = o * blocks + block;
      const count = Math.min(BLOCK_SIZE, inFeatures - block * BLOCK_SIZE);
      scales[index] = quantizeBlock(weight, o * inFeatures + block * BLOCK_SIZE, count, packed, index * BLOCK_SIZE);
    }
  }
  return { packed, scales };
}

/** Writes the codes of one block and returns its scale; a block of zeros has scale 0 and stays at the zero point. */
function quantizeBlock(values: Float32Array, from: number, count: number, packed: Uint8Array, to: number): number {
  let largest = 0;
  for (let i = from; i < from + count; i++) largest = Math.max(largest, Math.abs(values[i]!));
  const scale = Math.fround(largest / 127);
  if (scale === 0) return 0;
  for (let i = 0; i < count; i++) {
    // Not Math.round, which takes four times as long. The clamp is for subnormal scales, which may have been rounded down a lot.
    packed[to + i] = ZERO_POINT + Math.max(-127, Math.min(127, Math.floor(values[from + i]! / scale + 0.5)));
  }
  return scale;
}

/** The slow reference: the matrix that the kernel multiplies by, `[outFeatures, inFeatures]`. */
export function dequantizeBlocks8(
  { packed, scales }: QuantizedWeight,
  inFeatures: number,
  outFeatures: number,
): Float32Array {
  const blocks = Math.ceil(inFeatures / BLOCK_SIZE);
  const weight = new Float32Array(inFeatures * outFeatures);
  for (let o = 0; o < outFeatures; o++) {
    for (let i = 0; i < inFeatures; i++) {
      const index = o * blocks + Math.floor(i / BLOCK_SIZE);
      const code = packed[index * BLOCK_SIZE + (i % BLOCK_SIZE)]!;
      weight[o * inFeatures + i] = (code - ZERO_POINT) * scales[index]!;
    }
  }
  return weight;
}
