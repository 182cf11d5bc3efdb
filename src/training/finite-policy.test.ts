import { expect, test } from 'vitest';
import type { TrainingRow } from '#engine/training-engine';
import { requireFinitePolicy } from './finite-policy.ts';
import { crossEntropyLoss } from './losses.ts';

const LENGTH = 400;
const places = Int32Array.from({ length: LENGTH }, (_, i) => i);
const row: TrainingRow = {
  tokens: places,
  positions: places,
  segments: new Int32Array(LENGTH),
  parents: Int32Array.of(-1),
  predictFrom: places.slice(30, -1),
  targets: places.slice(31),
  sequenceIds: new Int32Array(LENGTH - 31),
  inputs: { advantages: Float32Array.from(places.slice(31)) },
};

/** A policy that is finite up to a position. `computed` gets the rows that it computes. */
const finiteUpTo = (position: number, computed: TrainingRow[] = []) => ({
  async forwardBackward(rows: readonly TrainingRow[]) {
    computed.push(...rows);
    return rows.map(({ positions, predictFrom }) => {
      const logprobs = Array.from(predictFrom, (from) => (positions[from]! <= position ? -1 : NaN));
      return { loss: -logprobs.reduce((sum, logprob) => sum + logprob, 0), metrics: {} };
    });
  },
});

test('a policy that is finite at the start of a row but not at its end gets no checkpoint', async () => {
  await requireFinitePolicy(finiteUpTo(LENGTH), row, crossEntropyLoss, 0.1);
  await expect(requireFinitePolicy(finiteUpTo(16), row, crossEntropyLoss, 0.1)).rejects.toMatchObject({
    code: 'engine_failed',
  });
});

test('the check computes the last tokens of the row, with their positions, targets and inputs', async () => {
  const computed: TrainingRow[] = [];
  await requireFinitePolicy(finiteUpTo(LENGTH, computed), row, crossEntropyLoss, 0.1);
  const [end] = computed;
  expect(computed).toHaveLength(1);
  expect(end!.tokens).toEqual(places.slice(-65, -1));
  expect(end!.positions).toEqual(places.slice(-65, -1));
  expect(Array.from(end!.predictFrom, (from) => end!.tokens[from]! + 1)).toEqual([...end!.targets]);
  expect(end!.targets.at(-1)).toBe(LENGTH - 1);
  expect([...end!.inputs['advantages']!]).toEqual([...end!.targets]);
});
