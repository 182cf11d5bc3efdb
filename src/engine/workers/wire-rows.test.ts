import { expect, test } from 'vitest';
import type { TrainingRow } from '../training-engine.ts';
import { splitIntoCalls } from './wire-rows.ts';

const rowOf = (tokens: number): TrainingRow => {
  const numbers = new Int32Array(tokens);
  return {
    ...{ tokens: numbers, positions: numbers, segments: numbers, parents: Int32Array.of(-1) },
    ...{ predictFrom: numbers, targets: numbers, sequenceIds: numbers },
    inputs: { weights: new Float32Array(tokens) },
  };
};
const sizes = (rows: readonly TrainingRow[], rowsAtOnce: number) =>
  splitIntoCalls(rows, rowsAtOnce).map((call) => call.map(({ tokens }) => tokens.length));

test('a call has as many rows as are computed side by side', () => {
  expect(sizes([1, 2, 3, 4, 5].map(rowOf), 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(sizes([1, 2].map(rowOf), 1)).toEqual([[1], [2]]);
  expect(sizes([], 4)).toEqual([]);
});

test('a call has no more rows than fit into half a message; one that does not goes alone', () => {
  // 28 bytes a token, 32 MiB a call: 1.2 million tokens.
  expect(sizes([500_000, 500_000, 500_000, 7].map(rowOf), 8)).toEqual([
    [500_000, 500_000],
    [500_000, 7],
  ]);
  expect(sizes([1_500_000, 1, 2].map(rowOf), 8)).toEqual([[1_500_000], [1, 2]]);
});
