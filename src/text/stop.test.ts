import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createStopMatcher } from './stop.ts';

function run(stops: string[], pieces: string[], include = false) {
  const matcher = createStopMatcher(stops, { include });
  let text = '';
  for (const piece of pieces) {
    const result = matcher.push(piece);
    text += result.text;
    if (result.matched !== null) return { text, matched: result.matched };
  }
  return { text: text + matcher.flush(), matched: null };
}

describe('where the text ends', () => {
  test.each([
    { name: 'before the stop string', stops: ['END'], pieces: ['one END two'], text: 'one ', matched: 'END' },
    {
      name: 'before a stop string that is spread over pieces',
      stops: ['END'],
      pieces: ['one E', 'N', 'D two'],
      text: 'one ',
      matched: 'END',
    },
    { name: 'nowhere, if none occurs', stops: ['END'], pieces: ['one E', 'N'], text: 'one EN', matched: null },
    { name: 'nowhere, without stop strings', stops: [], pieces: ['one ', 'two'], text: 'one two', matched: null },
    {
      name: 'at the one that is complete first in the text, not in the list',
      stops: ['two', 'one'],
      pieces: ['one two'],
      text: '',
      matched: 'one',
    },
    {
      name: 'at the first in list order of those that end together',
      stops: ['ne', 'one'],
      pieces: ['one two'],
      text: 'o',
      matched: 'ne',
    },
    {
      name: 'at the stop string that is complete first',
      stops: ['two', 'one'],
      pieces: ['one', ' two'],
      text: '',
      matched: 'one',
    },
    {
      name: 'at a stop string that begins inside a failed one',
      stops: ['aab'],
      pieces: ['a', 'a', 'a', 'b'],
      text: 'a',
      matched: 'aab',
    },
    {
      name: 'never between the halves of an emoji',
      stops: ['🙂'],
      pieces: ['a🙃', 'b🙂'],
      text: 'a🙃b',
      matched: '🙂',
    },
  ])('$name', ({ stops, pieces, text, matched }) => {
    expect(run(stops, pieces)).toEqual({ text, matched });
  });

  test('after the stop string if it is to be included', () => {
    expect(run(['END'], ['one E', 'ND two'], true)).toEqual({ text: 'one END', matched: 'END' });
  });
});

test('only text that could begin a stop string is held back', () => {
  const matcher = createStopMatcher(['</answer>', '\n\n'], { include: false });
  expect(matcher.push('hello')).toEqual({ text: 'hello', matched: null });
  expect(matcher.push(' </ans')).toEqual({ text: ' ', matched: null });
  expect(matcher.push('wers')).toEqual({ text: '</answers', matched: null });
  expect(matcher.push('.\n')).toEqual({ text: '.', matched: null });
  expect(matcher.flush()).toBe('\n');
});

const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 30 });
const stop = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 });

interface Ended {
  readonly text: string;
  readonly matched: string | null;
}

/** As vLLM 0.32 searches (v1/engine/detokenizer.py): after each piece but the first `passed`, for what ends in it. */
function searched(pieces: readonly string[], stops: readonly string[], include: boolean, passed: number): Ended {
  let whole = '';
  for (const [index, piece] of pieces.entries()) {
    whole += piece;
    if (index < passed) continue;
    const ends = stops.map((stop) => {
      const at = whole.indexOf(stop, whole.length - piece.length - stop.length + 1);
      return at < 0 ? Infinity : at + stop.length;
    });
    const end = Math.min(...ends);
    if (end === Infinity) continue;
    const matched = stops[ends.indexOf(end)]!;
    return { text: whole.slice(0, include ? end : end - matched.length), matched };
  }
  return { text: whole, matched: null };
}

test('the text equals that of searching after every piece, and no more than necessary is held back', () => {
  fc.assert(
    fc.property(
      fc.array(letters, { maxLength: 8 }),
      fc.array(stop, { maxLength: 3 }),
      fc.boolean(),
      fc.nat(3),
      (pieces, stops, include, passed) => {
        const expected = searched(pieces, stops, include, passed);
        const held = Math.max(0, ...stops.map((candidate) => candidate.length - 1));
        const matcher = createStopMatcher(stops, { include });
        let [pushed, text] = ['', ''];
        for (const [index, piece] of pieces.entries()) {
          const result = index < passed ? { text: matcher.pass(piece), matched: null } : matcher.push(piece);
          text += result.text;
          pushed += piece;
          if (result.matched !== null) return void expect({ text, matched: result.matched }).toEqual(expected);
          expect(pushed.length - text.length).toBeLessThanOrEqual(held);
        }
        expect({ text: text + matcher.flush(), matched: null }).toEqual(expected);
      },
    ),
    { numRuns: 2000 },
  );
});
