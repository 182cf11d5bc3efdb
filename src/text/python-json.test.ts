import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseSentJson, stringifySentJson } from '#base/sent-json';
import { compileJinja, runJinja } from './jinja/jinja.ts';
import { parsePythonJson, PythonFloat, pythonFloatText, pythonJson } from './python-json.ts';

const PLAIN = { indent: null, separators: null, ensureAscii: false };

/** Dicts are Maps when they are written. */
const dict = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(dict)
    : typeof value === 'object' && value !== null && !(value instanceof PythonFloat)
      ? new Map(Object.entries(value).map(([key, item]) => [key, dict(item)]))
      : value;

/** What was read, with objects in place of Maps. */
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain);
  return value instanceof Map
    ? Object.fromEntries([...(value as Map<string, unknown>)].map(([key, item]) => [key, plain(item)]))
    : value;
};

test.each([
  [2, '2.0'],
  [-0, '-0.0'],
  [0, '0.0'],
  [0.1, '0.1'],
  [1e-4, '0.0001'],
  [1e-5, '1e-05'],
  [1.5e-7, '1.5e-07'],
  [-2.5e-10, '-2.5e-10'],
  [1e15, '1000000000000000.0'],
  [1e16, '1e+16'],
  [1.25e22, '1.25e+22'],
  [1e-300, '1e-300'],
  [123456.789, '123456.789'],
  [-0.00123, '-0.00123'],
  [1 / 3, '0.3333333333333333'],
  [1e21, '1e+21'],
  [NaN, 'NaN'],
  [-Infinity, '-Infinity'],
])('the float %d is written %s', (value, text) => {
  expect(pythonFloatText(value)).toBe(text);
});

test('every float reads back equal', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(Object.is(Number(pythonFloatText(value)), value)).toBe(true);
      expect(pythonFloatText(value)).toMatch(/[.e]/);
    }),
  );
});

describe('reading', () => {
  test('knows the numbers that JSON lacks, in their places alone', () => {
    expect(plain(parsePythonJson('{"NaN": [NaN, "NaN", -Infinity, "\\"Infinity"], "b": Infinity}'))).toEqual({
      NaN: [new PythonFloat(NaN), 'NaN', new PythonFloat(-Infinity), '"Infinity'],
      b: new PythonFloat(Infinity),
    });
    for (const text of ['-NaN', '1NaN', '{NaN: 1}', 'nan', '[Infinity Infinity]', 'NaNInfinity'])
      expect(() => parsePythonJson(text)).toThrow(SyntaxError);
  });

  test('keeps values that JavaScript would lose', () => {
    expect(plain(parsePythonJson('{"a": 2.0, "b": 12345678901234567890, "c": -3, "d": 1e2, "e": -0}'))).toEqual({
      a: new PythonFloat(2),
      b: 12345678901234567890n,
      c: -3,
      d: new PythonFloat(100),
      e: 0,
    });
  });

  test('takes no string for a number, whatever it says', () => {
    const value = { n1: 'n1.0', s: 's', '"': '\\"1.0', list: ['1.0', true, null, '{"x": 2.0}'] };
    expect(plain(parsePythonJson(JSON.stringify(value)))).toEqual(value);
  });

  test('any JSON without fractions is read as JSON.parse reads it', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        fc.string({ unit: 'binary' }),
        fc.maxSafeInteger(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('any')),
        tie('object'),
      ),
      object: fc.dictionary(fc.string({ unit: 'binary' }), tie('any')),
    })).any;
    fc.assert(
      fc.property(value, (original) => {
        const json = JSON.stringify(original);
        expect(plain(parsePythonJson(json))).toEqual(JSON.parse(json));
      }),
    );
  });

  test('keys keep their order, numbers among them', () => {
    expect([...(parsePythonJson('{"b": 1, "10": 2, "2": 3}') as Map<string, number>).keys()]).toEqual(['b', '10', '2']);
  });

  test('text that is not JSON is refused', () => {
    for (const text of ['{"a": }', '', '{a: 1}', '01', '1 2', '"a'])
      expect(() => parsePythonJson(text)).toThrow(SyntaxError);
  });
});

describe('writing', () => {
  const value = dict({ b: [1, 2.5, new PythonFloat(3)], a: { é: '"\n\u007f' }, none: null, empty: [{}, []] });

  test('is json.dumps', () => {
    expect(pythonJson(value, PLAIN)).toBe(
      '{"b": [1, 2.5, 3.0], "a": {"é": "\\"\\n\u007f"}, "none": null, "empty": [{}, []]}',
    );
  });

  test('with indent and ASCII', () => {
    expect(pythonJson(value, { ...PLAIN, indent: 2, ensureAscii: true })).toBe(
      '{\n  "b": [\n    1,\n    2.5,\n    3.0\n  ],\n  "a": {\n    "\\u00e9": "\\"\\n\\u007f"\n  },\n  "none": null,\n  "empty": [\n    {},\n    []\n  ]\n}',
    );
  });

  test('with separators', () => {
    expect(pythonJson(dict([1, { a: true }]), { ...PLAIN, separators: [',', ':'] })).toBe('[1,{"a":true}]');
  });
});

/** JSON texts in which numbers, keys and duplicates have every form. */
const jsonTexts = fc.letrec<{ any: string; list: string; object: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.stringMatching(/^-?(0|[1-9]\d{0,18})(\.(\d{1,3}|0{1,20}))?([eE][+-]?\d{1,3})?$/),
    fc.constantFrom('NaN', 'Infinity', '-Infinity', 'null', 'true', '"1.0"', '"\\"2\\": 1e5"', '"é\\u0031"'),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('any'), { maxLength: 4 }).map((items) => `[${items.join(', ')}]`),
  object: fc
    .array(
      fc.tuple(fc.constantFrom('"2"', '"1"', '"\\u0032"', '"10"', '"a"', '"b"', '"01"', '"__proto__"'), tie('any')),
    )
    .map((entries) => `{${entries.map((entry) => entry.join(' : ')).join(',')}}`),
})).any;

test('values of requests are written as arguments are, which are read as Python reads them', () => {
  const program = compileJinja('{{ value | tojson }}');
  const limits = { stepsMax: 1e6, sizeMax: 1e7, depthMax: 100 };
  const written = (value: unknown) => runJinja(program, { value }, {}, { limits, marks: null });
  fc.assert(
    fc.property(jsonTexts, (text) => {
      const inList = `[${text}]`;
      const sent = parseSentJson(inList);
      const wanted = written(parsePythonJson(inList));
      expect(written(sent)).toBe(wanted);
      expect(written(parseSentJson(stringifySentJson(sent)))).toBe(wanted);
      expect(written(parsePythonJson(stringifySentJson(sent)))).toBe(wanted);
    }),
    { numRuns: 500 },
  );
});
