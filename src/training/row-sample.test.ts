import { expect, test } from 'vitest';
import type { TrainingRow } from '#engine/training-engine';
import { createPackedRow, type Datum } from './packing.ts';
import { sampleRow } from './row-sample.ts';

/** Trained from its third token. */
const datum = (tokens: readonly number[], advantage = 1): Datum => ({
  tokens: Int32Array.from(tokens),
  trained: Uint8Array.from(tokens, (_, i) => Number(i > 1)),
  logprobs: Float32Array.from(tokens, (token, i) => (i > 1 ? -token : NaN)),
  advantage,
  weight: 1,
  origin: { group: 0, trajectory: 0, sequence: 0 },
});

/** What each target is predicted from: the tokens that it attends to, first to last. */
const contextsOf = ({ tokens, positions, segments, parents, predictFrom, targets }: TrainingRow) =>
  Array.from(targets, (target, i) => {
    const path = new Set<number>();
    for (let at = segments[predictFrom[i]!]!; at >= 0; at = parents[at]!) path.add(at);
    const seen = Array.from(tokens.keys()).filter((at) => at <= predictFrom[i]! && path.has(segments[at]!));
    return [...seen.map((at) => [positions[at], tokens[at]]), target].join(' ');
  });

const row = createPackedRow(
  [
    [1, 2, 3, 4],
    [1, 2, 3, 5, 6],
    [1, 2, 7],
    [8, 9, 10],
  ].map((each) => datum(each)),
  'shared',
).row;

test('whole sequences from the end of the row keep their contexts, targets and inputs', () => {
  for (const tokensMax of [3, 6, 8, 100]) {
    const sample = sampleRow(row, tokensMax);
    expect(sample.isWhole).toBe(true);
    expect(sample.row.tokens.length).toBeLessThanOrEqual(tokensMax);
    const all = contextsOf(row);
    expect(contextsOf(sample.row)).toEqual(Array.from(sample.trained, (i) => all[i]!));
    expect([...sample.row.inputs['oldLogprobs']!]).toEqual(Array.from(sample.row.targets, (target) => -target));
  }
  expect(contextsOf(sampleRow(row, 100).row).sort()).toEqual(contextsOf(row).sort());
  expect(contextsOf(sampleRow(row, 3).row)).toHaveLength(1); // the last sequence alone
});

test('of a sequence that does not fit, the last tokens remain, at their positions', () => {
  const long = createPackedRow([datum([1, 2, 3]), datum(Array.from({ length: 100 }, (_, i) => i + 10))], 'shared').row;
  const sample = sampleRow(long, 64);
  expect(sample.isWhole).toBe(false);
  expect([...sample.row.positions]).toEqual(Array.from({ length: 64 }, (_, i) => i + 35)); // 99 is predicted, not read
  expect(sample.row.targets.at(-1)).toBe(109);
  expect(sample.row.targets).toHaveLength(64);
});
