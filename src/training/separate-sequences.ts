// Lays out the sequences of a row one after another, each as its own segment, for trainers that do not support shared prefixes. Common
// prefixes are computed for each sequence; the result equals that of prefix-tree.ts.
import type { RowLayout } from './row-layout.ts';

export function createSeparateSequences(): RowLayout {
  const sequences: Int32Array[] = [];
  let size = 0;
  return {
    get size() {
      return size;
    },
    cost: (tokens) => tokens.length,
    add(tokens) {
      size += tokens.length;
      return sequences.push(tokens) - 1;
    },
    lay() {
      const tokens = new Int32Array(size);
      const positions = new Int32Array(size);
      const segments = new Int32Array(size);
      let next = 0;
      const places = sequences.map((sequence, segment) => {
        tokens.set(sequence, next);
        segments.fill(segment, next, next + sequence.length);
        return sequence.map((_, position) => {
          positions[next] = position;
          return next++;
        });
      });
      return { tokens, positions, segments, parents: new Int32Array(sequences.length).fill(-1), places };
    },
  };
}
