// How the numbers of a weight are stored for a graph: as they are, or as the tensors that a kernel for rounded weights reads.
import type { InitializerData, StoredTensor } from '../graph/graph.ts';
import { BLOCK_SIZE, quantizeBlocks8 } from '../models/quantize.ts';
import { quantizeOutputs8 } from '../models/w8a8.ts';

/** One of the tensors that a weight becomes. */
export type EncodedSpec = Omit<StoredTensor, 'data'>;

export interface Encoding {
  /** Part of what names a stored file: a change of the bytes that `encode` makes changes it. */
  readonly id: string;
  /** What the weight `name` of this shape (`[out, in]` for linears) becomes. */
  specs(name: string, shape: readonly number[]): readonly EncodedSpec[];
  /** Their data, in the same order. Borrows `values`. */
  encode(values: Float32Array, shape: readonly number[]): readonly InitializerData[];
}

export const FLOAT32: Encoding = {
  id: 'float32',
  specs: (name, shape) => [{ name, dtype: 'float32', shape }],
  encode: (values) => [values],
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
  encode(values, [outFeatures, inFeatures]) {
    const { packed, scales } = quantizeBlocks8(values, inFeatures!, outFeatures!);
    return [packed, scales];
  },
};

/** `name.codes` `[in, out]` and `name.scales` `[out]`, see w8a8.ts. */
export const OUTPUTS8: Encoding = {
  id: 'outputs8',
  specs: (name, [outFeatures, inFeatures]) => [
    { name: `${name}.codes`, dtype: 'int8', shape: [inFeatures!, outFeatures!] },
    { name: `${name}.scales`, dtype: 'float32', shape: [outFeatures!] },
  ],
  encode(values, [outFeatures, inFeatures]) {
    const { codes, scales } = quantizeOutputs8(values, inFeatures!, outFeatures!);
    return [codes, scales];
  },
};
