import { expect, test } from 'vitest';
import type { TrainingRow } from '#engine/training-engine';
import { requireFinitePolicy, watchPolicy } from './finite-policy.ts';
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

/** Its log-probabilities are −1, and `after` once weights that are not 0 were trained. Without them, no gradient may arise. */
const moving = (after: number, calls: number[] = []) => ({
  async forwardBackward(rows: readonly TrainingRow[]) {
    const [{ tokens, predictFrom, inputs }] = rows as [TrainingRow];
    const trains = inputs['weights']!.some((weight) => weight !== 0);
    const logprobs = new Float32Array(predictFrom.length).fill(calls.some((length) => length === LENGTH) ? after : -1);
    calls.push(trains ? tokens.length : -tokens.length);
    return [{ loss: 1, metrics: {}, logprobs }];
  },
});
const weighted = { ...row, inputs: { weights: new Float32Array(LENGTH - 31).fill(1) } };

test('how far an update moves the policy is measured on the same tokens before and after it', async () => {
  const calls: number[] = [];
  const session = moving(-1.5, calls);
  const watched = await watchPolicy(session, weighted, crossEntropyLoss);
  const [computed] = await session.forwardBackward([weighted]);
  const move = await watched.moved(computed!.logprobs, 0.1);
  expect(move).toEqual({ divergence: expect.closeTo(Math.exp(-0.5) - 0.5, 6) as number, difference: 0.5 });
  expect(calls).toEqual([-64, LENGTH, 64]); // the first of them without a gradient
});

test('a sample that has its whole context is not computed before the update: the gradient read its log-probabilities', async () => {
  const short = {
    ...weighted,
    parents: Int32Array.of(-1, -1),
    segments: weighted.segments.map((_, i) => (i < 350 ? 0 : 1)),
  };
  const ends = { ...short, sequenceIds: short.sequenceIds.map((_, i) => (i < 320 ? 0 : 1)) };
  const calls: number[] = [];
  const session = moving(-1, calls);
  const watched = await watchPolicy(session, ends, crossEntropyLoss);
  const [computed] = await session.forwardBackward([ends]);
  expect(await watched.moved(computed!.logprobs, 0.1)).toEqual({ divergence: 0, difference: 0 });
  expect(calls).toEqual([LENGTH, 50]);
});
