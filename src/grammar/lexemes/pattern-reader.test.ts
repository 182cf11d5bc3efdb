// Expressions as clients of Python and Rust write them, against JavaScript's own.
import { expect, test } from 'vitest';
import { readPattern, type Node } from './pattern-reader.ts';

/** The sources of its classes, in order. */
function classes(node: Node): (readonly (readonly [number, number])[])[] {
  if (node.kind === 'class') return [node.ranges];
  if ('parts' in node) return node.parts.flatMap(classes);
  return 'of' in node ? classes(node.of) : [];
}

const matches = (ranges: readonly (readonly [number, number])[], character: string): boolean =>
  ranges.some(([from, to]) => from <= character.codePointAt(0)! && character.codePointAt(0)! <= to);

const CHARACTERS = [
  ...'aAbBkK\u212asS\u017f\u00e9\u00c9\u00df\u1e9e\u0131I\u0130\u03c3\u03c2\u03a3\u00b5\u{10400}\u{10428}_ \n\r0',
];

test.each([
  'a',
  'k',
  '\u017f',
  '\u00e9',
  '[b-k]',
  '[^b-k]',
  '\\x61',
  '\\u00df',
  '[\\d\\x73]',
  '\\w',
  '\\W',
  '\u03c2',
  '\u{10400}',
  '\u0131',
  'I',
  '.',
  '[^\\W]',
])('without regard to case, %s matches what it matches in JavaScript', (source) => {
  const expected = new RegExp(`^${source}$`, source.includes('\\W') || source.includes('\\w') ? 'u' : 'iu');
  for (const pattern of [`(?i)${source}`, `(?i:${source})`]) {
    const [ranges] = classes(readPattern(pattern));
    for (const character of CHARACTERS) expect(matches(ranges!, character), character).toBe(expected.test(character));
  }
});

test('flags end with their group', () => {
  const [first, second, third] = classes(readPattern('(?is:a.)a'));
  expect([first, third].map((ranges) => matches(ranges!, 'A'))).toEqual([true, false]);
  expect(matches(second!, '\n')).toBe(true);
  expect(matches(classes(readPattern('.'))[0]!, '\n')).toBe(false);
});

test('groups may have names as in Python', () => {
  expect(readPattern('(?P<year>a)b')).toEqual(readPattern('(?<year>a)b'));
});
