import { expect, test } from 'vitest';
import { entropyWarnings, loopWarnings, STEPS_COMPARED, type LoopStep, type PlannedStep } from './loop-warnings.ts';

const step = (change: Partial<LoopStep>): LoopStep => ({
  reward: 0.5,
  standardError: 0.05,
  equalGroups: 0,
  entropy: 1,
  ...change,
});
const planned = (change: { reward?: number; equal?: number; rows?: number; error?: number | null }): PlannedStep => ({
  rewards: { reward: change.reward ?? 0.5 },
  rewardStandardError: change.error === undefined ? 0.05 : change.error,
  comparedGroups: 8,
  equalGroups: change.equal ?? 0,
  rows: Array.from({ length: change.rows ?? 1 }) as unknown as PlannedStep['rows'],
});
const SIZE = { hiddenSize: 2000 }; // usual rates from 5e-4
const LOW = { rate: 5e-5, ...SIZE };

test('groups without a difference get a warning when they were most of two steps in a row, with the count', () => {
  const warned = [expect.stringMatching(/^In 5 of 8 groups all rewards are equal/)];
  expect(loopWarnings([step({ equalGroups: 0.6 })], planned({ equal: 5 }), null)).toEqual(warned);
  expect(loopWarnings([step({ equalGroups: 0.5 })], planned({ equal: 5 }), null)).toEqual([]);
  expect(loopWarnings([step({ equalGroups: 0.6 })], planned({ equal: 4 }), null)).toEqual([]);
  expect(loopWarnings([step({ equalGroups: null })], planned({ equal: 5 }), null)).toEqual([]);
  expect(loopWarnings([], planned({ equal: 5 }), null)).toEqual([]);
  expect(loopWarnings([step({ equalGroups: 1 })], planned({ equal: 8, rows: 0 }), null)).toEqual([]); // job-warnings.ts says it
});

test('a reward that stays where it is gets a warning after eight steps, if the rate is below the usual range', () => {
  const flat = Array.from({ length: STEPS_COMPARED }, () => step({}));
  const warned = [
    expect.stringMatching(/did not rise over the last 8 steps .* 0\.00005, which is below .*0\.0005 to 0\.0005/),
  ];
  expect(loopWarnings(flat, planned({}), LOW)).toEqual(warned);
  expect(loopWarnings(flat.slice(1), planned({}), LOW)).toEqual([]);
  expect(loopWarnings(flat, planned({}), { rate: 5e-4, ...SIZE })).toEqual([]);
  expect(loopWarnings(flat, planned({}), { rate: 5e-5, hiddenSize: null })).toEqual([]);
  expect(loopWarnings(flat, planned({}), null)).toEqual([]);
  expect(loopWarnings(flat, planned({ error: null }), LOW)).toEqual([]);
});

test('a rise beyond two standard errors is none that stays where it is', () => {
  const rising = (by: number) =>
    Array.from({ length: STEPS_COMPARED }, (_, i) => step({ reward: i < 4 ? 0.3 : 0.3 + by }));
  // Each half has four steps of 0.05: 0.025 each, √2 · 0.025 = 0.0354 for their difference.
  expect(loopWarnings(rising(0.07), planned({ reward: 0.37 }), LOW)).toHaveLength(1);
  expect(loopWarnings(rising(0.072), planned({ reward: 0.372 }), LOW)).toEqual([]);
});

test('where most groups are equal, no rate is blamed', () => {
  const stuck = Array.from({ length: STEPS_COMPARED }, () => step({ reward: 0, equalGroups: 0.9 }));
  expect(loopWarnings(stuck, planned({ reward: 0, equal: 7 }), LOW)).toEqual([
    expect.stringMatching(/^In 7 of 8 groups/),
  ]);
});

test('an entropy that fell threefold while the reward did not rise gets a warning, once', () => {
  const warned = (values: readonly (number | null)[], entropy: number | null, reward = 0.5) =>
    entropyWarnings(
      values.map((each) => step({ entropy: each })),
      step({ entropy, reward }),
    );
  expect(warned([1.2, 1.1, 0.6], 0.39)).toEqual([
    expect.stringMatching(/fell from 1\.2 to 0\.39 nats within 5 steps, and the reward did not rise \(0\.5, 0\.5\)/),
  ]);
  expect(warned([1.2, 1.1, 0.6], 0.41)).toEqual([]);
  expect(warned([1.2, 1.1, 0.39], 0.3)).toEqual([]); // said in the step before
  expect(warned([9, 1, 1, 1, 1, 1], 0.5)).toEqual([]); // long ago
  expect(warned([null, 1.2], 0.3)).toHaveLength(1);
  expect(warned([null, null], 0.3)).toEqual([]);
  expect(warned([1.2], null)).toEqual([]);
  expect(warned([], 0.3)).toEqual([]);
  expect(warned([1.2, 1.1, 0.6], 0.39, 0.64)).toHaveLength(1); // two standard errors of 0.05 each: 0.141
  expect(warned([1.2, 1.1, 0.6], 0.39, 0.65)).toEqual([]);
});

test('a fall that came with a rise is said when the reward falls back', () => {
  const risen = [step({ entropy: 1.2, reward: 0.2 }), step({ entropy: 0.3, reward: 0.9 })];
  expect(entropyWarnings(risen.slice(0, 1), risen[1]!)).toEqual([]);
  expect(entropyWarnings(risen, step({ entropy: 0.2, reward: 0.9 }))).toEqual([]);
  expect(entropyWarnings(risen, step({ entropy: 0.1, reward: 0.2 }))).toHaveLength(1);
});
