// A table from pairs of small numbers to a number: the merges of a BPE model, the branches of a trie. Half a million entries take a few
// megabytes, and a look-up a few nanoseconds.

export interface PairTable {
  /** -1: there is none. */
  readonly get: (first: number, second: number) => number;
  readonly set: (first: number, second: number, value: number) => void;
}

/** `most`: how many entries it will have. */
export function createPairTable(most: number): PairTable {
  let size = 16;
  while (size < most * 2) size *= 2;
  const mask = size - 1;
  const [firsts, seconds, values] = [new Int32Array(size), new Int32Array(size), new Int32Array(size).fill(-1)];

  function placeOf(first: number, second: number): number {
    let place = (Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b)) >>> 0;
    place = (place ^ (place >>> 15)) & mask;
    while (values[place] !== -1 && (firsts[place] !== first || seconds[place] !== second)) place = (place + 1) & mask;
    return place;
  }

  return {
    get: (first, second) => values[placeOf(first, second)]!,
    set(first, second, value) {
      const place = placeOf(first, second);
      [firsts[place], seconds[place], values[place]] = [first, second, value];
    },
  };
}
