// The sequences of a row one after another, each a segment of its own: for trainers that compute no shared beginnings. What several
// have in common is computed for each of them; the result is that of prefix-tree.ts.
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
