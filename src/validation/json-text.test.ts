// Error positions and reasons match those of Python's json module for the same texts.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEPTH_MAX } from '#base/json-shape';
import { locateSyntaxError, parseJson, scanShape } from './json-text.ts';
import { ValidationError } from './parse.ts';

const CASES: readonly [text: string, offset: number, reason: string][] = [
  ['{', 1, 'Expecting property name enclosed in double quotes'],
  ['{"a"', 4, "Expecting ':' delimiter"],
  ['{"a": }', 6, 'Expecting value'],
  ['{"a": 1', 7, "Expecting ',' delimiter"],
  ['{"a": 1 "b": 2}', 8, "Expecting ',' delimiter"],
  ['[1, 2', 5, "Expecting ',' delimiter"],
  ['[1] x', 4, 'Extra data'],
  ['"abc', 0, 'Unterminated string starting at'],
  ['"a\\n\\u00e9\\x"', 10, 'Invalid \\escape'],
  ['"a\nb"', 2, 'Invalid control character at'],
  ['nope', 0, 'Expecting value'],
];

test.each(CASES)('%j breaks at %i: %s', (text, offset, reason) => {
  expect(locateSyntaxError(text)).toEqual({ offset, reason });
  expect(() => parseJson(text)).toThrow(ValidationError);
});

/** Large integers become bigints: see below. */
function hasLongInteger(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLongInteger);
}

test('any JSON value is parsed as JSON.parse parses it', () => {
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
        const { offset } = locateSyntaxError(text);
        expect(offset).toBeGreaterThanOrEqual(0);
        expect(offset).toBeLessThanOrEqual(text.length);
      }
    }),
    { numRuns: 500 },
  );
});

test('deep nesting breaks nothing', () => {
  expect(locateSyntaxError('['.repeat(200_000))).toEqual({ offset: 200_000, reason: 'Expecting value' });
});

test('integers that JSON.parse would round are kept exactly', () => {
  expect(
    parseJson(
      '{"seed": 9223372036854775807, "small": 12, "in text": "9223372036854775807", "float": 0.12345678901234567}',
    ),
  ).toEqual({
    seed: 9223372036854775807n,
    small: 12,
    'in text': '9223372036854775807',
    float: 0.12345678901234567,
  });
  expect(parseJson('{"a": NaN, "b": [-Infinity], "c": "NaN"}')).toEqual({ a: 'NaN', b: ['-Infinity'], c: 'NaN' });
});

test('integers stay exact next to NaN', () => {
  expect(parseJson('{"seed": 9007199254740993, "top_p": NaN}')).toEqual({ seed: 9007199254740993n, top_p: 'NaN' });
  expect(parseJson('[9007199254740993.0, 9007199254740993.5]')).toEqual([9007199254740993n, 9007199254740994]);
});

test.each([
  '{"a": 1234567890123456-789}',
  '00000000000000012345678901234567890',
  '[-01234567890123456789]',
  '[12345678901234567.]',
])('%s is no JSON', (text) => {
  expect(() => parseJson(text)).toThrow(ValidationError);
});

test('the position of an error after NaN and long integers is that in the original text', () => {
  const text = '{"a": NaN, "b": 12345678901234567890, "c": }';
  expect(() => parseJson(text)).toThrow(
    expect.objectContaining({ items: [expect.objectContaining({ loc: ['body', 43] })] }) as Error,
  );
});

test('nesting has a limit, which brackets in strings do not count towards', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}"${'['.repeat(1_000)}\\"{{"${']'.repeat(levels)}`;
  expect(() => parseJson(nested(DEPTH_MAX))).not.toThrow();
  expect(() => parseJson(nested(DEPTH_MAX + 1))).toThrow(ValidationError);
  expect(() => parseJson('{"a":'.repeat(100_000))).toThrow(ValidationError);
  expect(parseJson(`[${'[1],'.repeat(1_000)}2]`)).toHaveLength(1_001);
});

test('values are counted before they are made', () => {
  const list = (count: number) => `[${'0,'.repeat(count - 2)}"[,{"]`;
  const scan = (text: string) => [...scanShape(text, { valuesMax: 1_000, keysMax: 2 })];
  expect(() => scan(list(1_000))).not.toThrow();
  expect(() => scan(list(1_002))).toThrow(/JSON decode error/);
  expect(() => scan('[{"a":1,"b":"c:"},{"b":1}]')).not.toThrow();
  expect(() => scan('[{"a":1,"b":2},{"c":1}]')).toThrow(/JSON decode error/);
});

test('long integers are kept wherever they occur, also under a key that every object inherits', () => {
  const long = '12345678901234567890';
  const value = parseJson(`{"__proto__": ${long}, "a": [[${long}], "${long}", {"b": ${long}}], "c": null}`);
  expect(JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))).toBe(
    `{"__proto__":"${long}n","a":[["${long}n"],"${long}",{"b":"${long}n"}],"c":null}`,
  );
  expect(() => parseJson(`[${`${long},`.repeat(10_000)}0]`)).not.toThrow();
  expect(() => parseJson(`[${`${long},`.repeat(10_001)}0]`)).toThrow(/JSON decode error/);
});

test('long strings and long numbers overflow nothing', () => {
  const long = 'x'.repeat(15_000_000);
  expect(parseJson(`{"a":"${long}","seed":12345678901234567890}`)).toEqual({ a: long, seed: 12345678901234567890n });
  expect(parseJson(`["${long}",-Infinity]`)).toEqual([long, '-Infinity']);
  expect(parseJson(`[${'1'.repeat(4_300)}]`)).toEqual([BigInt('1'.repeat(4_300))]);
  expect(() => parseJson(`{"seed":${'1'.repeat(15_000_000)}}`)).toThrow(ValidationError);
});
