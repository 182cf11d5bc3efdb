import { expect, test } from 'vitest';
import { alignTurns, trainedRuns } from './align-turns.ts';

const sequence = (marks: string) => ({ trained: [...marks].map((mark) => mark === 'x') });

test('a run is a sequence of consecutive trained tokens', () => {
  expect(trainedRuns([sequence('..xx.x'), sequence('x..')])).toEqual([
    { sequence: 0, from: 2, to: 4 },
    { sequence: 0, from: 5, to: 6 },
    { sequence: 1, from: 0, to: 1 },
  ]);
  expect(trainedRuns([])).toEqual([]);
});

test('each sampled turn finds its run, and untrained turns find none', () => {
  const runs = trainedRuns([sequence('..xx.x'), sequence('.xxx')]);
  expect(alignTurns([2, 1, 3], runs)).toEqual(runs);
  expect(alignTurns([2, 5, 1, 3], runs)).toEqual([runs[0], null, runs[1], runs[2]]);
  expect(alignTurns([2, 1, 9], runs)).toEqual(runs); // the last was cut off
  expect(alignTurns([null, null, null, null], runs)).toEqual([...runs, null]);
});
