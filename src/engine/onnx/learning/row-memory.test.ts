import { expect, test } from 'vitest';
import { SHAPES } from '../../../../bench/shapes.ts';
import { limitsBeside, rowMemoryOf } from '../../training-engine.ts';
import { activationsFor, rowBytes, trainingLimits } from './row-memory.ts';

const config = { ...SHAPES['qwen3-0.6b']!, maxPositions: 32_768 };

test.each([0.5e9, 1e9, 3e9, 6e9])('with %d bytes the longest row is the longest that fits recomputed', (budget) => {
  const { rowLengthMax, memory } = trainingLimits(config, budget);
  expect(rowBytes(config, 'recomputed', rowLengthMax)).toBeLessThanOrEqual(budget);
  expect(rowBytes(config, 'recomputed', rowLengthMax + 1)).toBeGreaterThan(budget);
  // The row size in a refusal equals the plan's.
  expect(rowMemoryOf(rowLengthMax + 1, memory)).toBeCloseTo(rowBytes(config, 'recomputed', rowLengthMax + 1), 0);
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

/** The weights, two moments, the summed gradients, and three gradients of a row: as computed, as read, and the previous ones. */
const COPIES = 7;

test('an adapter needs memory for its optimizer and gradients by its rank, and on the head for those of all tokens', () => {
  const bytesWith = (rank: number, onHead = false) => rowBytes(config, 'recomputed', 256, { rank, onHead });
  const floats = config.layers * (3072 + 2 * 2048 + 3072 + 3 * 4096); // q, k and v, o, and the MLP's: in and out
  const [none, small, large] = [bytesWith(0), bytesWith(8), bytesWith(256)];
  expect(large - none).toBe(32 * (small - none));
  expect(small - none).toBe(COPIES * 4 * 8 * floats);
  expect(bytesWith(8, true) - small).toBe(4 * 8 * (COPIES * (config.hidden + config.vocab) + 4 * config.vocab));
  const budget = rowBytes(config, 'kept', 256) + 1;
  const kept = (rank: number) => activationsFor(config, budget, 256, { rank, onHead: true });
  expect([0, 256].map(kept)).toEqual(['kept', 'recomputed']);
});

test('a large adapter leaves room for shorter rows, and one that takes all of it for none', () => {
  const limits = trainingLimits(config, 6e9);
  const besideOf = (rank: number) => limitsBeside({ rank, onHead: true }, limits);
  const beside = besideOf(64);
  expect(beside.rowLengthMax).toBeLessThan(limits.rowLengthMax);
  const longest = rowBytes(config, 'recomputed', beside.rowLengthMax, { rank: 64, onHead: true });
  expect(longest).toBeLessThanOrEqual(6e9);
  expect(longest / 6e9).toBeGreaterThan(0.99);
  expect(besideOf(1024).rowLengthMax).toBe(0);
});
