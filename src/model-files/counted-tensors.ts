// Tensors that are written one after the other, with a count of the numbers written.

/** This many numbers of the total were read and prepared for writing. */
export type OnNumbers = (done: number, of: number) => void;

interface Tensor {
  readonly shape: readonly number[];
  readonly data: () => Promise<Float32Array>;
}

export function counted<T extends Tensor>(tensors: readonly T[], onNumbers: OnNumbers = () => {}): T[] {
  const of = tensors.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  let done = 0;
  return tensors.map((tensor) => ({
    ...tensor,
    async data() {
      const data = await tensor.data();
      onNumbers((done += data.length), of);
      return data;
    },
  }));
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);
