// The limits that two trainers have together: whatever they allow, both have room for.
import { expect, test } from 'vitest';
import { limitsBeside, limitsOfBoth, longestRow, type TrainingLimits } from './training-engine.ts';

const GB = 1e9;
const limits = (contextLength: number, memory: TrainingLimits['memory']): TrainingLimits => ({
  contextLength,
  rowLengthMax: Math.min(contextLength, longestRow(memory)),
  memory,
});
/** Short rows for its context, little for an adapter. */
const long = limits(8_192, {
  budgetBytes: 3 * GB,
  fixedBytes: GB,
  bytesPerToken: 1e6,
  bytesPerPair: 0,
  bytesPerRank: 1e6,
});
/** Longer rows in a shorter context, much for an adapter. */
const wide = limits(4_096, {
  budgetBytes: 40 * GB,
  fixedBytes: 8 * GB,
  bytesPerToken: 1e5,
  bytesPerPair: 500,
  bytesPerRank: 1e9,
});

test.each([
  ['one order', limitsOfBoth(long, wide)],
  ['the other', limitsOfBoth(wide, long)],
])('%s: the shorter context, the shorter rows, the dearer token, pair and rank', (_order, both) => {
  expect(both).toMatchObject({ contextLength: 4_096, rowLengthMax: long.rowLengthMax });
  expect(both.memory).toMatchObject({ bytesPerToken: 1e6, bytesPerPair: 500, bytesPerRank: 1e9 });
  for (const rank of [0, 1, 8]) {
    const adapter = { rank, onHead: false };
    const fits = limitsBeside(adapter, both).rowLengthMax;
    for (const each of [long, wide]) expect(fits).toBeLessThanOrEqual(limitsBeside(adapter, each).rowLengthMax);
  }
});

test('a trainer beside its like changes nothing', () => {
  expect(limitsOfBoth(wide, wide)).toMatchObject(wide);
});
