import { expect, test } from 'vitest';
import type { TrainingRow } from '#engine/training-engine';
import { requireFinitePolicy } from './finite-policy.ts';
import { crossEntropyLoss } from './losses.ts';

const LENGTH = 40;
const places = Int32Array.from({ length: LENGTH }, (_, i) => i);
const row: TrainingRow = {
  tokens: places,
  positions: places,
  segments: new Int32Array(LENGTH),
  parents: Int32Array.of(-1),
  predictFrom: places.slice(30, -1),
  targets: places.slice(31),
  sequenceIds: new Int32Array(LENGTH - 31),
  inputs: {},
};

/** A policy that is finite up to a position. */
const finiteUpTo = (position: number) => ({
  forwardBackward: async (rows: readonly TrainingRow[]) =>
    rows.map(({ positions, predictFrom }) => {
      const logprobs = Array.from(predictFrom, (from) => (positions[from]! <= position ? -1 : NaN));
      return { loss: -logprobs.reduce((sum, logprob) => sum + logprob, 0), metrics: {} };
    }),
});

test('a policy that is finite at the start of a row but not at its end gets no checkpoint', async () => {
  await requireFinitePolicy(finiteUpTo(LENGTH), row, crossEntropyLoss, 0.1);
  await expect(requireFinitePolicy(finiteUpTo(16), row, crossEntropyLoss, 0.1)).rejects.toMatchObject({
    code: 'engine_failed',
  });
});
