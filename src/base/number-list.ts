// A list of numbers in a typed array, which grows by half when it is full: a plain array takes two to six times as much for each number.

type NumberArray = Int32Array | Float64Array;

export interface NumberList<A extends NumberArray> {
  readonly length: number;
  push(value: number): void;
  at(index: number): number;
  /** A view of the numbers so far: it may not show later ones. */
  read(): A;
}

const FIRST_SIZE = 16;

export function createNumberList<A extends NumberArray>(Numbers: new (size: number) => A): NumberList<A> {
  let numbers = new Numbers(0);
  let length = 0;
  return {
    get length() {
      return length;
    },
    push(value) {
      if (length === numbers.length) {
        const before = numbers;
        numbers = new Numbers(Math.max(FIRST_SIZE, Math.ceil(length * 1.5)));
        numbers.set(before);
      }
      numbers[length++] = value;
    },
    at: (index) => numbers[index]!,
    read: () => numbers.subarray(0, length) as A,
  };
}
