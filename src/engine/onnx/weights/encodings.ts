// How the numbers of a weight are stored for a graph: unchanged, or as the tensors that a kernel for rounded weights reads.
import type { InitializerData, StoredTensor } from '../graph/graph.ts';
import { BLOCK_SIZE, quantizeBlocks8 } from '../models/quantize.ts';
import { writeCodes, ZERO_POINT } from '../models/w8a8.ts';

/** One of the tensors that represent a weight. */
export type EncodedSpec = Omit<StoredTensor, 'data'>;

export interface Encoding {
  /** Part of a stored file's name: it must change whenever the bytes that `encode` writes change. */
  readonly id: string;
  /** The tensors for the weight `name` of this shape (`[out, in]` for linears). */
  specs(name: string, shape: readonly number[]): readonly EncodedSpec[];
  /** Takes a weight's rows in order and returns what can be stored so far. The result is valid until the next call. */
  encoder(shape: readonly number[]): (rows: WeightRows) => readonly EncodedPart[];
}

/** Some rows of the first axis, row-major. */
export interface WeightRows {
  readonly first: number;
  readonly count: number;
  readonly values: Float32Array;
}

/** A run of elements of one tensor of `specs`, from element `at`. */
export interface EncodedPart {
  readonly tensor: number;
  readonly at: number;
  readonly data: InitializerData;
}

export const FLOAT32: Encoding = {
  id: 'float32',
  specs: (name, shape) => [{ name, dtype: 'float32', shape }],
  encoder:
    () =>
    ({ first, count, values }) => [{ tensor: 0, at: first * (values.length / count), data: values }],
};

/** `name.packed` `[out, blocks, 32]` and `name.scales` `[out · blocks]`, see quantize.ts. */
export const BLOCKS8: Encoding = {
  id: 'blocks8',
  specs(name, [outFeatures, inFeatures]) {
    const blocks = Math.ceil(inFeatures! / BLOCK_SIZE);
    return [
      { name: `${name}.packed`, dtype: 'uint8', shape: [outFeatures!, blocks, BLOCK_SIZE] },
      { name: `${name}.scales`, dtype: 'float32', shape: [outFeatures! * blocks] },
    ];
  },
  encoder([, inFeatures]) {
    const blocks = Math.ceil(inFeatures! / BLOCK_SIZE);
    return ({ first, count, values }) => {
      const { packed, scales } = quantizeBlocks8(values, inFeatures!, count);
      return [
        { tensor: 0, at: first * blocks * BLOCK_SIZE, data: packed },
        { tensor: 1, at: first * blocks, data: scales },
      ];
    };
  },
};

/** `name.codes` `[in, out]` and `name.scales` `[out]`, see w8a8.ts. */
export const OUTPUTS8: Encoding = {
  id: 'outputs8',
  specs: (name, [outFeatures, inFeatures]) => [
    { name: `${name}.codes`, dtype: 'int8', shape: [inFeatures!, outFeatures!] },
    { name: `${name}.scales`, dtype: 'float32', shape: [outFeatures!] },
  ],
  /** An output's codes form a column: they are collected, a byte each, until the last row has come. */
  encoder([outFeatures, inFeatures]) {
    const whole = new Int8Array(inFeatures! * outFeatures!);
    return ({ first, count, values }) => {
      const place = { codes: whole, at: first, width: outFeatures!, zeroPoint: 0 };
      const scales = writeCodes(values, inFeatures!, count, place);
      const done = first + count === outFeatures;
      return [{ tensor: 1, at: first, data: scales }, ...(done ? [{ tensor: 0, at: 0, data: whole }] : [])];
    };
  },
};

/**
 * Of experts `[experts, 1, 1, out, in]`: `name.codes` `[experts, in, out]` and `name.scales` `[experts, out]`, rounded like `OUTPUTS8`
 * but unsigned: signed codes overflow on x86 without VNNI, and ONNX Runtime converts only constants to unsigned.
 */
export const EXPERTS8: Encoding = {
  id: 'experts8',
  specs: (name, [experts, , , outFeatures, inFeatures]) => [
    { name: `${name}.codes`, dtype: 'uint8', shape: [experts!, inFeatures!, outFeatures!] },
    { name: `${name}.scales`, dtype: 'float32', shape: [experts!, outFeatures!] },
  ],
  /** Like `OUTPUTS8`, one expert at a time. */
  encoder([, , , outFeatures, inFeatures]) {
    const size = inFeatures! * outFeatures!;
    const whole = new Uint8Array(size);
    return ({ first, count, values }) => {
      const expert = Math.floor(first / outFeatures!);
      const row = first % outFeatures!;
      const place = { codes: whole, at: row, width: outFeatures!, zeroPoint: ZERO_POINT };
      const scales = writeCodes(values, inFeatures!, count, place);
      const done = row + count === outFeatures;
      return [{ tensor: 1, at: first, data: scales }, ...(done ? [{ tensor: 0, at: expert * size, data: whole }] : [])];
    };
  },
};
