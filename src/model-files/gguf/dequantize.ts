// Blocks of ggml → float32. A block is a run of values of one row that share their scales; ggml-types.ts lists the types. Layouts and
// arithmetic are those of ggml's dequantize_row_* (ggml-quants.c): every product and sum here is exact in float64 and rounded once, which
// returns ggml's float32 bit for bit.
import { float16ToFloat32 } from '../half-precision.ts';

/** Fills `values` from the blocks in `bytes`; their lengths must match. */
export type DecodeBlocks = (bytes: Uint8Array, values: Float32Array) => void;

let halves: Float32Array | undefined; // all 65,536, 256 KB
function half(bytes: Uint8Array, at: number): number {
  halves ??= float16ToFloat32(Uint16Array.from({ length: 65536 }, (_, bits) => bits));
  return halves[bytes[at]! | (bytes[at + 1]! << 8)]!;
}

const signed = (byte: number): number => (byte << 24) >> 24;

/** 32 values: scale, then a byte each. */
export const decodeQ8_0: DecodeBlocks = (bytes, values) => {
  for (let at = 0, v = 0; v < values.length; at += 34, v += 32) {
    const d = half(bytes, at);
    for (let i = 0; i < 32; i++) values[v + i] = d * signed(bytes[at + 2 + i]!);
  }
};

/** 32 values: scale, then 16 bytes whose lower halves are the first 16 values; value − 8. */
export const decodeQ4_0: DecodeBlocks = (bytes, values) => {
  for (let at = 0, v = 0; v < values.length; at += 18, v += 32) {
    const d = half(bytes, at);
    for (let i = 0; i < 16; i++) {
      const byte = bytes[at + 2 + i]!;
      values[v + i] = d * ((byte & 15) - 8);
      values[v + 16 + i] = d * ((byte >> 4) - 8);
    }
  }
};

/** Like Q4_0, with a minimum that is added instead of the 8 that is subtracted. */
export const decodeQ4_1: DecodeBlocks = (bytes, values) => {
  for (let at = 0, v = 0; v < values.length; at += 20, v += 32) {
    const [d, m] = [half(bytes, at), half(bytes, at + 2)];
    for (let i = 0; i < 16; i++) {
      const byte = bytes[at + 4 + i]!;
      values[v + i] = d * (byte & 15) + m;
      values[v + 16 + i] = d * (byte >> 4) + m;
    }
  }
};

/** Q4_0 or Q4_1 with a fifth bit per value, in four bytes before the others. */
const decodeFiveBits =
  (hasMinimum: boolean): DecodeBlocks =>
  (bytes, values) => {
    const head = hasMinimum ? 4 : 2;
    for (let at = 0, v = 0; v < values.length; at += head + 20, v += 32) {
      const d = half(bytes, at);
      const m = hasMinimum ? half(bytes, at + 2) : 0;
      for (let i = 0; i < 32; i++) {
        const byte = bytes[at + head + 4 + (i & 15)]!;
        const fifth = (bytes[at + head + (i >> 3)]! >> (i & 7)) & 1;
        const code = (i < 16 ? byte & 15 : byte >> 4) | (fifth << 4);
        values[v + i] = hasMinimum ? d * code + m : d * (code - 16);
      }
    }
  };
export const decodeQ5_0 = decodeFiveBits(false);
export const decodeQ5_1 = decodeFiveBits(true);

/** The scale and the minimum of the eight parts of a K-block, six bits each, in twelve bytes. */
function partScale(bytes: Uint8Array, at: number, part: number): [scale: number, minimum: number] {
  if (part < 4) return [bytes[at + part]! & 63, bytes[at + part + 4]! & 63];
  const [upperScale, upperMinimum, lower] = [bytes[at + part - 4]!, bytes[at + part]!, bytes[at + part + 4]!];
  return [(lower & 15) | ((upperScale >> 6) << 4), (lower >> 4) | ((upperMinimum >> 6) << 4)];
}

/** 256 values in eight parts of 32: scale of scales, scale of minimums, scales, (fifth bits,) then four bits each. */
const decodeParts =
  (hasFifthBits: boolean): DecodeBlocks =>
  (bytes, values) => {
    const fifths = 16;
    const codes = hasFifthBits ? fifths + 32 : fifths;
    for (let at = 0, v = 0; v < values.length; at += codes + 128, v += 256) {
      const [d, dmin] = [half(bytes, at), half(bytes, at + 2)];
      for (let part = 0; part < 8; part++) {
        const [scale, minimum] = partScale(bytes, at + 4, part);
        for (let i = 0; i < 32; i++) {
          const byte = bytes[at + codes + 32 * (part >> 1) + i]!;
          const four = part % 2 === 0 ? byte & 15 : byte >> 4;
          const fifth = hasFifthBits ? (bytes[at + fifths + i]! >> part) & 1 : 0;
          values[v + 32 * part + i] = d * scale * (four | (fifth << 4)) - dmin * minimum;
        }
      }
    }
  };
export const decodeQ4_K = decodeParts(false);
export const decodeQ5_K = decodeParts(true);

/** 256 values: lower four bits in 128 bytes, upper two in 64, a signed scale per 16 values, the scale of scales; value − 32. */
export const decodeQ6_K: DecodeBlocks = (bytes, values) => {
  for (let at = 0, v = 0; v < values.length; at += 210, v += 256) {
    const d = half(bytes, at + 208);
    for (let i = 0; i < 256; i++) {
      const [side, quarter, column] = [i >> 7, (i >> 5) & 3, i & 31];
      const lower = bytes[at + 64 * side + 32 * (quarter & 1) + column]! >> (quarter < 2 ? 0 : 4);
      const upper = bytes[at + 128 + 32 * side + column]! >> (2 * quarter);
      const scale = signed(bytes[at + 192 + (i >> 4)]!);
      values[v + i] = d * scale * (((lower & 15) | ((upper & 3) << 4)) - 32);
    }
  }
};
