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
      name: 'at the first in list order, not in the text',
      stops: ['two', 'one'],
      pieces: ['one two'],
      text: 'one ',
      matched: 'two',
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

test('the text equals that of searching after every piece, and no more than necessary is held back', () => {
  fc.assert(
    fc.property(
      fc.array(letters, { maxLength: 8 }),
      fc.array(stop, { maxLength: 3 }),
      fc.boolean(),
      (pieces, stops, include) => {
        let whole = '';
        let expected: { text: string; matched: string | null } = { text: pieces.join(''), matched: null };
        for (const piece of pieces) {
          whole += piece;
          const matched = stops.find((candidate) => whole.includes(candidate));
          if (matched === undefined) continue;
          const at = whole.indexOf(matched);
          expected = { text: whole.slice(0, include ? at + matched.length : at), matched };
          break;
        }
        expect(run(stops, pieces, include)).toEqual(expected);

        const matcher = createStopMatcher(stops, { include });
        let [pushed, emitted] = [0, 0];
        for (const piece of pieces) {
          const result = matcher.push(piece);
          if (result.matched !== null) return;
          pushed += piece.length;
          emitted += result.text.length;
          expect(pushed - emitted).toBeLessThanOrEqual(Math.max(0, ...stops.map((candidate) => candidate.length - 1)));
        }
      },
    ),
    { numRuns: 2000 },
  );
});
