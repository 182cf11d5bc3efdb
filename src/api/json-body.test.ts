// Positions and reasons are those of Python's json module for the same texts.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEPTH_MAX, findSyntaxError, parseJson } from './json-body.ts';
import { ValidationError } from './schema/validation.ts';

const CASES: readonly [text: string, offset: number, reason: string][] = [
  ['{', 1, 'Expecting property name enclosed in double quotes'],
  ['{"a"', 4, "Expecting ':' delimiter"],
  ['{"a": }', 6, 'Expecting value'],
  ['{"a": 1', 7, "Expecting ',' delimiter"],
  ['{"a": 1 "b": 2}', 8, "Expecting ',' delimiter"],
  ['[1, 2', 5, "Expecting ',' delimiter"],
  ['[1] x', 4, 'Extra data'],
  ['"abc', 0, 'Unterminated string starting at'],
  ['"a\nb"', 2, 'Invalid control character at'],
  ['nope', 0, 'Expecting value'],
];

test.each(CASES)('%j breaks at %i: %s', (text, offset, reason) => {
  expect(findSyntaxError(text)).toEqual({ offset, reason });
  expect(() => parseJson(text)).toThrow(ValidationError);
});

/** Those are kept as text: see below. */
function hasLongInteger(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLongInteger);
}

test('any JSON value comes through as JSON.parse has it', () => {
  const values = fc.jsonValue({ maxDepth: 4 }).filter((value) => !hasLongInteger(value));
  fc.assert(
    fc.property(values, (value) => {
      const text = JSON.stringify(value);
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

test('any text that JSON.parse refuses is refused with a position inside it', () => {
  const broken = fc.tuple(fc.json(), fc.nat(), fc.constantFrom('{', '}', '"', ',', ':', '\\', 'x', ''));
  fc.assert(
    fc.property(broken, ([json, at, inserted]) => {
      const cut = at % (json.length + 1);
      const text = json.slice(0, cut) + inserted + json.slice(cut + 1);
      try {
        JSON.parse(text);
      } catch {
        const { offset } = findSyntaxError(text);
        expect(offset).toBeGreaterThanOrEqual(0);
        expect(offset).toBeLessThanOrEqual(text.length);
      }
    }),
    { numRuns: 500 },
  );
});

test('deep nesting breaks nothing', () => {
  expect(findSyntaxError('['.repeat(200_000))).toEqual({ offset: 200_000, reason: 'Expecting value' });
});

test('what JSON.parse would lose is kept as text', () => {
  expect(
    parseJson(
      '{"seed": 9223372036854775807, "small": 12, "in text": "9223372036854775807", "float": 0.12345678901234567}',
    ),
  ).toEqual({
    seed: '9223372036854775807',
    small: 12,
    'in text': '9223372036854775807',
    float: 0.12345678901234567,
  });
  expect(parseJson('{"a": NaN, "b": [-Infinity], "c": "NaN"}')).toEqual({ a: 'NaN', b: ['-Infinity'], c: 'NaN' });
});

test('nesting has a limit, which brackets in strings do not count towards', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}"${'['.repeat(1_000)}\\"{{"${']'.repeat(levels)}`;
  expect(() => parseJson(nested(DEPTH_MAX))).not.toThrow();
  expect(() => parseJson(nested(DEPTH_MAX + 1))).toThrow(ValidationError);
  expect(() => parseJson('{"a":'.repeat(100_000))).toThrow(ValidationError);
  expect(parseJson(`[${'[1],'.repeat(1_000)}2]`)).toHaveLength(1_001);
});
