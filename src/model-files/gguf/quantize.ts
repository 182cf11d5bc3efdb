// float32 → the blocks that are written: float16, and Q8_0 as made by ggml's quantize_row_q8_0_ref. Types with fewer bits are not
// written: llama-quantize of llama.cpp makes them from these.
import { float32ToBfloat16, float32ToFloat16 } from '../half-precision.ts';

export const WRITTEN_TYPES = ['F32', 'F16', 'BF16', 'Q8_0'] as const;
export type WrittenType = (typeof WRITTEN_TYPES)[number];

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array | Uint16Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** For Q8_0, `values` must be whole blocks of 32. */
export const ENCODERS: Readonly<Record<WrittenType, (values: Float32Array) => Uint8Array>> = {
  F32: bytesOf,
  F16: (values) => bytesOf(float32ToFloat16(values)),
  BF16: (values) => bytesOf(float32ToBfloat16(values)),
  Q8_0: encodeQ8_0,
};

function encodeQ8_0(values: Float32Array): Uint8Array {
  const blocks = values.length / 32;
  const scales = new Float32Array(blocks);
  const bytes = new Uint8Array(blocks * 34);
  for (let block = 0; block < blocks; block++) {
    let largest = 0;
    for (let i = 0; i < 32; i++) largest = Math.max(largest, Math.abs(values[32 * block + i]!));
    scales[block] = largest / 127;
    const inverse = scales[block] === 0 ? 0 : Math.fround(1 / scales[block]!); // from the scale before it is rounded to float16
    for (let i = 0; i < 32; i++) bytes[34 * block + 2 + i] = roundAway(Math.fround(values[32 * block + i]! * inverse));
  }
  const halves = bytesOf(float32ToFloat16(scales));
  for (let block = 0; block < blocks; block++) bytes.set(halves.subarray(2 * block, 2 * block + 2), 34 * block);
  return bytes;
}

/** C's roundf: halves away from zero. */
const roundAway = (value: number): number => Math.sign(value) * Math.floor(Math.abs(value) + 0.5);
