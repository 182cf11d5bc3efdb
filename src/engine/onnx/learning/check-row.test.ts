import { expect, test } from 'vitest';
import type { TrainingRow } from '../../training-engine.ts';
import { plainRow } from '../../../../test/support/learning/tiny-decoders.ts';
import { checkRow } from './check-row.ts';

const LIMITS = { rowLengthMax: 8, maxPositions: 8, vocab: 10 };
const good = plainRow([1, 2, 3, 4], {});

test('a row that fits passes, also one that trains nothing', () => {
  checkRow(good, LIMITS);
  const none = new Int32Array(0);
  checkRow({ ...good, predictFrom: none, targets: none, sequenceIds: none }, LIMITS);
});

test.each<[string, Partial<TrainingRow>, string]>([
  [
    'too long',
    plainRow(
      Array.from({ length: 9 }, () => 1),
      {},
    ),
    '9 tokens, at most 8 fit',
  ],
  ['empty', { tokens: new Int32Array(0) }, 'empty'],
  ['a token outside the vocabulary', { tokens: Int32Array.of(1, 2, 10, 4) }, 'token 10 at index 2'],
  ['a negative target', { targets: Int32Array.of(2, -100, 4) }, 'target -100 at index 1'],
  ['a position beyond the table', { positions: Int32Array.of(0, 1, 2, 8) }, 'position 8 at index 3'],
  ['a segment without a parent entry', { segments: Int32Array.of(0, 0, 1, 1) }, 'segment 1 at index 2'],
  ['a place outside the row', { predictFrom: Int32Array.of(0, 1, 4) }, 'place to predict from 4'],
  ['targets without sequences', { sequenceIds: Int32Array.of(0) }, '3 targets, 3 places and 1 sequence ids'],
  ['tokens without positions', { positions: Int32Array.of(0) }, '4 tokens, 1 positions'],
])('%s is refused in words', (_, change, words) => {
  const check = () => checkRow({ ...good, ...change }, LIMITS);
  expect(check).toThrow(words);
  expect(check).toThrow(expect.objectContaining({ code: 'invalid_request' }) as Error);
});
