import { expect, test } from 'vitest';
import { findHalfCharacter } from './half-characters.ts';

const inJson = (text: string) => findHalfCharacter(text, JSON.parse(text));

test.each([
  [String.raw`{"a": "\ud83d\ude00", "b": "\\ud83d", "c": "😀", "d": [1, null]}`, null],
  [String.raw`{"a": [{"b": "x"}, {"b": "\ud83d"}]}`, ['a', 1, 'b']],
  [String.raw`["\ude00\ud83d"]`, [0]],
  [String.raw`{"a": {"\uDFFF": 1}}`, ['a', '\udfff']],
  [String.raw`"\\\ud83dx"`, []],
  [String.raw`{"a": "\\ud83d\ude00"}`, ['a']], // a backslash, and the second half alone
])('in %s', (text, loc) => {
  expect(inJson(text)).toEqual(loc);
});
