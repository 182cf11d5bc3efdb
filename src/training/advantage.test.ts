import { expect, test } from 'vitest';
import { average, groupAdvantages, populationDeviation, tokenSignals, turnAdvantages } from './advantage.ts';

test('advantages are rewards minus the mean of the group, over its population deviation', () => {
  const [group] = groupAdvantages([[1, 2, 3, 6]], true);
  const deviation = Math.sqrt((4 + 1 + 0 + 9) / 4);
  expect(group).toEqual([-2, -1, 0, 3].map((difference) => difference / (deviation + 1e-6)));
  expect(groupAdvantages([[1, 2, 3, 6]], false)).toEqual([[-2, -1, 0, 3]]);
});

test('equal rewards, single rollouts and empty groups give no signal, exactly', () => {
  expect(groupAdvantages([[0.1, 0.1, 0.1], [7], []], true)).toEqual([[0, 0, 0], [0], []]);
});

test('rewards at the end of the range of a double are told apart', () => {
  expect(groupAdvantages([[1e308, -1e308]], true)).toEqual([[1, -1]]);
  expect(groupAdvantages([[0, 1.7e308, -1.7e308]], true)[0]!.map(Math.sign)).toEqual([0, 1, -1]);
  const [unscaled] = groupAdvantages([[1.7e308, -1.7e308, -1.7e308]], false);
  expect(unscaled).toEqual([Number.MAX_VALUE, expect.closeTo(-1.13e308, -306), expect.closeTo(-1.13e308, -306)]);
  const signals = tokenSignals(
    unscaled!.map((advantage) => [{ advantage, trainedTokens: 4 }]),
    0,
  );
  expect(average(signals.map(({ advantages }) => Math.abs(advantages[0]!)))).toBeCloseTo(1, 12);
  expect([average([1e308, 1e308]), populationDeviation([1e308, -1e308])]).toEqual([1e308, 1e308]);
});

test('a rollout counts once whatever its length, and |advantage| times weight averages one over the tokens', () => {
  const rollouts = [[{ advantage: 1, trainedTokens: 10 }], [{ advantage: -3, trainedTokens: 30 }]];
  const signals = tokenSignals(rollouts, 0);
  const tokenMean = (value: (i: number) => number) => (10 * value(0) + 30 * value(1)) / 40;
  expect(signals[0]!.weight / signals[1]!.weight).toBeCloseTo(3, 5);
  expect(tokenMean((i) => signals[i]!.weight)).toBeCloseTo(1, 12);
  expect(tokenMean((i) => Math.abs(signals[i]!.advantages[0]!) * signals[i]!.weight)).toBeCloseTo(1, 12);
  expect(signals[1]!.advantages[0]! / signals[0]!.advantages[0]!).toBeCloseTo(-3, 12);
});

test('a balance of one trains on positive advantages only, minus one on negative ones', () => {
  const rollouts = [1, -1].map((advantage) => [{ advantage, trainedTokens: 5 }]);
  expect(tokenSignals(rollouts, 1).map(({ advantages }) => Math.abs(advantages[0]!) > 0)).toEqual([true, false]);
  expect(tokenSignals(rollouts, -1).map(({ advantages }) => Math.abs(advantages[0]!) > 0)).toEqual([false, true]);
  expect(tokenSignals([rollouts[1]!], 1)).toEqual([{ advantages: [0], weight: 1 }]); // nothing left: no division by zero
});

test('parts of a rollout share its weight, and keep the proportion of their advantages', () => {
  const rollouts = [
    [
      { advantage: 1, trainedTokens: 6 },
      { advantage: 3, trainedTokens: 4 },
    ],
    [{ advantage: -1, trainedTokens: 30 }],
  ];
  const [split, whole] = tokenSignals(rollouts, 0);
  expect(split!.weight / whole!.weight).toBeCloseTo(3, 5);
  expect(split!.advantages[1]! / split!.advantages[0]!).toBeCloseTo(3, 12);
  const size =
    (6 * split!.advantages[0]! + 4 * split!.advantages[1]!) * split!.weight -
    30 * whole!.advantages[0]! * whole!.weight;
  expect(size / 40).toBeCloseTo(1, 12);
});

test('the reward of a turn is compared with those of all turns of the group, and changes no other turn', () => {
  expect(turnAdvantages([[null, null], [null]], true)).toEqual([[0, 0], [0]]);
  expect(
    turnAdvantages(
      [
        [1, null],
        [null, 0],
      ],
      false,
    ),
  ).toEqual([
    [0.75, 0],
    [0, -0.25],
  ]);
  expect(turnAdvantages([[1, 1], [1]], true)).toEqual([[0, 0], [0]]); // equal: nothing to learn
  expect(
    turnAdvantages(
      [
        [3, null],
        [null, null],
      ],
      true,
    )[0]![0],
  ).toBeCloseTo(Math.sqrt(3), 5); // in standard deviations
});
