import { expect, test } from 'vitest';
import { meanStaleness, stalenessMetrics, tokenStaleness } from './staleness.ts';

const sequence = (...runs: [length: number, policyStep: number | null][]) => {
  const trained = Uint8Array.from([0, ...runs.flatMap(([length]) => new Array<number>(length).fill(1))]);
  return {
    tokens: new Int32Array(trained.length),
    trained,
    logprobs: new Float32Array(trained.length),
    runs: runs.map(([length, policyStep]) => ({ length, policyStep, reward: null })),
  };
};

test('staleness is counted in steps, over the tokens whose step is known and not later than the start of the job', () => {
  const sequences = [sequence([3, 4], [1, 1]), sequence([2, null], [4, 9])];
  const staleness = meanStaleness(sequences, 4)!;
  expect(staleness).toEqual({ mean: (3 * 0 + 1 * 3) / 4, max: 3 });
  expect(stalenessMetrics(staleness)).toEqual({ staleness_mean: 0.75, staleness_max: 3 });
  expect([...tokenStaleness(sequences, 4)]).toEqual([0, 0, 0, 3, NaN, NaN, NaN, NaN, NaN, NaN]);
});

test('where no step is known, there is none', () => {
  const { runs: _, ...example } = sequence([2, 0]);
  expect(meanStaleness([sequence([2, null]), example], 4)).toBeNull();
  expect(stalenessMetrics(null)).toEqual({});
  expect([...tokenStaleness([example], 4)]).toEqual([NaN, NaN]);
});
