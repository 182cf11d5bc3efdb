import { expect, test } from 'vitest';
import { bytesOf } from '#training/row-budget';
import { SHAPES } from '../../../../bench/shapes.ts';
import { activationsFor, rowBytes, trainingLimits } from './row-memory.ts';

const config = { ...SHAPES['qwen3-0.6b']!, maxPositions: 32_768 };

test.each([0.5e9, 1e9, 3e9, 6e9])('with %d bytes the longest row is the longest that fits recomputed', (budget) => {
  const { rowLengthMax, memory } = trainingLimits(config, budget);
  expect(rowBytes(config, 'recomputed', rowLengthMax)).toBeLessThanOrEqual(budget);
  expect(rowBytes(config, 'recomputed', rowLengthMax + 1)).toBeGreaterThan(budget);
  // What a refusal says of a row is what the plan says of it.
  expect(bytesOf(rowLengthMax + 1, memory)).toBeCloseTo(rowBytes(config, 'recomputed', rowLengthMax + 1), 0);
});

test('everything is kept of rows where that fits, whatever other rows there are', () => {
  const budget = 6e9;
  const lengths = [64, 512, 1024, 2048, 4096];
  expect(lengths.map((tokens) => activationsFor(config, budget, tokens))).toEqual(
    lengths.map((tokens) => (rowBytes(config, 'kept', tokens) <= budget ? 'kept' : 'recomputed')),
  );
  expect(activationsFor(config, budget, 512)).toBe('kept');
  expect(activationsFor(config, budget, 4096)).toBe('recomputed');
});

test('too little memory for a chunk of logits is room for no row', () => {
  expect(trainingLimits(config, 1e8).rowLengthMax).toBe(0);
});

test('an adapter on the head takes its gradients beside the logits, by its rank', () => {
  const [without, small, large] = [0, 8, 256].map((rank) => rowBytes(config, 'recomputed', 256, rank)) as [
    number,
    number,
    number,
  ];
  expect(small - without).toBe(4 * 4 * 8 * config.vocab);
  expect(large - without).toBe(4 * 4 * 256 * config.vocab);
  const budget = rowBytes(config, 'kept', 256) + 1;
  expect([0, 256].map((rank) => activationsFor(config, budget, 256, rank))).toEqual(['kept', 'recomputed']);
});
