// 8-bit weights for decoding: symmetric, one float32 scale per 32 inputs of an output, in the layout that ONNX Runtime's
// com.microsoft MatMulNBits reads with bits = 8, block_size = 32 and no zero points (it then takes 128 as zero).
import { invariant } from '#base/invariant';

export const BLOCK_SIZE = 32;
const ZERO_POINT = 128;

export interface QuantizedWeight {
  /** `[outFeatures, blocks, 32]`, blocks = ceil(inFeatures / 32); a last short block is filled with zeros. */
  readonly packed: Uint8Array;
  /** `[outFeatures, blocks]`, float32; weight ≈ (packed − 128) · scale. */
  readonly scales: Float32Array;
}

/** `weight` is `[inFeatures, outFeatures]`, as a matmul takes it: y = x · weight. Rounds to nearest, ties up. */
export function quantizeBlocks8(weight: Float32Array, inFeatures: number, outFeatures: number): QuantizedWeight {
  invariant(weight.length === inFeatures * outFeatures, `${weight.length} weights for ${inFeatures} × ${outFeatures}`);
  const blocks = Math.ceil(inFeatures / BLOCK_SIZE);
  const packed = new Uint8Array(outFeatures * blocks * BLOCK_SIZE).fill(ZERO_POINT);
  const scales = new Float32Array(outFeatures * blocks);
  const tile = new Float32Array(TILE_COLUMNS * BLOCK_SIZE); // transposed: a block of one output is contiguous
  for (let block = 0; block < blocks; block++) {
    const rows = Math.min(BLOCK_SIZE, inFeatures - block * BLOCK_SIZE);
    for (let first = 0; first < outFeatures; first += TILE_COLUMNS) {
      const columns = Math.min(TILE_COLUMNS, outFeatures - first);
      for (let row = 0; row < rows; row++) {
        const start = (block * BLOCK_SIZE + row) * outFeatures + first;
        for (let column = 0; column < columns; column++) tile[column * BLOCK_SIZE + row] = weight[start + column]!;
      }
      for (let column = 0; column < columns; column++) {
        const index = (first + column) * blocks + block;
        scales[index] = quantizeBlock(tile, column * BLOCK_SIZE, rows, packed, index * BLOCK_SIZE);
      }
    }
  }
  return { packed, scales };
}

const TILE_COLUMNS = 64; // 8 KB: reading the weights column by column would miss the cache at every step

/** Writes the codes of one block and returns its scale; a block of zeros has scale 0 and stays at the zero point. */
function quantizeBlock(values: Float32Array, from: number, count: number, packed: Uint8Array, to: number): number {
  let largest = 0;
  for (let i = from; i < from + count; i++) largest = Math.max(largest, Math.abs(values[i]!));
  const scale = Math.fround(largest / 127);
  if (scale === 0) return 0;
  for (let i = 0; i < count; i++) {
    // The clamp is for subnormal scales, which may have been rounded down a lot.
    packed[to + i] = ZERO_POINT + Math.max(-127, Math.min(127, Math.round(values[from + i]! / scale)));
  }
  return scale;
}

/** The slow twin: what the kernel multiplies by, `[inFeatures, outFeatures]`. */
export function dequantizeBlocks8(
  { packed, scales }: QuantizedWeight,
  inFeatures: number,
  outFeatures: number,
): Float32Array {
  const blocks = Math.ceil(inFeatures / BLOCK_SIZE);
  const weight = new Float32Array(inFeatures * outFeatures);
  for (let i = 0; i < inFeatures; i++) {
    const block = Math.floor(i / BLOCK_SIZE);
    for (let o = 0; o < outFeatures; o++) {
      const code = packed[(o * blocks + block) * BLOCK_SIZE + (i % BLOCK_SIZE)]!;
      weight[i * outFeatures + o] = (code - ZERO_POINT) * scales[o * blocks + block]!;
    }
  }
  return weight;
}
