// The types of tensors in GGUF files, by their numbers in ggml.h: values per block, bytes per block, and how to read them. Unsupported
// types still have a name for the error message.
import { bfloat16ToFloat32, float16ToFloat32 } from '../half-precision.ts';
import {
  decodeQ4_0,
  decodeQ4_1,
  decodeQ4_K,
  decodeQ5_0,
  decodeQ5_1,
  decodeQ5_K,
  decodeQ6_K,
  decodeQ8_0,
  type DecodeBlocks,
} from './dequantize.ts';

export interface GgmlType {
  readonly name: string;
  readonly blockValues: number;
  readonly blockBytes: number;
  readonly decode: DecodeBlocks;
}

const halfWords = (bytes: Uint8Array): Uint16Array => new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);

const READ: Readonly<Record<number, GgmlType>> = {
  0: type('F32', 1, 4, (bytes, values) => new Uint8Array(values.buffer).set(bytes)),
  1: type('F16', 1, 2, (bytes, values) => void float16ToFloat32(halfWords(bytes), values)),
  2: type('Q4_0', 32, 18, decodeQ4_0),
  3: type('Q4_1', 32, 20, decodeQ4_1),
  6: type('Q5_0', 32, 22, decodeQ5_0),
  7: type('Q5_1', 32, 24, decodeQ5_1),
  8: type('Q8_0', 32, 34, decodeQ8_0),
  12: type('Q4_K', 256, 144, decodeQ4_K),
  13: type('Q5_K', 256, 176, decodeQ5_K),
  14: type('Q6_K', 256, 210, decodeQ6_K),
  30: type('BF16', 1, 2, (bytes, values) => void bfloat16ToFloat32(halfWords(bytes), values)),
};

const NOT_READ: Readonly<Record<number, string>> = {
  ...{ 9: 'Q8_1', 10: 'Q2_K', 11: 'Q3_K', 15: 'Q8_K', 16: 'IQ2_XXS', 17: 'IQ2_XS', 18: 'IQ3_XXS', 19: 'IQ1_S' },
  ...{ 20: 'IQ4_NL', 21: 'IQ3_S', 22: 'IQ2_S', 23: 'IQ4_XS', 24: 'I8', 25: 'I16', 26: 'I32', 27: 'I64', 28: 'F64' },
  ...{ 29: 'IQ1_M', 34: 'TQ1_0', 35: 'TQ2_0', 39: 'MXFP4', 40: 'NVFP4', 41: 'Q1_0' },
};

function type(name: string, blockValues: number, blockBytes: number, decode: DecodeBlocks): GgmlType {
  return { name, blockValues, blockBytes, decode };
}

/** Null: unsupported. */
export const ggmlType = (number: number): GgmlType | null => READ[number] ?? null;

export const ggmlTypeName = (number: number): string => READ[number]?.name ?? NOT_READ[number] ?? `${number} (unknown)`;

/** As file names spell it. */
export function ggmlTypeNumber(name: string): number {
  return Number(Object.keys(READ).find((number) => READ[Number(number)]!.name === name));
}

export const READABLE_TYPES: readonly string[] = Object.values(READ).map(({ name }) => name);
